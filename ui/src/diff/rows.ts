/**
 * Converts a diff to rows.
 *
 * Pure. In the side-by-side view, old and new lines are paired. The lines between two hunks are folded,
 * and are taken from the whole file once they are unfolded.
 */
import type { DiffLine, FileDiffView } from '../protocol';

export type DiffRow =
  | { readonly kind: 'file'; readonly key: string; readonly file: FileDiffView; readonly closed: boolean }
  | { readonly kind: 'hunk'; readonly key: string; readonly file: FileDiffView; readonly hunk: number; readonly gap: Gap }
  | { readonly kind: 'rest'; readonly key: string; readonly file: FileDiffView; readonly gap: Gap }
  | { readonly kind: 'line'; readonly key: string; readonly line: DiffLine }
  | { readonly kind: 'pair'; readonly key: string; readonly before?: DiffLine; readonly after?: DiffLine }
  | { readonly kind: 'note'; readonly key: string; readonly file: FileDiffView; readonly note: Note };

type Note = 'binary' | 'renamed' | 'mode' | 'empty' | 'folded';

/** Unchanged lines that are not shown. */
export interface Gap {
  readonly id: string;
  /** Unknown after the last hunk, until the whole file is loaded. */
  readonly lines: number | undefined;
  readonly open: boolean;
}

export interface RowOptions {
  readonly sideBySide: boolean;
  /** The header of a file. */
  readonly headers: boolean;
  readonly closed: ReadonlySet<string>;
  /** Unfolded gaps, by id. */
  readonly open: ReadonlySet<string>;
  /** The files that are loaded with all lines. */
  readonly whole: ReadonlyMap<string, FileDiffView>;
  /** The hunks of unfolded files. */
  readonly unfolded: ReadonlyMap<string, FileDiffView>;
}

/** The number of unchanged lines that the core puts around a change. */
const CONTEXT = 3;

export function rowsOf(files: readonly FileDiffView[], options: RowOptions): DiffRow[] {
  return files.flatMap((file) => rowsOfFile(file, options));
}

function rowsOfFile(given: FileDiffView, options: RowOptions): DiffRow[] {
  const closed = options.closed.has(given.path);
  const head: DiffRow[] = options.headers ? [{ kind: 'file', key: `file:${given.path}`, file: given, closed }] : [];
  if (closed) return head;
  const whole = options.whole.get(given.path);
  const file = given.folded === undefined ? given : (options.unfolded.get(given.path) ?? given);
  const note = noteOf(file);
  if (note) return [...head, { kind: 'note', key: `note:${file.path}`, file, note }];
  return [...head, ...hunkRows(file, whole, options)];
}

function noteOf(file: FileDiffView): Note | undefined {
  if (file.folded !== undefined) return 'folded';
  if (file.hunks.length > 0) return undefined;
  if (file.status === 'binary' || file.status === 'renamed' || file.status === 'mode') return file.status;
  return 'empty';
}

function hunkRows(file: FileDiffView, whole: FileDiffView | undefined, options: RowOptions): DiffRow[] {
  const rows: DiffRow[] = [];
  const between = (from: number, to: number) => linesBetween(whole, from, to);
  let shown = 0;
  file.hunks.forEach((hunk, index) => {
    const start = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    const gap = gapOf(file, index, Math.max(0, start - 1 - shown), options);
    rows.push({ kind: 'hunk', key: `hunk:${file.path}:${index}`, file, hunk: index, gap });
    if (gap.open) rows.push(...drawn(between(shown + 1, start - 1), `${gap.id}:`, options));
    rows.push(...drawn(hunk.lines, `${file.path}:${index}:`, options));
    shown = start - 1 + hunk.oldLines;
  });
  if (file.status === 'added' || file.status === 'deleted') return rows;
  const after = whole ? between(shown + 1, Number.POSITIVE_INFINITY) : [];
  const rest = gapOf(file, file.hunks.length, whole ? after.length : linesAfter(file), options);
  if (rest.lines === 0) return rows;
  if (rest.open && whole) return [...rows, ...drawn(after, `${rest.id}:`, options)];
  return [...rows, { kind: 'rest', key: `rest:${file.path}`, file, gap: rest }];
}

/** Fewer context lines than usual after the last change mean that the file ends there. */
function linesAfter({ hunks }: FileDiffView): 0 | undefined {
  const lines = hunks.at(-1)?.lines ?? [];
  const same = lines.length - 1 - lines.findLastIndex((line) => line.kind !== 'context');
  return same < CONTEXT ? 0 : undefined;
}

function gapOf(file: FileDiffView, index: number, lines: number | undefined, options: RowOptions): Gap {
  const id = `${file.path}#${index}`;
  return { id, lines, open: options.open.has(id) && options.whole.has(file.path) };
}

function linesBetween(whole: FileDiffView | undefined, from: number, to: number): DiffLine[] {
  const same = (line: DiffLine) =>
    line.kind === 'context' && line.old !== undefined && line.old >= from && line.old <= to;
  return whole?.hunks.flatMap((hunk) => hunk.lines.filter(same)) ?? [];
}

function drawn(lines: readonly DiffLine[], prefix: string, options: RowOptions): DiffRow[] {
  if (options.sideBySide) return pairs(lines, prefix);
  return lines.map((line, index) => ({ kind: 'line', key: `${prefix}${index}`, line }));
}

/** Pairs a run of deletions with the additions that follow it. */
function pairs(lines: readonly DiffLine[], prefix: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let at = 0;
  const take = (kind: DiffLine['kind']): DiffLine[] => {
    const from = at;
    while (lines[at]?.kind === kind) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    for (const line of take('context')) {
      rows.push({ kind: 'pair', key: `${prefix}${rows.length}`, before: line, after: line });
    }
    const before = take('del');
    const after = take('add');
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      rows.push({ kind: 'pair', key: `${prefix}${rows.length}`, before: before[index], after: after[index] });
    }
  }
  return rows;
}

/** The next or previous hunk; undefined at either end. */
export function hunkFrom(rows: readonly DiffRow[], from: number, step: 1 | -1): number | undefined {
  return rowFrom(rows, from, step, (row) => row.kind === 'hunk' || row.kind === 'note');
}

/** The next or previous file or hunk. */
export function stopFrom(rows: readonly DiffRow[], from: number, step: 1 | -1): number | undefined {
  return rowFrom(rows, from, step, (row) => changeOf(row) !== undefined);
}

/** The file or hunk that a row belongs to. */
export function changeOf(row: DiffRow | undefined): { file: FileDiffView; hunk?: number } | undefined {
  if (row?.kind === 'hunk') return { file: row.file, hunk: row.hunk };
  return row?.kind === 'file' || row?.kind === 'note' ? { file: row.file } : undefined;
}

function rowFrom(
  rows: readonly DiffRow[],
  from: number,
  step: 1 | -1,
  wanted: (row: DiffRow) => boolean,
): number | undefined {
  for (let at = from + step; at >= 0 && at < rows.length; at += step) {
    const row = rows[at];
    if (row && wanted(row)) return at;
  }
  return undefined;
}
