/**
 * Diffs of files: unified or side by side, with syntax colours and highlighted words.
 *
 * A long diff is virtual: only the visible rows are in the DOM. It draws what Rust rendered, and knows
 * neither where the files come from nor which actions they have.
 */
import { createMemo, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { LineList, type LineListHandle } from '../kit/LineList';
import type { FileDiffView } from '../protocol';
import { keepFocus } from './keep-focus';
import { rowsOf, type DiffRow } from './rows';
import { createUnfolding } from './unfolding';
import { createWalk, type DiffHandle } from './keyboard';
import { DiffRowView } from './DiffRowView';
import './diff.css';

interface DiffViewProps {
  readonly files: readonly FileDiffView[];
  readonly sideBySide: boolean;
  readonly headers?: boolean;
  /** The folder that paths are relative to, if it is not the session's. */
  readonly root?: string;
  readonly fill?: boolean;
  readonly label?: string;
  /** Loads the file with all unchanged lines. */
  readonly whole?: (file: FileDiffView) => Promise<FileDiffView | undefined>;
  /** Loads the hunks of a folded file; without it, the whole file is shown. */
  readonly unfolded?: (file: FileDiffView) => Promise<FileDiffView | undefined>;
  /** The action buttons of a file or a hunk. */
  readonly actions?: (file: FileDiffView, hunk: number | undefined) => JSX.Element;
  /** The revert key was pressed on a file or a hunk. */
  readonly onTakeBack?: (file: FileDiffView, hunk: number | undefined) => void;
  readonly ref?: (handle: DiffHandle) => void;
}

export function DiffView(props: DiffViewProps) {
  let list!: LineListHandle;
  const { options, toggle, unfold } = createUnfolding({
    files: () => props.files,
    whole: () => props.whole,
    unfolded: () => props.unfolded,
  });

  // Unchanged rows keep their identity, so that their elements are reused.
  const rows = createMemo<DiffRow[]>((before) => {
    const known = new Map(before.map((row) => [row.key, row]));
    const fresh = rowsOf(props.files, {
      sideBySide: props.sideBySide,
      headers: props.headers ?? false,
      ...options(),
    });
    return fresh.map((row) => {
      const old = known.get(row.key);
      return old && sameRow(old, row) ? old : row;
    });
  }, []);

  const walk = createWalk({
    list: () => list,
    rows,
    toggle,
    unfold: props.whole && ((file, gap) => void unfold(file, gap)),
    takeBack: props.onTakeBack,
  });
  props.ref?.(walk);
  keepFocus(rows, () => list && walk.remember(), walk.giveBack);

  return (
    <LineList
      class="diff"
      rows={rows()}
      fill={props.fill}
      label={props.label ?? en.diff.label}
      ref={(made) => (list = made)}
      onKeyDown={walk.onKeyDown}
    >
      {(row) => (
        <DiffRowView
          row={row}
          canUnfold={props.whole !== undefined}
          root={props.root}
          actions={props.actions}
          onUnfold={unfold}
          onToggle={toggle}
        />
      )}
    </LineList>
  );
}

function sameRow(a: DiffRow, b: DiffRow): boolean {
  const keys = Object.keys(a) as (keyof DiffRow)[];
  return keys.every((key) => same(a[key], b[key]));
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const gaps = typeof a === 'object' && typeof b === 'object' && a && b && 'open' in a && 'open' in b;
  return gaps ? JSON.stringify(a) === JSON.stringify(b) : false;
}
