import { createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';

const LEAST = 320;
const MOST = 1100;
const STEP = 24;

const clamp = (width: number) => Math.round(Math.min(MOST, Math.max(LEAST, width)));

/** The edge of the review: drag it, or focus it and use the arrow keys. */
export function ReviewHandle() {
  const app = useApp();
  const [dragging, setDragging] = createSignal(false);
  const width = () => app.settings().review.width;

  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const pane = event.currentTarget.closest<HTMLElement>('.frame-review');
    if (!pane) return;
    event.preventDefault();
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const from = event.clientX + pane.offsetWidth;
    const onMove = (move: PointerEvent) => (pane.style.width = `${clamp(from - move.clientX)}px`);
    const onUp = () => {
      handle.removeEventListener('pointermove', onMove);
      setDragging(false);
      app.setReview({ width: clamp(pane.offsetWidth) });
    };
    setDragging(true);
    handle.addEventListener('pointermove', onMove);
    handle.addEventListener('lostpointercapture', onUp, { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowLeft' ? STEP : event.key === 'ArrowRight' ? -STEP : 0;
    if (step === 0) return;
    event.preventDefault();
    app.setReview({ width: clamp(width() + step) });
  };

  return (
    <div
      class="resize-handle review-handle"
      data-dragging={dragging() ? '' : undefined}
      role="separator"
      aria-orientation="vertical"
      aria-label={en.review.resize}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={width()}
      tabindex="0"
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
