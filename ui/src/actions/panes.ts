/**
 * Moves the focus from pane to pane with one key. It is the way out of the composer, where Tab switches
 * the agent and Esc stops the turn.
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
  // If no pane has the focus: forward to the first, back to the last.
  const next = at === -1 ? (step === 1 ? 0 : open.length - 1) : (at + step + open.length) % open.length;
  open[next]?.target.focus();
}
