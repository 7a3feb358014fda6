/**
 * Splits and joins command lines. Pure.
 *
 * Words are separated by spaces and grouped by single or double quotes. A backslash is not special,
 * because Windows paths contain them.
 */

/** Undefined if a quote is not closed. */
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

/** The inverse of `splitCommand`. */
export function joinCommand(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (word !== '' && !/[\s"']/.test(word)) return word;
  // A word with a double quote is put into single quotes.
  return word
    .split(/("+)/)
    .filter((piece, at) => piece !== '' || (at === 0 && word === ''))
    .map((piece) => (piece.startsWith('"') ? `'${piece}'` : `"${piece}"`))
    .join('');
}
