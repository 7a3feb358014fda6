/**
 * A request that replaces another one must not take the answer that was meant for the first: for a
 * moment it accepts none.
 *
 * A request that does not follow another one accepts answers at once.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';

/** Longer than the pause in a double click, shorter than reading takes. */
const UNREAD_MS = 400;
/** A request within this time after another one counts as following it. */
const FOLLOWS_MS = 1000;

export interface Arming {
  /** Called by the component of a new request. Whether it accepts answers. */
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

/** The second click of a double click was meant for what was there at the first. */
export function isRepeated(event: MouseEvent): boolean {
  return event.detail > 1;
}
