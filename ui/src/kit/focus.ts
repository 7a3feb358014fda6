/**
 * Where the keyboard focus can be sent from elsewhere in the window.
 *
 * A component registers what it has under a name while it is in the document. Whatever moves the
 * focus there needs no knowledge of its elements.
 */
import { onCleanup, onMount } from 'solid-js';

export type FocusName = 'composer' | 'agentPicker' | 'centre' | 'timeline' | 'review' | 'sidebar' | 'sessionFilter';

interface FocusHandle {
  /** What it is part of. The focus is here if it is on something inside. */
  readonly element: HTMLElement;
  /** What takes the focus now; undefined if there is nothing that can. */
  target(): HTMLElement | undefined;
}

const handles = new Map<FocusName, FocusHandle>();

/** In a component. `handle` is called once its elements are there. */
export function registerFocus(name: FocusName, handle: () => FocusHandle): void {
  let own: FocusHandle | undefined;
  onMount(() => {
    own = handle();
    handles.set(name, own);
  });
  onCleanup(() => {
    // Another one may have taken the name in the meantime.
    if (handles.get(name) === own) handles.delete(name);
  });
}

/** As a `ref`, for an element that takes the focus itself. */
export function focusable(name: FocusName): (element: HTMLElement) => void {
  return (element) => registerFocus(name, () => ({ element, target: () => element }));
}

export function focusHandle(name: FocusName): FocusHandle | undefined {
  return handles.get(name);
}

export function moveFocus(name: FocusName): void {
  focusHandle(name)?.target()?.focus();
}

/** The first button inside that can be pressed. */
export function firstButton(element: HTMLElement): HTMLElement | undefined {
  return element.querySelector<HTMLElement>('button:enabled') ?? undefined;
}
