/** Lines of a hunk are selected by their numbers: a click, a drag, or a click with Shift. */
import type { Accessor } from 'solid-js';
import type { RowRange } from './model';
import type { Cell, DiffRow } from './rows';
import { keyOf } from './scroll';

interface SelectingNeeds {
  readonly rows: Accessor<readonly DiffRow[]>;
  readonly scroller: () => HTMLElement;
  readonly selection: Accessor<RowRange | undefined>;
  readonly select: Accessor<((range: RowRange | undefined) => void) | undefined>;
}

interface Selecting {
  onPointerDown(event: PointerEvent): void;
  onPointerOver(event: PointerEvent): void;
  onPointerUp(): void;
}

export function createSelecting(needs: SelectingNeeds): Selecting {
  let from: { row: DiffRow; at: number } | undefined;
  const lineAt = (event: PointerEvent): { row: DiffRow; at: number } | undefined => {
    const key = keyOf(event.target, needs.scroller());
    const row = key === undefined ? undefined : needs.rows().find((one) => one.key === key);
    const side = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-side]')?.dataset.side : undefined;
    const cell = row && cellOf(row, side);
    return row && cell ? { row, at: cell.row } : undefined;
  };
  const rangeOf = (row: DiffRow, a: number, b: number): RowRange | undefined =>
    row.kind === 'line' || row.kind === 'pair'
      ? { path: row.file.path, version: row.file.version, hunk: row.hunk, from: Math.min(a, b), to: Math.max(a, b) }
      : undefined;
  return {
    onPointerDown(event) {
      const select = needs.select();
      if (!select || event.button !== 0 || !(event.target instanceof Element)) return;
      if (!event.target.matches('.diff-number')) return;
      const line = lineAt(event);
      if (!line) return;
      event.preventDefault();
      const now = needs.selection();
      const range = rangeOf(line.row, line.at, line.at);
      if (event.shiftKey && now && range && now.path === range.path && now.hunk === range.hunk) {
        select({ ...now, from: Math.min(now.from, line.at), to: Math.max(now.to, line.at) });
        return;
      }
      from = line;
      const same = now && range && now.path === range.path && now.hunk === range.hunk && now.from === line.at && now.to === line.at;
      select(same ? undefined : range);
    },
    onPointerOver(event) {
      if (!from) return;
      const line = lineAt(event);
      if (!line || !sameHunk(line.row, from.row)) return;
      needs.select()?.(rangeOf(from.row, from.at, line.at));
    },
    onPointerUp: () => (from = undefined),
  };
}

function cellOf(row: DiffRow, side: string | undefined): Cell | undefined {
  if (row.kind === 'line') return row.cell;
  if (row.kind !== 'pair') return undefined;
  return side === 'old' ? row.before : row.after;
}

function sameHunk(a: DiffRow, b: DiffRow): boolean {
  const named = (row: DiffRow) => (row.kind === 'line' || row.kind === 'pair' ? `${row.file.path} ${row.hunk}` : row.key);
  return named(a) === named(b);
}
