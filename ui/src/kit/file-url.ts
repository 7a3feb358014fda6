/** The path that a `file://` address names; nothing for any other address. */
export function filePathOf(url: string): string | undefined {
  if (!url.startsWith('file://')) return undefined;
  try {
    const path = decodeURIComponent(url.replace(/^file:\/\//, '').replace(/[?#].*$/, ''));
    // A drive has no slash in front of its letter.
    return path.replace(/^\/([a-z]:)/i, '$1');
  } catch {
    return undefined;
  }
}
