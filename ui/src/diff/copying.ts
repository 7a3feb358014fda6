/** A copy of lines: their text and nothing else, of one side only. */

/** Handles a copy, if the selection has lines of a diff. */
export function copyLines(event: ClipboardEvent): void {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return;
  const text = textOf(selection.getRangeAt(0));
  if (text === undefined) return;
  event.clipboardData?.setData('text/plain', text);
  event.preventDefault();
}

/** The text of the lines in a range; undefined if it is within one. */
export function textOf(range: Range): string | undefined {
  const side = sideOf(range.startContainer);
  const lines = [...range.cloneContents().querySelectorAll<HTMLElement>('code')].filter((code) => {
    const own = code.closest<HTMLElement>('[data-side]')?.dataset.side;
    return side === undefined || own === undefined || own === side;
  });
  if (lines.length < 2) return undefined;
  for (const code of lines) for (const note of code.querySelectorAll('.diff-no-newline')) note.remove();
  return lines.map((code) => code.textContent ?? '').join('\n');
}

function sideOf(node: Node): string | undefined {
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest<HTMLElement>('[data-side]')?.dataset.side;
}
