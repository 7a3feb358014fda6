/**
 * A command line as people write it, and the words it is made of. Pure.
 *
 * Spaces part words, and quotes of either kind hold them together. A backslash is a letter like
 * any other: half of the world's paths are made of them.
 */

/** Undefined where a quote is not closed. */
export function splitCommand(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of line) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}

/** The other way round: `splitCommand` gives back the same words. */
export function joinCommand(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (word !== '' && !/[\s"']/.test(word)) return word;
  // What stands between double quotes must not hold one; those stand between single ones.
  return word
    .split(/("+)/)
    .filter((piece, at) => piece !== '' || (at === 0 && word === ''))
    .map((piece) => (piece.startsWith('"') ? `'${piece}'` : `"${piece}"`))
    .join('');
}
