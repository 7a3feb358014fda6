import { createSignal, onCleanup, type Accessor } from 'solid-js';

/** Too narrow for a sidebar beside the timeline. Matches frame.css. */
const NO_SIDEBAR = '(max-width: 719px)';

/** Whether the window is too narrow for something beside the timeline. */
export function createNarrow(media = NO_SIDEBAR): Accessor<boolean> {
  const query = globalThis.matchMedia?.(media);
  const [narrow, setNarrow] = createSignal(query?.matches ?? false);
  const onChange = () => setNarrow(query.matches);
  query?.addEventListener('change', onChange);
  onCleanup(() => query?.removeEventListener('change', onChange));
  return narrow;
}
