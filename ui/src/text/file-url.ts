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

export function fileURL(path: string): string {
  // Elsewhere a backslash is a letter like any other.
  const slashed = /^[a-z]:/i.test(path) ? path.replaceAll('\\', '/') : path;
  const rooted = slashed.startsWith('/') ? slashed : `/${slashed}`;
  return `file://${rooted.split('/').map(encodeURIComponent).join('/').replace(/^\/([a-z])%3A/i, '/$1:')}`;
}
