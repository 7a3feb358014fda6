/**
 * Links never navigate the window. The schemes below go to the system; the rest goes nowhere.
 */
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

export function followLinks(event: MouseEvent, open: (url: string) => void): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link) return;
  event.preventDefault();
  const address = link.getAttribute('href');
  if (address && URL.canParse(address) && SCHEMES.has(new URL(address).protocol)) open(address);
}
