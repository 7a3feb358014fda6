/**
 * Decides what to do with a paste. Pure.
 *
 * Webviews differ: some provide the bytes of a copied file, WebKitGTK provides an empty picture. If
 * bytes are missing, the shell reads the system's clipboard.
 */
import { isLong } from '../store/attachments';

export interface Offer {
  readonly types: readonly string[];
  readonly text: string;
  readonly uris: string;
  readonly files: readonly { readonly name: string; readonly size: number }[];
}

type Paste = 'text' | 'long-text' | 'files' | 'system';

export function offerOf(data: DataTransfer | null): Offer {
  return {
    types: [...(data?.types ?? [])],
    text: data?.getData('text/plain') ?? '',
    uris: data?.getData('text/uri-list') ?? '',
    files: [...(data?.files ?? [])],
  };
}

export function pasteOf({ text, uris, files }: Offer): Paste {
  const whole = files.length > 0 && files.every((file) => file.size > 0);
  // A file manager also offers the paths as text, which is not what the person wants.
  const named = files.length > 0 && files.every((file) => file.name !== '' && text.includes(file.name));
  if (/^file:/m.test(uris)) return 'system';
  if (text === '' || named) return whole ? 'files' : 'system';
  return isLong(text) ? 'long-text' : 'text';
}
