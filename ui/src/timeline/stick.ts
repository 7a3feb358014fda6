/**
 * Staying at the end, but only with a reader who is there.
 *
 * Growth never moves the view of somebody who scrolled up; only a move of their own, down to
 * the end, takes them along again.
 */
import { createSignal, type Accessor } from 'solid-js';

export interface Stick {
  readonly atEnd: Accessor<boolean>;
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
}

/** Coming this near by scrolling down counts as being there. */
const NEAR = 24;
/** Less than this is rounding, not a wish to leave. */
const SLACK = 1;

/** `goesOn`: the end of what is drawn is not the end of the session. */
export function createStick(scroller: () => HTMLElement, goesOn: () => boolean = () => false): Stick {
  const [atEnd, setAtEnd] = createSignal(true);
  let last = 0;

  const distance = () => {
    const { scrollHeight, scrollTop, clientHeight } = scroller();
    return scrollHeight - scrollTop - clientHeight;
  };
  const pin = () => {
    const element = scroller();
    element.scrollTop = element.scrollHeight;
    last = element.scrollTop;
  };

  return {
    atEnd,
    turned(deltaY) {
      if (deltaY < 0 && scroller().scrollTop > 0) setAtEnd(false);
    },
    moved() {
      const top = scroller().scrollTop;
      const up = top < last - 0.5;
      last = top;
      if (up) setAtEnd((was) => was && distance() <= SLACK);
      else if (distance() <= NEAR && !goesOn()) setAtEnd(true);
    },
    grown() {
      if (atEnd()) pin();
    },
    toEnd() {
      setAtEnd(true);
      pin();
    },
    follow() {
      // Rows whose height is not known yet are guessed at: whoever is there waits until it is,
      // or the list would draw the place that was guessed, and then the right one.
      if (atEnd()) return;
      setAtEnd(true);
      pin();
    },
    leave: () => setAtEnd(false),
  };
}
