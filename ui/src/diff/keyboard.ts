/**
 * Keyboard control of a diff: move between changes, unfold, revert.
 *
 * The list is virtual: a row may have to be scrolled to before it can take the focus.
 */
import type { LineListHandle } from '../kit/LineList';
import type { FileDiffView } from '../protocol';
import { changeOf, hunkFrom, stopFrom, type DiffRow } from './rows';

export interface DiffHandle {
  /** Remembers the row that has the focus; undefined if none does. */
  remember(): string | undefined;
  /** Returns the focus to the remembered row, or to one near it if it is gone. */
  giveBack(): void;
  /** Scrolls a file to the top and focuses it. */
  show(path: string): void;
  /** Scrolls a file to the top without moving the focus. */
  reveal(path: string): void;
}

interface WalkNeeds {
  readonly list: () => LineListHandle;
  readonly rows: () => readonly DiffRow[];
  /** Unfolds a gap or a file. */
  readonly unfold?: (file: FileDiffView, gap: string | undefined) => void;
  toggle(path: string): void;
  /** Without it, changes have no actions, and the arrow keys scroll. */
  readonly takeBack?: (file: FileDiffView, hunk: number | undefined) => void;
}

export interface Walk extends DiffHandle {
  onKeyDown(event: KeyboardEvent): void;
}

type Run = (() => void) | undefined;

const STEPS: Readonly<Record<string, 1 | -1>> = { n: 1, p: -1, ArrowDown: 1, ArrowUp: -1 };

export function createWalk(needs: WalkNeeds): Walk {
  const { rows } = needs;
  /** The last row with the focus, which may be gone. */
  let last: { index: number; key?: string } = { index: -1 };

  const element = (key: string | undefined) => rowElement(needs.list().element, key);
  const indexOf = (key: string | undefined) => rows().findIndex((row) => row.key === key);
  const note = (index: number) => {
    const key = rows()[index]?.key;
    last = key === undefined ? { index } : { index, key };
  };
  const toTop = (index: number) => {
    note(index);
    needs.list().show(index);
    // The row is in the DOM by the next frame.
    requestAnimationFrame(() => element(rows()[index]?.key)?.focus({ preventScroll: true }));
  };
  const to = (index: number) => {
    const drawn = element(rows()[index]?.key);
    if (!drawn) return toTop(index);
    note(index);
    drawn.focus();
  };

  /** Only if the row itself has the focus; its buttons handle their own keys. */
  const onRow = (key: string, row: DiffRow): Run => {
    const opens = key === 'Enter' || key === ' ';
    if (row.kind === 'file') {
      const wanted = opens || key === (row.closed ? 'ArrowRight' : 'ArrowLeft');
      return wanted ? () => needs.toggle(row.file.path) : undefined;
    }
    const { unfold } = needs;
    if (!opens || !unfold) return undefined;
    if (row.kind === 'note' && row.note === 'folded') return () => unfold(row.file, undefined);
    return row.kind === 'hunk' && !row.gap.open ? () => unfold(row.file, row.gap.id) : undefined;
  };
  const onChange = (event: KeyboardEvent, at: number): Run => {
    const row = rows()[at];
    const change = changeOf(row);
    if (!row || !change) return undefined;
    if (event.key === 'Delete' || event.key === 'Backspace') return () => needs.takeBack?.(change.file, change.hunk);
    return event.target === element(row.key) ? onRow(event.key, row) : undefined;
  };
  const keyed = (event: KeyboardEvent): Run => {
    const at = indexOf(keyOf(event.target, needs.list().element));
    const step = STEPS[event.key];
    if (step !== undefined && event.key.length === 1) {
      const next = hunkFrom(rows(), at === -1 ? last.index : at, step);
      return () => next !== undefined && toTop(next);
    }
    if (!needs.takeBack) return undefined;
    if (step === undefined) return onChange(event, at);
    const next = stopFrom(rows(), at, step);
    return next === undefined ? undefined : () => to(next);
  };

  return {
    onKeyDown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const run = keyed(event);
      if (!run) return;
      event.preventDefault();
      run();
    },
    remember() {
      const key = keyOf(document.activeElement, needs.list().element);
      const index = indexOf(key);
      if (index !== -1) note(index);
      return key;
    },
    giveBack() {
      const still = indexOf(last.key);
      const from = Math.min(Math.max(last.index, 0), rows().length);
      const near = stopFrom(rows(), from - 1, 1) ?? stopFrom(rows(), from, -1);
      const next = still === -1 ? near : still;
      if (next === undefined) needs.list().element.focus();
      else to(next);
    },
    show(path) {
      const index = indexOf(`file:${path}`);
      if (index !== -1) toTop(index);
    },
    reveal(path) {
      const index = indexOf(`file:${path}`);
      if (index !== -1) needs.list().show(index);
    },
  };
}

function rowElement(list: HTMLElement, key: string | undefined): HTMLElement | undefined {
  return [...list.querySelectorAll<HTMLElement>('[data-row]')].find((one) => one.dataset.row === key);
}

/** The row of an element. */
function keyOf(element: EventTarget | null, list: HTMLElement): string | undefined {
  if (!(element instanceof Element) || !list.contains(element)) return undefined;
  return element.closest<HTMLElement>('[data-row]')?.dataset.row;
}
