/**
 * Going through a difference with the keyboard: from change to change, opening, taking back.
 *
 * A row that is out of sight may not be in the page; it is brought there first.
 */
import type { LineListHandle } from '../kit/LineList';
import type { FileDiffView } from '../protocol';
import { changeOf, hunkFrom, stopFrom, type DiffRow } from './rows';

export interface DiffHandle {
  /** Remembers which row has the focus, or holds what has it; nothing where none does. */
  remember(): string | undefined;
  /** Gives the focus back to the row that is remembered, or to one near it when it is gone. */
  giveBack(): void;
  /** Brings a file to the top and gives it the focus. */
  show(path: string): void;
  /** Brings a file to the top; the focus stays where it is. */
  reveal(path: string): void;
}

interface WalkNeeds {
  readonly list: () => LineListHandle;
  readonly rows: () => readonly DiffRow[];
  /** Opens what is folded: a gap, or the whole file. */
  readonly unfold?: (file: FileDiffView, gap: string | undefined) => void;
  toggle(path: string): void;
  /** Without it, nothing can be done with a change, and the arrows scroll. */
  readonly takeBack?: (file: FileDiffView, hunk: number | undefined) => void;
}

export interface Walk extends DiffHandle {
  onKeyDown(event: KeyboardEvent): void;
}

type Run = (() => void) | undefined;

const STEPS: Readonly<Record<string, 1 | -1>> = { n: 1, p: -1, ArrowDown: 1, ArrowUp: -1 };

export function createWalk(needs: WalkNeeds): Walk {
  const { rows } = needs;
  /** Where the focus was last, also when that row is gone. */
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
    // The row is drawn by the next frame at the latest.
    requestAnimationFrame(() => element(rows()[index]?.key)?.focus({ preventScroll: true }));
  };
  const to = (index: number) => {
    const drawn = element(rows()[index]?.key);
    if (!drawn) return toTop(index);
    note(index);
    drawn.focus();
  };

  /** With the row itself, where it has the focus; the buttons in it have keys of their own. */
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

/** The row that an element stands in. */
function keyOf(element: EventTarget | null, list: HTMLElement): string | undefined {
  if (!(element instanceof Element) || !list.contains(element)) return undefined;
  return element.closest<HTMLElement>('[data-row]')?.dataset.row;
}
