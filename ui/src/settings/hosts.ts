/** Normalises a host name that a person typed. Pure. */

/** Undefined if it does not name exactly one host. A URL stands for its host. */
export function hostOf(typed: string): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const address = text.includes('://') ? text : `http://${isBareV6(text) ? `[${text}]` : text}/`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname, username, search, hash } = new URL(address);
  // "10.0.0.0/8" would mean many hosts.
  const more = text.includes('://') ? '' : pathname.slice(1) + search + hash;
  if (more !== '' || username !== '') return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  // A URL accepts characters such as `*` in its host; a host name does not.
  return /^[a-z0-9._:-]+$/.test(host) ? host : undefined;
}

/** Removes the brackets of an IPv6 address. */
function isBareV6(text: string): boolean {
  return !text.startsWith('[') && text.split(':').length > 2;
}
