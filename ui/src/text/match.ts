/** How well a text fits what was typed: the one matcher of the window. Pure. */

/** From the best: it begins the text, begins a word, is inside of a word, or only its letters are there in order. */
export type MatchKind = 'prefix' | 'word' | 'inside' | 'scattered';

export interface Match {
  readonly kind: MatchKind;
  /** Higher for letters that are together, at the start of words, and early in the text. */
  readonly score: number;
}

/** Undefined if the letters of `typed` are not in the text in their order. Spaces do not count. */
export function match(text: string, typed: string): Match | undefined {
  const lower = text.toLowerCase();
  const wanted = typed.toLowerCase().replace(/\s+/g, '');
  const score = scoreOf(lower, wanted);
  return score === undefined ? undefined : { kind: kindOf(lower, wanted), score };
}

/** Whether all typed words are in the text: for texts that are longer than a name. */
export function hasWords(text: string, typed: string): boolean {
  const lower = text.toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}

/** Those that fit, best first; equal ones keep their order. */
export function ranked<T>(items: readonly T[], textOf: (item: T) => string, typed: string): T[] {
  if (typed.trim() === '') return [...items];
  return items
    .flatMap((item) => {
      const found = match(textOf(item), typed);
      return found ? [{ item, score: found.score }] : [];
    })
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

function scoreOf(text: string, letters: string): number | undefined {
  if (letters === '') return 0;
  let total = 0;
  let from = 0;
  let run = 0;
  for (const letter of letters) {
    const at = text.indexOf(letter, from);
    if (at === -1) return undefined;
    run = at === from && from > 0 ? run + 1 : 0;
    total += 1 + run * 2 + (beginsWord(text, at) ? 4 : 0) - Math.min(at - from, 10) * 0.1;
    from = at + 1;
  }
  return total - text.length * 0.01;
}

function kindOf(text: string, letters: string): MatchKind {
  if (text.startsWith(letters)) return 'prefix';
  const first = text.indexOf(letters);
  if (first === -1) return 'scattered';
  for (let at = first; at !== -1; at = text.indexOf(letters, at + 1)) if (beginsWord(text, at)) return 'word';
  return 'inside';
}

function beginsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '');
}
