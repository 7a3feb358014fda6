/** The focus outlives what it was on: lists that are loaded anew make their elements anew, too. */
import { createComputed, createEffect, on, type Accessor } from 'solid-js';

/** Nobody has it. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/**
 * `before` runs while the old elements are still there and says what had the focus; if that was
 * something and it has gone with them, `after` gets it.
 */
export function keepFocus<T>(change: Accessor<unknown>, before: () => T | undefined, after: (had: T) => void): void {
  let had: T | undefined;
  createComputed(
    on(change, () => {
      had = before();
    }),
  );
  createEffect(
    on(
      change,
      () => {
        if (had !== undefined && isFocusLost()) after(had);
      },
      { defer: true },
    ),
  );
}
