/**
 * A picture of the web, where Markdown names one: a button that says where it would come from,
 * and holds the picture once it was asked for.
 *
 * Rust makes the button; only its children change here, never its attributes, so that it stays
 * the same node, with the focus on it, while the text around it is drawn anew.
 */
import { en } from '../i18n/en';
import type { PictureState } from '../store/pictures';
import { visible } from '../text/visible';

export const REMOTE = 'button.remote-image';
export const LOADED = 'remote-picture';

/** Undefined for what is not of the web, whoever wrote it. */
export function addressOf(button: Element): string | undefined {
  const address = button.getAttribute('data-src') ?? '';
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : undefined;
}

/** What the text calls it, without the host that Rust wrote behind it. */
export function nameOf(button: Element): string {
  const text = button.querySelector('img')?.alt ?? button.textContent ?? '';
  const host = ` · ${button.getAttribute('data-host') ?? ''}`;
  return text.endsWith(host) ? text.slice(0, -host.length) : text;
}

/** `button` is as Rust made it. */
export function dress(button: Element, state: PictureState, pictureURL: (url: string) => string): void {
  switch (state.name) {
    case 'unasked':
      return button.append(words('remote-act', en.part.loadPicture));
    case 'loading':
      return button.append(words('spinner', ''), words('visually-hidden', en.lightbox.loading));
    case 'failed':
      return button.append(words('remote-failed', visible(state.why)), words('remote-act', en.part.loadAgain));
    case 'loaded':
      return button.replaceChildren(picture(button, pictureURL(state.url)));
  }
}

function words(name: string, text: string): HTMLElement {
  const span = document.createElement('span');
  span.className = name;
  span.textContent = text;
  return span;
}

function picture(button: Element, url: string): HTMLImageElement {
  // Of the button's own document: a template's loads nothing until it is in the page.
  const image = button.ownerDocument.createElement('img');
  image.className = LOADED;
  image.alt = nameOf(button);
  image.decoding = 'async';
  image.src = url;
  return image;
}
