/** Places the review beside the timeline, or over it in a narrow window. */
import { createEffect, createMemo, on, Show } from 'solid-js';
import { createNarrow } from '../kit/narrow';
import { useApp } from '../store/context';
import { ReviewPane } from './ReviewPane';
import { changesIn } from '../store/review';

/** Below this, sidebar, timeline and review do not fit beside each other. Matches review.css. */
const ROOM = '(max-width: 999px)';

export function ReviewDock() {
  const app = useApp();
  const tight = createNarrow(ROOM);
  const { review } = app;

  // Closes when the window becomes too narrow; it can be opened again.
  createEffect(on(tight, (now, before) => now && before === false && review.close()));

  // Opens with the first change of the open session while the agent works.
  const changes = createMemo(() => {
    const open = app.timeline.open();
    return open && open.sessionID === app.selected() ? { id: open.sessionID, count: changesIn(open) } : undefined;
  });
  createEffect(
    on(changes, (now, before) => {
      const first = now && before && now.id === before.id && before.count === 0 && now.count > 0;
      if (first && app.settings.review.opens && !tight()) review.open();
    }),
  );

  return (
    <Show when={review.shown() && app.selected() !== undefined}>
      <div
        class="frame-review"
        data-over={tight() ? '' : undefined}
        ref={(pane) => createEffect(() => (pane.style.width = `${app.settings.review.width}px`))}
      >
        <ReviewPane />
      </div>
    </Show>
  );
}
