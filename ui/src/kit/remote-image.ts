/**
 * A remote picture in Markdown: a button that shows the host, and contains the picture once it was
 * clicked.
 *
 * Rust renders the button. Only its children are changed here, never its attributes, so that `morph`
 * keeps the node and the focus while the text around it changes.
 */
import { en } from '../i18n/en';
import type { PictureState } from '../store/pictures';
import { visible } from '../text/visible';

export const REMOTE = 'button.remote-image';
export const LOADED = 'remote-picture';

/** Undefined if it is not a web address. */
export function addressOf(button: Element): string | undefined {
  const address = button.getAttribute('data-src') ?? '';
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : undefined;
}

/** The alternative text, without the host that Rust appended. */
export function nameOf(button: Element): string {
  const text = button.querySelector('img')?.alt ?? button.textContent ?? '';
  const host = ` · ${button.getAttribute('data-host') ?? ''}`;
  return text.endsWith(host) ? text.slice(0, -host.length) : text;
}

/** `button` is as Rust rendered it. */
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
  // Created in the button's document: an image of a template loads only once it is in the page.
  const image = button.ownerDocument.createElement('img');
  image.className = LOADED;
  image.alt = nameOf(button);
  image.decoding = 'async';
  image.src = url;
  return image;
}
