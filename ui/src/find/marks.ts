/**
 * Highlights matches without changing the DOM, with CSS highlight ranges. Where the webview has none,
 * the part with the match gets an outline instead.
 */
import { createEffect, on, onCleanup, type Accessor } from 'solid-js';
import type { Target } from '../store/session-actions';

const ALL = 'find';
const HERE = 'find-here';
/** The maximum number of highlights. */
const MOST = 2000;

/** Elements that are not part of the text. A result line of a search tool is text, though it is a button. */
const UNSAID = 'button:not(.match-line), [aria-hidden="true"], .visually-hidden';

/** The ranges of `text` in an element, ignoring case, also across inline elements. */
export function rangesIn(root: Element, text: string, most = MOST): Range[] {
  const wanted = text.toLowerCase();
  if (wanted === '') return [];
  const nodes: { node: Text; start: number }[] = [];
  let all = '';
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest(UNSAID)) continue;
    nodes.push({ node: node as Text, start: all.length });
    all += node.nodeValue ?? '';
  }
  const lower = all.toLowerCase();
  // A character that is longer in lower case would shift the offsets.
  if (lower.length !== all.length) return [];
  const ranges: Range[] = [];
  const place = (offset: number) => {
    const at = nodes.findLast((one) => one.start <= offset) ?? nodes[0];
    return at && { node: at.node, offset: offset - at.start };
  };
  for (let at = lower.indexOf(wanted); at !== -1 && ranges.length < most; at = lower.indexOf(wanted, at + wanted.length)) {
    const from = place(at);
    const to = place(at + wanted.length - 1);
    if (!from || !to) continue;
    const range = document.createRange();
    range.setStart(from.node, from.offset);
    range.setEnd(to.node, to.offset + 1);
    ranges.push(range);
  }
  return ranges;
}

/** A part may be taller than the window, so the match itself is scrolled into view. */
function leadTo(range: Range): void {
  const scroller = document.querySelector('.timeline-scroll')?.getBoundingClientRect();
  const place = range.getBoundingClientRect?.();
  if (!scroller || !place) return;
  if (place.top < scroller.top || place.bottom > scroller.bottom) {
    range.startContainer.parentElement?.scrollIntoView?.({ block: 'center' });
  }
}

export function useMarks(text: Accessor<string>, target: Accessor<Target | undefined>): void {
  const highlights = globalThis.CSS !== undefined && 'highlights' in CSS ? CSS.highlights : undefined;
  let asked = false;
  /** The match that was already scrolled into view. */
  let led: Target | undefined;

  const paint = () => {
    asked = false;
    for (const part of document.querySelectorAll('.part[data-found]')) part.removeAttribute('data-found');
    const parts = [...document.querySelectorAll('.timeline .part[data-part-id]')];
    const wanted = text();
    const place = target();
    const all: Range[] = [];
    const here: Range[] = [];
    for (const part of parts) {
      const ranges = rangesIn(part, wanted, MOST - all.length);
      all.push(...ranges);
      if (place?.partID === undefined || part.getAttribute('data-part-id') !== place.partID) continue;
      const chosen = ranges[Math.min(place.nth ?? 0, ranges.length - 1)];
      if (chosen && led !== place) {
        led = place;
        leadTo(chosen);
      }
      if (chosen && highlights) here.push(chosen);
      else part.setAttribute('data-found', '');
    }
    // WebKit does not repaint a highlight that is replaced, only one that is removed.
    for (const name of [ALL, HERE]) highlights?.delete(name);
    highlights?.set(ALL, new Highlight(...all));
    highlights?.set(HERE, new Highlight(...here));
  };
  const soon = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(paint);
  };

  createEffect(on([text, target], soon));
  // The timeline is virtual: parts are added and removed while scrolling.
  const watcher = new MutationObserver((changes) => {
    const drawn = changes.some((change) => change.type !== 'attributes');
    if (drawn) soon();
  });
  const timeline = document.querySelector('.centre');
  if (timeline) watcher.observe(timeline, { childList: true, subtree: true, characterData: true });
  onCleanup(() => {
    watcher.disconnect();
    highlights?.delete(ALL);
    highlights?.delete(HERE);
    for (const part of document.querySelectorAll('.part[data-found]')) part.removeAttribute('data-found');
  });
}
