import { en } from '../i18n/en';
import { ResizeHandle } from '../kit/ResizeHandle';
import { useApp } from '../store/context';

/** Resizes the review pane. */
export function ReviewHandle() {
  const app = useApp();
  return (
    <ResizeHandle
      class="review-handle"
      label={en.review.resize}
      pane=".frame-review"
      edge="left"
      width={app.settings.review.width}
      least={320}
      most={1100}
      step={24}
      onResize={(width) => app.setReview({ width })}
    />
  );
}
