/** The picture itself: the wheel zooms where the pointer is, dragging moves it. */
import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { en } from '../i18n/en';
import { FITTED, moved, scaleOf, wheelSteps, zoomed, type Size } from './zoom';

export interface PictureHandle {
  zoom(steps: number): void;
  fit(): void;
  actual(): void;
  move(x: number, y: number): void;
}

const NOTHING: Size = { width: 0, height: 0 };

export function Picture(props: { src: string; name: string; ref: (handle: PictureHandle) => void }) {
  const [view, setView] = createSignal(FITTED);
  const [natural, setNatural] = createSignal(NOTHING);
  const [frame, setFrame] = createSignal(NOTHING);
  const [broken, setBroken] = createSignal(false);
  const [dragging, setDragging] = createSignal(false);
  let box!: HTMLDivElement;

  const scale = () => scaleOf(view(), natural(), frame());
  const larger = () => natural().width * scale() > frame().width || natural().height * scale() > frame().height;
  const zoom = (steps: number, at?: { x: number; y: number }) =>
    setView((now) => zoomed(now, steps, natural(), frame(), at));
  const move = (x: number, y: number) => setView((now) => moved(now, x, y, natural(), frame()));
  const actual = () => setView({ zoom: 1, x: 0, y: 0 });
  const fit = () => setView(FITTED);
  props.ref({ zoom: (steps) => zoom(steps), fit, actual, move });

  const fromMiddle = (event: MouseEvent) => {
    const { left, top, width, height } = box.getBoundingClientRect();
    return { x: event.clientX - left - width / 2, y: event.clientY - top - height / 2 };
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const steps = wheelSteps(event);
    if (steps !== 0) zoom(steps, fromMiddle(event));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    box.setPointerCapture?.(event.pointerId);
    setDragging(true);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (dragging()) move(event.movementX, event.movementY);
  };

  onMount(() => {
    const observer = new ResizeObserver(() => setFrame({ width: box.clientWidth, height: box.clientHeight }));
    observer.observe(box);
    // Not passive: the page behind must not scroll or zoom.
    box.addEventListener('wheel', onWheel, { passive: false });
    onCleanup(() => observer.disconnect());
  });

  return (
    <div
      class="lightbox-frame"
      ref={box}
      data-larger={larger() ? '' : undefined}
      data-dragging={dragging() ? '' : undefined}
      data-zoom={view().zoom === undefined ? 'fit' : scale().toFixed(2)}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => setDragging(false)}
      onPointerCancel={() => setDragging(false)}
      onDblClick={() => (view().zoom === undefined ? actual() : fit())}
    >
      <Show when={!broken()} fallback={<p class="lightbox-note">{en.lightbox.broken}</p>}>
        <img
          class="lightbox-picture"
          src={props.src}
          alt={props.name}
          draggable={false}
          decoding="async"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setNatural({ width: naturalWidth, height: naturalHeight })
          }
          onError={() => setBroken(true)}
          style={{
            width: `${natural().width}px`,
            height: `${natural().height}px`,
            transform: `translate(-50%, -50%) translate(${view().x}px, ${view().y}px) scale(${scale()})`,
          }}
        />
      </Show>
    </div>
  );
}
