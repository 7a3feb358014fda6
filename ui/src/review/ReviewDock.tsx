/** Places the review beside the timeline, or over it in a narrow window. */
import { createEffect, createMemo, on, Show } from 'solid-js';
import { moveFocus } from '../kit/focus';
import { useApp } from '../store/context';
import { ReviewPane } from './ReviewPane';
import { createSide, createTight } from './room';
import { changesIn } from '../store/review';

export function ReviewDock() {
  const app = useApp();
  const [tight, side] = [createTight(app), createSide(app)];
  const { review } = app;

  // What lies under it is inert and cannot keep the focus.
  createEffect(on([tight, review.shown], ([over, shown]) => over && shown && queueMicrotask(() => moveFocus('review'))));

  // Closes when the window becomes too narrow; it can be opened again.
  createEffect(on(tight, (now, before) => now && before === false && review.close(false)));

  // Opens with the first change of the open session while the agent works.
  const changes = createMemo(() => {
    const open = app.timeline.open();
    if (!open || open.sessionID !== app.selected()) return undefined;
    // Changes of a page that was loaded are not news.
    return { page: `${open.sessionID} ${open.messages[0]?.info.id} ${open.hasNewer}`, count: changesIn(open) };
  });
  createEffect(
    on(changes, (now, before) => {
      const first = now && before && now.page === before.page && before.count === 0 && now.count > 0;
      if (first && app.settings.review.opens && !review.dismissed() && !tight()) review.open();
    }),
  );

  return (
    <Show when={review.shown() && app.selected() !== undefined}>
      <div
        class="frame-review"
        data-over={tight() ? '' : undefined}
        ref={(pane) =>
          createEffect(() => {
            pane.style.width = `${app.settings.review.width}px`;
            // It covers the timeline; the sessions stay in reach.
            pane.style.left = tight() ? `${side()}px` : '';
          })
        }
      >
        <ReviewPane />
      </div>
    </Show>
  );
}
