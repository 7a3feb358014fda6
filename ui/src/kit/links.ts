/**
 * Links never navigate the window. Those with the schemes below are opened by the system, those to a
 * place in a session by the window; others are ignored.
 */
import { placeOfLink, type LinkedPlace } from '../text/place-link';

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

export interface Ways {
  /** Opens a web or mail address. */
  readonly open: (url: string) => void;
  /** Goes to a place in a session. */
  readonly go: (place: LinkedPlace) => void;
  /** Opens a file of the project. */
  readonly edit: (path: string, line: number | undefined) => void;
}

export function followLinks(event: Event, ways: Ways): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link) return;
  event.preventDefault();
  const { path, line } = link.dataset;
  if (path !== undefined) return ways.edit(path, line === undefined ? undefined : Number(line));
  const address = link.getAttribute('href');
  const place = placeOfLink(address ?? '');
  if (place) return ways.go(place);
  if (address && isOpenable(address)) ways.open(address);
}

/** Whether the system is asked to open this address. */
export function isOpenable(address: string): boolean {
  return URL.canParse(address) && SCHEMES.has(new URL(address).protocol);
}

/** A link to a file has no `href`, so the browser does not handle its keys. */
export function followLinksByKey(event: KeyboardEvent, ways: Ways): void {
  const link = event.target instanceof Element ? event.target.closest('a[data-path]') : null;
  if (link && event.key === 'Enter') followLinks(event, ways);
}
