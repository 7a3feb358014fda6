/**
 * Where a list of rows is scrolled to, whether all of them are in the DOM or not, and what keeps a row
 * in its place while others come and go.
 */
import { createComputed, createEffect, on, type Accessor } from 'solid-js';
import type { VirtualizerHandle } from 'virtua/solid';

export interface Rows {
  /** The element that scrolls. */
  readonly scroller: HTMLElement;
  /** The direct parent of the rows, if all are in the DOM. */
  readonly rows: HTMLElement | undefined;
  readonly virtual: VirtualizerHandle | undefined;
}

/** The height of the file header that covers the top of the list. */
export const HEADER = 33;

/** The index of the row at the top of what is visible. */
export function topRow({ scroller, rows, virtual }: Rows): number {
  const { scrollTop } = scroller;
  if (scrollTop <= 0) return 0;
  if (virtual) return virtual.findItemIndex(scrollTop + 1);
  const all = rows?.children ?? [];
  let [low, high] = [0, all.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((all[middle] as HTMLElement).offsetTop <= scrollTop + 1) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** Scrolls a row to the top, below `inset` pixels. */
export function showRow({ rows, virtual }: Rows, index: number, inset = 0): void {
  if (virtual) return virtual.scrollToIndex(index, { align: 'start', offset: -inset });
  const row = rows?.children[index] as HTMLElement | undefined;
  if (!row) return;
  row.style.scrollMarginTop = `${inset}px`;
  row.scrollIntoView({ block: 'start' });
}

interface AnchorNeeds {
  readonly list: () => Rows | undefined;
  readonly rows: Accessor<readonly { readonly key: string }[]>;
  /** The row under the pointer. */
  readonly hovered: () => string | undefined;
}

/** Whatever changes above it, the row under the pointer stays there, or else the first visible one. */
export function keepInPlace({ list, rows, hovered }: AnchorNeeds): void {
  let anchor: { key: string; top: number } | undefined;
  const place = (key: string) => {
    const scroller = list()?.scroller;
    const row = scroller && elementOf(scroller, key);
    return scroller && row ? row.getBoundingClientRect().top - scroller.getBoundingClientRect().top : undefined;
  };
  let before: readonly { readonly key: string }[] = [];
  createComputed(
    on(rows, (now) => {
      const shown = list();
      anchor = undefined;
      const old = before;
      before = now;
      if (!shown || old.length === 0) return;
      const kept = new Set(now.map(({ key }) => key));
      const first = topRow(shown);
      const under = hovered();
      const wanted = [under, ...old.slice(first, first + NEAR).map(({ key }) => key)];
      for (const key of wanted) {
        const top = key !== undefined && kept.has(key) ? place(key) : undefined;
        if (key === undefined || top === undefined) continue;
        anchor = { key, top };
        return;
      }
    }),
  );
  createEffect(
    on(rows, (now) => {
      const [shown, held] = [list(), anchor];
      if (!shown || !held) return;
      const settle = () => {
        const top = place(held.key);
        if (top !== undefined) {
          if (Math.abs(top - held.top) > 0.5) shown.scroller.scrollTop += top - held.top;
          return;
        }
        const index = now.findIndex(({ key }) => key === held.key);
        if (index !== -1) showRow(shown, index, held.top);
      };
      settle();
      // Rows that were not drawn before have their real height by the next frame.
      if (shown.virtual) requestAnimationFrame(settle);
    }),
  );
}

const NEAR = 40;

export function elementOf(scroller: HTMLElement, key: string): HTMLElement | undefined {
  return [...scroller.querySelectorAll<HTMLElement>('[data-row]')].find((one) => one.dataset.row === key && !one.closest('.diff-sticky'));
}

/** The row of an element. */
export function keyOf(element: EventTarget | null, scroller: HTMLElement): string | undefined {
  if (!(element instanceof Element) || !scroller.contains(element)) return undefined;
  return element.closest<HTMLElement>('[data-row]')?.dataset.row;
}
