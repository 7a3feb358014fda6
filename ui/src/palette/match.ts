/**
 * How well a text fits what was typed. Letters in order are enough; together, at the start of
 * words and early in the text is better.
 */
export function score(text: string, typed: string): number | undefined {
  const wanted = typed.toLowerCase().replace(/\s+/g, '');
  if (wanted === '') return 0;
  const lower = text.toLowerCase();
  let total = 0;
  let from = 0;
  let run = 0;
  for (const letter of wanted) {
    const at = lower.indexOf(letter, from);
    if (at === -1) return undefined;
    const begins = at === 0 || !/[\p{L}\p{N}]/u.test(lower[at - 1] ?? '');
    run = at === from && from > 0 ? run + 1 : 0;
    total += 1 + run * 2 + (begins ? 4 : 0) - Math.min(at - from, 10) * 0.1;
    from = at + 1;
  }
  return total - text.length * 0.01;
}

/** Those that fit, best first; equal ones keep their order. */
export function ranked<T>(items: readonly T[], textOf: (item: T) => string, typed: string): T[] {
  if (typed.trim() === '') return [...items];
  return items
    .map((item) => ({ item, score: score(textOf(item), typed) }))
    .filter((one): one is { item: T; score: number } => one.score !== undefined)
    .sort((a, b) => b.score - a.score)
    .map((one) => one.item);
}
