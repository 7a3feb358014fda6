/**
 * Staying at the end, but only with a reader who is there.
 *
 * Growth never moves the view of somebody who scrolled up; only a move of their own, down to
 * the end, takes them along again.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';

interface Stick {
  readonly atEnd: Accessor<boolean>;
  /** So far from the end that a way back is wanted. */
  readonly isAway: Accessor<boolean>;
  /** The wheel turned: a wish to leave counts before the first pixel, or growth would undo it. */
  turned(deltaY: number): void;
  /** The scroll position changed. */
  moved(): void;
  /** The content or the viewport changed its size. */
  grown(): void;
  toEnd(): void;
  /** There, or on the way there with what has just been put at the end. */
  follow(): void;
  /** The reader was taken elsewhere. */
  leave(): void;
  /** The reader opened or closed something: it stays under the pointer, whatever grows. */
  hold(): void;
}

/** Coming this near by scrolling down counts as being there. */
const NEAR = 24;
/** Less than this is rounding, not a wish to leave. */
const SLACK = 1;
/** By then an opened card has what it shows. */
const HELD = 600;

/** `goesOn`: the end of what is drawn is not the end of the session. */
export function createStick(scroller: () => HTMLElement, goesOn: () => boolean = () => false): Stick {
  const [atEnd, setAtEnd] = createSignal(true);
  const [isFar, setFar] = createSignal(false);
  let last = 0;
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
  };
  const release = () => {
    clearTimeout(held);
    held = undefined;
  };
  onCleanup(release);
  const stay = (there: boolean) => {
    setAtEnd(there);
    // Whoever is there is never far; where the end is must be looked up, which costs a layout.
    setFar(!there && !isNear());
  };

  return {
    atEnd,
    isAway: () => !atEnd() && isFar(),
    turned(deltaY) {
      if (deltaY < 0 && scroller().scrollTop > 0) stay(false);
    },
    moved() {
      const top = scroller().scrollTop;
      const up = top < last - 0.5;
      last = top;
      if (up) stay(atEnd() && distance() <= SLACK);
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
      // Rows whose height is not known yet are guessed at: whoever is there waits until it is,
      // or the list would draw the place that was guessed, and then the right one.
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
