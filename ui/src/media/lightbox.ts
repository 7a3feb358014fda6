/** Opens a picture of a session over the window, with all the others around it. */
import type { App } from '../store/app';

/** `partID` is the file part's own id, also where it lies in a tool's result. */
export function openLightbox(app: App, sessionID: string, partID: string): void {
  app.show({ name: 'lightbox', sessionID, partID });
}

/** A picture that is none of the session's. */
export function openPicture(app: App, picture: { readonly url: string; readonly name: string }): void {
  app.show({ name: 'lightbox', alone: picture });
}

/** Pixels only. An SVG is a program, and anything else is not ours to decode. */
export function isPicture(file: { readonly mime: string; readonly url: string }): boolean {
  const pixels = /^image\/(png|jpeg|gif|webp|bmp)$/.test(file.mime);
  return pixels && /^(attachment:|data:image\/(png|jpeg|gif|webp|bmp);base64,)/.test(file.url);
}
