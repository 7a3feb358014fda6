import { createEffect, createMemo, createSignal, onCleanup, untrack, type Accessor } from 'solid-js';

/** Too narrow for a sidebar beside the timeline. Matches frame.css. */
const NO_SIDEBAR = '(max-width: 719px)';

/** Whether the window is too narrow for something beside the timeline. */
export function createNarrow(media: Accessor<string> = () => NO_SIDEBAR): Accessor<boolean> {
  const matches = (words: string) => globalThis.matchMedia?.(words).matches ?? false;
  const [narrow, setNarrow] = createSignal(matches(untrack(media)));
  const wanted = createMemo(media);
  createEffect(() => {
    const query = globalThis.matchMedia?.(wanted());
    if (!query) return;
    const onChange = () => setNarrow(query.matches);
    onChange();
    query.addEventListener('change', onChange);
    onCleanup(() => query.removeEventListener('change', onChange));
  });
  return narrow;
}
