/**
 * Links never navigate the window. The schemes below go to the system; the rest goes nowhere.
 */
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

export interface Ways {
  /** To the web or to mail. */
  readonly open: (url: string) => void;
  /** To a file of the project. */
  readonly edit: (path: string, line: number | undefined) => void;
}

export function followLinks(event: Event, ways: Ways): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link) return;
  event.preventDefault();
  const { path, line } = link.dataset;
  if (path !== undefined) return ways.edit(path, line === undefined ? undefined : Number(line));
  const address = link.getAttribute('href');
  if (address && URL.canParse(address) && SCHEMES.has(new URL(address).protocol)) ways.open(address);
}

/** A link to a file has no address, so the keyboard does not click it by itself. */
export function followLinksByKey(event: KeyboardEvent, ways: Ways): void {
  const link = event.target instanceof Element ? event.target.closest('a[data-path]') : null;
  if (link && event.key === 'Enter') followLinks(event, ways);
}
