/** When a request that has the focus is answered, the focus goes to the field for the prompt. */
import { onCleanup } from 'solid-js';
import { moveFocus } from '../kit/focus';

interface Leaving {
  /** Called before the request's own controls are disabled, which may take the focus from them. */
  answering(): void;
}

/** In the component that draws the request. */
export function leaveToComposer(section: () => HTMLElement): Leaving {
  let inside = false;
  const holds = () => section().contains(document.activeElement);
  onCleanup(() => {
    const nowhere = document.activeElement === null || document.activeElement === document.body;
    if (holds() || (inside && nowhere)) moveFocus('composer');
  });
  return { answering: () => void (inside = holds()) };
}
