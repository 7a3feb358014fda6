/**
 * Follows the end of the timeline while the reader is there.
 *
 * After the reader has scrolled up, new content does not move the view until they scroll back to the
 * end.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';

interface Stick {
  readonly atEnd: Accessor<boolean>;
  /** Far enough from the end to show a button back. */
  readonly isAway: Accessor<boolean>;
  /** The wheel was turned. Upwards, this stops following at once, before new content can undo it. */
  turned(deltaY: number): void;
  /** The scrollbar is held, or no longer. */
  grab(on: boolean): void;
  /** The scroll position changed. */
  moved(): void;
  /** The content or the viewport changed its size. */
  grown(): void;
  toEnd(): void;
  /** Goes to the end together with content that was just added. */
  follow(): void;
  /** Stops following, because the view was moved elsewhere. */
  leave(): void;
  /** The reader opened or closed something: it must stay under the pointer for a moment. */
  hold(): void;
}

/** Scrolling down to within this distance counts as the end. */
const NEAR = 24;
/** Smaller movements are rounding errors. */
const SLACK = 1;
/** Enough for an opened card to load its content. */
const HELD = 600;

/** `goesOn`: newer messages are not loaded, so the end is not the end of the session. */
export function createStick(scroller: () => HTMLElement, goesOn: () => boolean = () => false): Stick {
  const [atEnd, setAtEnd] = createSignal(true);
  const [isFar, setFar] = createSignal(false);
  let last = 0;
  let size = '';
  let grabbed = false;
  let held: ReturnType<typeof setTimeout> | undefined;

  const distance = () => {
    const { scrollHeight, scrollTop, clientHeight } = scroller();
    return scrollHeight - scrollTop - clientHeight;
  };
  const isNear = () => distance() <= NEAR && !goesOn();
  const pin = () => {
    const element = scroller();
    element.scrollTop = element.scrollHeight;
    last = element.scrollTop;
    size = measure();
  };
  /** The list or the viewport has another size than before: the browser may have moved the view by itself. */
  const measure = () => `${scroller().scrollHeight} ${scroller().clientHeight}`;
  const resized = () => {
    const now = measure();
    const changed = now !== size;
    size = now;
    return changed;
  };
  const release = () => {
    clearTimeout(held);
    held = undefined;
  };
  onCleanup(release);
  const stay = (there: boolean) => {
    setAtEnd(there);
    // At the end it is never far; measuring would force a layout.
    setFar(!there && !isNear());
  };

  return {
    atEnd,
    isAway: () => !atEnd() && isFar(),
    turned(deltaY) {
      if (deltaY < 0 && scroller().scrollTop > 0) stay(false);
    },
    grab: (on) => void (grabbed = on),
    moved() {
      const top = scroller().scrollTop;
      const up = top < last - 0.5;
      last = top;
      // Only the reader leaves the end, never a change of size. A change of size moves the view by
      // less than a page key does.
      const small = distance() <= scroller().clientHeight / 2;
      if (resized() && up && small && atEnd() && !grabbed) pin();
      else if (up) stay(atEnd() && distance() <= SLACK);
      else stay(atEnd() || (held === undefined && isNear()));
    },
    grown() {
      if (atEnd()) pin();
      else setFar(!isNear());
    },
    toEnd() {
      release();
      stay(true);
      pin();
    },
    follow() {
      // The height of a new row is an estimate until it is measured. Scrolling waits for that, or the
      // list would draw the estimated position first and then the right one.
      if (atEnd()) return;
      release();
      stay(true);
      pin();
    },
    leave() {
      release();
      stay(false);
    },
    hold() {
      if (!atEnd()) return;
      stay(false);
      held = setTimeout(() => {
        held = undefined;
        stay(isNear());
      }, HELD);
    },
  };
}
