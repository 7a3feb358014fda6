/** The path of a `file://` URL; undefined for any other URL. */
export function filePathOf(url: string): string | undefined {
  if (!url.startsWith('file://')) return undefined;
  try {
    const path = decodeURIComponent(url.replace(/^file:\/\//, '').replace(/[?#].*$/, ''));
    // A Windows drive letter has no slash in front.
    return path.replace(/^\/([a-z]:)/i, '$1');
  } catch {
    return undefined;
  }
}

export function fileURL(path: string): string {
  // On other systems a backslash is a normal character.
  const slashed = /^[a-z]:/i.test(path) ? path.replaceAll('\\', '/') : path;
  const rooted = slashed.startsWith('/') ? slashed : `/${slashed}`;
  return `file://${rooted.split('/').map(encodeURIComponent).join('/').replace(/^\/([a-z])%3A/i, '/$1:')}`;
}
