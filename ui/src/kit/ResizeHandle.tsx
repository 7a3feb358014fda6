import { createSignal } from 'solid-js';

interface ResizeHandleProps {
  readonly label: string;
  /** The selector of the pane around the handle. */
  readonly pane: string;
  /** Which edge of the pane it is, where one writes from left to right. */
  readonly edge: 'left' | 'right';
  readonly width: number;
  readonly least: number;
  readonly most: number;
  /** How far an arrow key moves it. */
  readonly step: number;
  readonly class?: string;
  readonly onResize: (width: number) => void;
}

/** The edge of a pane: drag it, or focus it and use the arrow keys. */
export function ResizeHandle(props: ResizeHandleProps) {
  const [dragging, setDragging] = createSignal(false);
  const clamp = (width: number) => Math.round(Math.min(props.most, Math.max(props.least, width)));
  /** The direction in which the pane grows. */
  const way = () => ((props.edge === 'right') === (document.dir !== 'rtl') ? 1 : -1);

  const onPointerDown = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const handle = event.currentTarget;
    const pane = handle.closest<HTMLElement>(props.pane);
    if (!pane) return;
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const from = event.clientX - way() * pane.offsetWidth;
    const onMove = (move: PointerEvent) => (pane.style.width = `${clamp(way() * (move.clientX - from))}px`);
    const onUp = () => {
      handle.removeEventListener('pointermove', onMove);
      setDragging(false);
      // Reported once, at the end of the drag.
      props.onResize(clamp(pane.offsetWidth));
    };
    setDragging(true);
    handle.addEventListener('pointermove', onMove);
    handle.addEventListener('lostpointercapture', onUp, { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (side === undefined) return;
    event.preventDefault();
    props.onResize(clamp(props.width + side * way() * props.step));
  };

  return (
    <div
      class={`resize-handle ${props.class ?? ''}`}
      data-dragging={dragging() ? '' : undefined}
      role="separator"
      aria-orientation="vertical"
      aria-label={props.label}
      aria-valuemin={props.least}
      aria-valuemax={props.most}
      aria-valuenow={props.width}
      tabindex="0"
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
    />
  );
}
