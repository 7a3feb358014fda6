import { createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';

const LEAST = 190;
const MOST = 440;
const STEP = 16;

const clamp = (width: number) => Math.round(Math.min(MOST, Math.max(LEAST, width)));

/** The edge of the sidebar: drag it, or focus it and use the arrow keys. */
export function ResizeHandle() {
  const app = useApp();
  const [dragging, setDragging] = createSignal(false);
  const width = () => app.settings().sidebarWidth;

  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const side = event.currentTarget.closest<HTMLElement>('.frame-side');
    if (!side) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    const from = event.clientX - side.offsetWidth;
    const handle = event.currentTarget;
    const onMove = (move: PointerEvent) => (side.style.width = `${clamp(move.clientX - from)}px`);
    const onUp = () => {
      handle.removeEventListener('pointermove', onMove);
      setDragging(false);
      // Settings are written once, when the hand lets go.
      app.setSidebar({ sidebarWidth: clamp(side.offsetWidth) });
    };
    setDragging(true);
    handle.addEventListener('pointermove', onMove);
    handle.addEventListener('lostpointercapture', onUp, { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? STEP : event.key === 'ArrowLeft' ? -STEP : 0;
    if (step === 0) return;
    event.preventDefault();
    app.setSidebar({ sidebarWidth: clamp(width() + step) });
  };

  return (
    <div
      class="resize-handle"
      data-dragging={dragging() ? '' : undefined}
      role="separator"
      aria-orientation="vertical"
      aria-label={en.sidebar.resize}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={width()}
      tabindex="0"
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
