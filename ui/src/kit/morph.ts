/**
 * Makes an element's children equal to those of another, changing only what differs.
 *
 * While text streams in at the end of a block, the nodes before it are kept, and with them the
 * selection, the focus and scroll positions.
 */
export function morph(target: Element, wanted: ParentNode): void {
  let now = target.firstChild;
  let next = wanted.firstChild;
  while (next) {
    const following = next.nextSibling;
    if (!now) {
      target.append(next);
    } else if (now instanceof Element && next instanceof Element && sameElement(now, next)) {
      morph(now, next);
      now = now.nextSibling;
    } else if (now instanceof Text && next instanceof Text) {
      if (now.data !== next.data) write(now, next.data);
      now = now.nextSibling;
    } else {
      const replaced = now;
      now = now.nextSibling;
      replaced.replaceWith(next);
    }
    next = following;
  }
  while (now) {
    const rest: ChildNode | null = now.nextSibling;
    now.remove();
    now = rest;
  }
}

/** Appends if the new text continues the old one, which keeps a selection. */
function write(node: Text, text: string): void {
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
}

function sameElement(a: Element, b: Element): boolean {
  if (a.tagName !== b.tagName || a.attributes.length !== b.attributes.length) return false;
  return [...a.attributes].every((attribute) => b.getAttribute(attribute.name) === attribute.value);
}
