/** Keeps the focus when a list is loaded again and its elements are replaced. */
import { createComputed, createEffect, on, type Accessor } from 'solid-js';

/** No element has the focus. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/**
 * `before` runs while the old elements exist and returns what had the focus. If that element is gone
 * after the change, `after` is called with it.
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
