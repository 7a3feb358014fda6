import { createSignal, onCleanup, type Accessor } from 'solid-js';

/** Whether the window is too narrow for a sidebar beside the timeline. Matches frame.css. */
export function createNarrow(): Accessor<boolean> {
  const query = globalThis.matchMedia?.('(max-width: 719px)');
  const [narrow, setNarrow] = createSignal(query?.matches ?? false);
  const onChange = () => setNarrow(query.matches);
  query?.addEventListener('change', onChange);
  onCleanup(() => query?.removeEventListener('change', onChange));
  return narrow;
}
