/** Where the review lies: beside the timeline, or over it where there is no room for both. */
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

  // A window that became too narrow for it closes it; one opens it again on purpose.
  createEffect(on(tight, (now, before) => now && before === false && review.close()));

  // The first change of the open session brings it up, once, while the agent is at work.
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
