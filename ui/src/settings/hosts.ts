/** A host's name as a person writes it, and as it is kept: the way addresses spell it. Pure. */

/** Undefined where it names no single host. A whole address stands for its host. */
export function hostOf(typed: string): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const address = text.includes('://') ? text : `http://${isBareV6(text) ? `[${text}]` : text}/`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname, username, search, hash } = new URL(address);
  // "10.0.0.0/8" looks as if it meant many.
  const more = text.includes('://') ? '' : pathname.slice(1) + search + hash;
  if (more !== '' || username !== '') return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  // An address may have stars and the like in its host; a name has not.
  return /^[a-z0-9._:-]+$/.test(host) ? host : undefined;
}

/** An IPv6 address without the brackets that tell its end from a port. */
function isBareV6(text: string): boolean {
  return !text.startsWith('[') && text.split(':').length > 2;
}
