/**
 * Keyboard control of a diff: move between changes and files, unfold, and what can be done with a change.
 *
 * The list is virtual: a row may have to be scrolled to before it can take the focus.
 */
import type { Folds } from './folds';
import type { DiffFile, Hunk } from './model';
import { changeOf, fileFrom, hunkFrom, stopFrom, type DiffRow } from './rows';
import { elementOf, HEADER, keyOf, showRow, type Rows } from './scroll';

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

/** What a key does with a file, or with one of its hunks. */
export type ChangeKeys = Readonly<Record<string, (file: DiffFile, hunk: Hunk | undefined) => void>>;

interface WalkNeeds {
  readonly list: () => Rows;
  readonly rows: () => readonly DiffRow[];
  readonly folds: Folds;
  /** Gaps and folded files can be opened. */
  readonly canOpen: () => boolean;
  /** Without it, changes have no actions, and the arrow keys scroll. */
  readonly keys: () => ChangeKeys | undefined;
}

export interface Walk extends DiffHandle {
  onKeyDown(event: KeyboardEvent): void;
}

type Run = (() => void) | undefined;
type Find = (rows: readonly DiffRow[], from: number, step: 1 | -1) => number | undefined;

/** Keys that go to the next or the previous one of something, and scroll it to the top. */
const JUMPS: Readonly<Record<string, readonly [Find, 1 | -1]>> = {
  n: [hunkFrom, 1],
  p: [hunkFrom, -1],
  N: [fileFrom, 1],
  P: [fileFrom, -1],
};
const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

export function createWalk(needs: WalkNeeds): Walk {
  const { rows, folds } = needs;
  /** The last row with the focus, which may be gone. */
  let last: { index: number; key?: string } = { index: -1 };

  const element = (key: string | undefined) => (key === undefined ? undefined : elementOf(needs.list().scroller, key));
  const indexOf = (key: string | undefined) => rows().findIndex((row) => row.key === key);
  const note = (index: number) => {
    const key = rows()[index]?.key;
    last = key === undefined ? { index } : { index, key };
  };
  const toTop = (index: number) => {
    note(index);
    showRow(needs.list(), index, rows()[index]?.kind === 'file' ? 0 : HEADER);
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
      return wanted ? () => folds.toggle(row.file) : undefined;
    }
    if (!opens || !needs.canOpen()) return undefined;
    if (row.kind === 'note' && row.note === 'folded') return () => folds.unfold(row.file.path);
    if (row.kind !== 'hunk') return undefined;
    if (row.info.kept === 'all') return () => folds.toggleHunk(row.file, row.info);
    return row.gap.hidden === 0 ? undefined : () => folds.open(row.file.path, row.gap.id, Number.MAX_SAFE_INTEGER);
  };
  const onChange = (event: KeyboardEvent, at: number, keys: ChangeKeys): Run => {
    const row = rows()[at];
    const change = changeOf(row);
    if (!row || !change) return undefined;
    // On what is left of a reverted change, a key would mean the whole file; so would a key held down.
    const run = row.kind === 'tomb' || event.repeat ? undefined : keys[event.key];
    if (run) return () => run(change.file, row.kind === 'hunk' ? row.info : undefined);
    return event.target === element(row.key) ? onRow(event.key, row) : undefined;
  };
  const keyed = (event: KeyboardEvent): Run => {
    const at = indexOf(keyOf(event.target, needs.list().scroller));
    const jump = JUMPS[event.key];
    if (jump) {
      const [find, step] = jump;
      const next = find(rows(), at === -1 ? last.index : at, step);
      return () => next !== undefined && toTop(next);
    }
    const keys = needs.keys();
    if (!keys) return undefined;
    const step = ARROWS[event.key];
    if (step === undefined) return onChange(event, at, keys);
    const next = stopFrom(rows(), at, step);
    return next === undefined ? undefined : () => to(next);
  };

  return {
    onKeyDown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.matches('textarea, input')) return;
      const run = keyed(event);
      if (!run) return;
      event.preventDefault();
      run();
    },
    remember() {
      const key = keyOf(document.activeElement, needs.list().scroller);
      const index = indexOf(key);
      if (index !== -1) note(index);
      return key;
    },
    giveBack() {
      const still = indexOf(last.key);
      const from = Math.min(Math.max(last.index, 0), rows().length);
      const near = stopFrom(rows(), from - 1, 1) ?? stopFrom(rows(), from, -1);
      const next = still === -1 ? near : still;
      if (next === undefined) needs.list().scroller.focus();
      else to(next);
    },
    show(path) {
      const index = indexOf(`file:${path}`);
      if (index !== -1) toTop(index);
    },
    reveal(path) {
      const index = indexOf(`file:${path}`);
      if (index !== -1) showRow(needs.list(), index);
    },
  };
}
