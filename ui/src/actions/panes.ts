/**
 * From pane to pane with one key. The way out of the field for the prompt, where Tab has another use
 * and Esc stops the turn.
 */
import { focusHandle, type FocusName } from '../kit/focus';

/** In the order in which they are visited. */
const PANES: readonly FocusName[] = ['composer', 'centre', 'review', 'sidebar'];

export function stepPane(step: 1 | -1): void {
  const open = PANES.flatMap((name) => {
    const handle = focusHandle(name);
    const target = handle && !handle.element.closest('[inert]') ? handle.target() : undefined;
    return handle && target ? [{ element: handle.element, target }] : [];
  });
  const at = open.findIndex(({ element }) => element.contains(document.activeElement));
  // From nowhere, forward leads to the first and back to the last.
  const next = at === -1 ? (step === 1 ? 0 : open.length - 1) : (at + step + open.length) % open.length;
  open[next]?.target.focus();
}
