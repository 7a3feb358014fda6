/**
 * From pane to pane with one key. The way out of the field for the prompt, where Tab has another use
 * and Esc stops the turn.
 */
interface Pane {
  readonly room: string;
  /** What takes the focus there: the first of these that is there. */
  readonly stops: readonly string[];
}

const PANES: readonly Pane[] = [
  { room: '.composer-dock', stops: ['[data-testid="composer"]:enabled'] },
  { room: '.centre', stops: ['[data-testid="timeline"]', 'button:enabled'] },
  { room: '[data-testid="review"]', stops: ['[data-testid="review"]'] },
  { room: '[data-testid="sidebar"]', stops: ['[data-row][aria-current]', '[data-testid="session-filter"]', 'button:enabled'] },
];

export function stepPane(step: 1 | -1, root: Document = document): void {
  const there = PANES.flatMap(({ room, stops }) => {
    const place = root.querySelector(room);
    const stop = place && !place.closest('[inert]') ? stopIn(place, stops) : undefined;
    return place && stop ? [{ place, stop }] : [];
  });
  const at = there.findIndex(({ place }) => place.contains(root.activeElement));
  // From nowhere, forward leads to the first and back to the last.
  const next = at === -1 ? (step === 1 ? 0 : there.length - 1) : (at + step + there.length) % there.length;
  there[next]?.stop.focus();
}

function stopIn(place: Element, stops: readonly string[]): HTMLElement | undefined {
  for (const css of stops) {
    const found = place.matches(css) ? place : place.querySelector(css);
    if (found instanceof HTMLElement) return found;
  }
  return undefined;
}
