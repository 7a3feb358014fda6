/** Highlights mentions in text nodes. Nothing here is HTML. */
export function highlightWords(root: ParentNode, words: readonly string[]): void {
  const wanted = words.filter((word) => word !== '').sort((a, b) => b.length - a.length);
  if (wanted.length === 0) return;
  const walker = document.createTreeWalker(root as Node, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) mention(text, wanted);
}

function mention(text: Text, words: readonly string[]): void {
  let rest: Text | undefined = text;
  while (rest) {
    const found = first(rest.data, words);
    if (!found) return;
    const start: Text = rest.splitText(found.at);
    rest = start.splitText(found.word.length);
    const mark = document.createElement('span');
    mark.className = 'mention';
    mark.textContent = found.word;
    start.replaceWith(mark);
  }
}

function first(text: string, words: readonly string[]): { at: number; word: string } | undefined {
  return words
    .map((word) => ({ at: text.indexOf(word), word }))
    .filter(({ at }) => at !== -1)
    .reduce<{ at: number; word: string } | undefined>((best, one) => (best && best.at <= one.at ? best : one), undefined);
}
