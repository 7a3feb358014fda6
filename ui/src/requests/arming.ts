/**
 * A prompt that takes the place of another one must not take the answer that was meant for that
 * one: for a moment it is only to be read.
 *
 * A prompt that comes alone answers at once. Nothing could have been aimed at one before it.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';

/** Longer than a second click, shorter than reading. */
const UNREAD_MS = 400;
/** So long after a prompt went, another one in its place counts as following it. */
const FOLLOWS_MS = 1000;

export interface Arming {
  /** For a prompt that appears now, in whose owner this is called: whether it takes answers. */
  begin(): Accessor<boolean>;
}

export function createArming(now: () => number = () => performance.now()): Arming {
  let gone = -Infinity;
  return {
    begin() {
      const follows = now() - gone < FOLLOWS_MS;
      const [armed, setArmed] = createSignal(!follows);
      const timer = follows ? setTimeout(() => setArmed(true), UNREAD_MS) : undefined;
      onCleanup(() => {
        clearTimeout(timer);
        gone = now();
      });
      return armed;
    },
  };
}

/** The second click of two belongs to what was there at the first. */
export function isRepeated(event: MouseEvent): boolean {
  return event.detail > 1;
}
