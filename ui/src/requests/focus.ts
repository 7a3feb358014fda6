/** Where the keyboard goes when a prompt that had it is answered: back to where one types. */
import { onCleanup } from 'solid-js';

export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer-input')?.focus();
}

export interface Leaving {
  /** Called before the prompt's own controls are switched off, which may take the focus from them. */
  answering(): void;
}

/** In the owner of a prompt. */
export function leaveToComposer(section: () => HTMLElement): Leaving {
  let inside = false;
  const holds = () => section().contains(document.activeElement);
  onCleanup(() => {
    const nowhere = document.activeElement === null || document.activeElement === document.body;
    if (holds() || (inside && nowhere)) focusComposer();
  });
  return { answering: () => void (inside = holds()) };
}
