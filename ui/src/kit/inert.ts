/** Whether something lies over the element: it, or what it is in, takes no input. */
export function isInert(element: HTMLElement): boolean {
  for (let one: HTMLElement | null = element; one; one = one.parentElement) if (one.inert) return true;
  return false;
}
