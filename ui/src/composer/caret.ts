/**
 * Lets the caret rest after a script has changed the field.
 *
 * WebKit looks at such a caret with every frame, for as long as the field keeps the focus: a
 * window that nobody uses would never be idle. Focused anew, or typed in, the field is left alone.
 */
import { onCleanup } from 'solid-js';

export interface CaretRest {
  /** A script changed the field. */
  moved(): void;
  /** A person did, and may be in the middle of it. */
  typed(): void;
}

const A_WHILE = 1500;

/** `isFree`: nothing that hangs on the focus is open. */
export function createCaretRest(field: () => HTMLElement, isFree: () => boolean): CaretRest {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const typed = () => clearTimeout(timer);
  onCleanup(typed);
  return {
    typed,
    moved() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!isFree() || document.activeElement !== field()) return;
        field().blur();
        field().focus({ preventScroll: true });
      }, A_WHILE);
    },
  };
}
