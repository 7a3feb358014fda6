/**
 * Converts files and their hunks to rows.
 *
 * Pure. In the side-by-side view, old and new lines are paired. The lines between two hunks are folded,
 * and so are hunks that were kept.
 */
import type { DiffLineKind } from '../protocol';
import { eachLine, type DiffBody, type DiffFile, type Hunk, type LinePlace } from './model';

export type DiffRow =
  | { readonly kind: 'file'; readonly key: string; readonly file: DiffFile; readonly closed: boolean }
  | { readonly kind: 'hunk'; readonly key: string; readonly file: DiffFile; readonly hunk: number; readonly info: Hunk; readonly gap: Gap; readonly closed: boolean }
  | { readonly kind: 'rest'; readonly key: string; readonly file: DiffFile; readonly gap: Gap }
  | { readonly kind: 'line'; readonly key: string; readonly file: DiffFile; readonly hunk: number; readonly cell: Cell }
  | { readonly kind: 'pair'; readonly key: string; readonly file: DiffFile; readonly hunk: number; readonly before?: Cell; readonly after?: Cell }
  | { readonly kind: 'same'; readonly key: string; readonly file: DiffFile; readonly old: number; readonly new: number }
  | { readonly kind: 'note'; readonly key: string; readonly file: DiffFile; readonly note: Note }
  | { readonly kind: 'loading'; readonly key: string; readonly file: DiffFile; readonly lines: number }
  | { readonly kind: 'tomb'; readonly key: string; readonly file: DiffFile; readonly tomb: Tomb }
  | { readonly kind: 'extra'; readonly key: string; readonly file: DiffFile; readonly extra: Extra };

type Note = 'binary' | 'renamed' | 'mode' | 'empty' | 'folded' | 'picture';

/** A line of a hunk, without its text. */
export interface Cell {
  readonly row: number;
  readonly kind: DiffLineKind;
  readonly old?: number;
  readonly new?: number;
  readonly kept?: boolean;
  /** The first of lines that were moved. */
  readonly moved?: { readonly id: number; readonly first: boolean };
}

/** Unchanged lines before a hunk, or after the last one. */
export interface Gap {
  readonly id: string;
  /** How many are hidden; unknown after the last hunk of a diff without the file. */
  readonly hidden: number | undefined;
}

/** Something that belongs below a line: a comment, or the field for one. */
export interface Extra {
  readonly key: string;
  readonly side: 'old' | 'new';
  readonly line: number;
}

/** A hunk that was reverted a moment ago: its row stays where it was. */
export interface Tomb {
  readonly key: string;
  readonly oldStart: number;
  readonly lines: number;
}

/** What the person folded and unfolded in one file. */
export interface FileFolds {
  readonly closed?: boolean;
  /** The lines of a folded file are shown. */
  readonly unfolded?: boolean;
  /** How many lines of a gap are shown, from its end. */
  readonly gaps?: ReadonlyMap<string, number>;
  /** Hunks that are open or closed against their default, by key. */
  readonly hunks?: ReadonlyMap<string, boolean>;
}

export interface RowOptions {
  readonly sideBySide: boolean;
  /** The header of a file. */
  readonly headers: boolean;
  /** Pictures are drawn by what shows the diff. */
  readonly pictures?: boolean;
}

/** The number of unchanged lines that the core puts around a change. */
const CONTEXT = 3;
/** The lines of a gap that one click shows. */
export const GAP_STEP = 20;

const NO_FOLDS: FileFolds = {};
const NO_EXTRAS: readonly Extra[] = [];
const NO_TOMBS: readonly Tomb[] = [];

export interface FileInput {
  readonly file: DiffFile;
  readonly body?: DiffBody;
  readonly folds?: FileFolds;
  readonly extras?: readonly Extra[];
  readonly tombs?: readonly Tomb[];
  /** The body is still that of an earlier version of the file. */
  readonly was?: DiffFile;
}

/** Keeps the rows of files that did not change, so that their elements are reused. */
export function createRows(): (files: readonly FileInput[], options: RowOptions) => DiffRow[] {
  let before = new Map<string, { input: FileInput; options: RowOptions; rows: readonly DiffRow[] }>();
  return (files, options) => {
    const now: typeof before = new Map();
    const rows: DiffRow[] = [];
    for (const given of files) {
      const known = before.get(given.file.path);
      // Until the hunks of a new version are there, those of the last one stay.
      const input = given.body || !known?.input.body ? given : { ...given, body: known.input.body, was: known.input.was ?? known.input.file };
      const kept = known !== undefined && sameInput(known.input, input) && sameOptions(known.options, options);
      const made = kept ? known.rows : reuse(known?.rows ?? [], rowsOfFile(input, options));
      now.set(input.file.path, { input, options, rows: made });
      for (const row of made) rows.push(row);
    }
    before = now;
    return rows;
  };
}

function sameInput(a: FileInput, b: FileInput): boolean {
  return a.file === b.file && a.body === b.body && a.folds === b.folds && a.extras === b.extras && a.tombs === b.tombs && a.was === b.was;
}

function sameOptions(a: RowOptions, b: RowOptions): boolean {
  return a.sideBySide === b.sideBySide && a.headers === b.headers && a.pictures === b.pictures;
}

function reuse(before: readonly DiffRow[], rows: DiffRow[]): DiffRow[] {
  if (before.length === 0) return rows;
  const known = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const old = known.get(row.key);
    return old && sameRow(old, row) ? old : row;
  });
}

function sameRow(a: DiffRow, b: DiffRow): boolean {
  const fields = (row: DiffRow) => JSON.stringify({ ...row, file: row.kind === 'file' || row.kind === 'note' ? row.file : [row.file.path, row.file.version] });
  return fields(a) === fields(b);
}

export function rowsOfFile({ file, body, folds = NO_FOLDS, extras = NO_EXTRAS, tombs = NO_TOMBS, was }: FileInput, options: RowOptions): DiffRow[] {
  const closed = folds.closed ?? file.gone ?? false;
  const head: DiffRow[] = options.headers ? [{ kind: 'file', key: `file:${file.path}`, file, closed }] : [];
  if (closed || file.gone) return head;
  const note = noteOf(file, body, folds, options);
  if (note) return [...head, { kind: 'note', key: `note:${file.path}`, file, note }];
  if (!body) return [...head, { kind: 'loading', key: `loading:${file.path}`, file, lines: estimate(file) }];
  // What was just reverted is not shown again.
  const done = new Set(was ? tombs.map(({ key }) => key) : []);
  const rows = withTombs(file, hunkRows(was ?? file, body, { folds, extras, done }, options), tombs);
  return [...head, ...lostExtras(file, extras, rows), ...rows];
}

/** A reverted hunk stays where it was: the old side does not move. */
function withTombs(file: DiffFile, rows: readonly DiffRow[], tombs: readonly Tomb[]): DiffRow[] {
  const shown = new Set(rows.map(({ key }) => key));
  const left = tombs.filter(({ key }) => !shown.has(key)).sort((a, b) => a.oldStart - b.oldStart);
  if (left.length === 0) return [...rows];
  const drawn = (tomb: Tomb): DiffRow => ({ kind: 'tomb', key: tomb.key, file, tomb });
  const all = rows.flatMap((row) => {
    const before: DiffRow[] = [];
    while (row.kind === 'hunk' && left[0] && left[0].oldStart <= row.info.oldStart) before.push(drawn(left.shift() as Tomb));
    return [...before, row];
  });
  const rest = all.at(-1)?.kind === 'rest' ? all.pop() : undefined;
  return [...all, ...left.map(drawn), ...(rest ? [rest] : [])];
}

/** Comments on lines that are not shown here come before all lines. */
function lostExtras(file: DiffFile, extras: readonly Extra[], rows: readonly DiffRow[]): DiffRow[] {
  if (extras.length === 0) return [];
  const placed = new Set(rows.flatMap((row) => (row.kind === 'extra' ? [row.extra.key] : [])));
  return extras.filter(({ key }) => !placed.has(key)).map((extra) => ({ kind: 'extra', key: `extra:${extra.key}`, file, extra }));
}

function noteOf(file: DiffFile, body: DiffBody | undefined, folds: FileFolds, options: RowOptions): Note | undefined {
  if (file.binary === true || file.status === 'binary') return options.pictures ? 'picture' : 'binary';
  if (file.folded !== undefined && folds.unfolded !== true) return 'folded';
  const same = body ? body.hunks.length === 0 : file.additions + file.deletions === 0;
  if (same && (file.status === 'renamed' || file.status === 'mode')) return file.status;
  return body && same ? 'empty' : undefined;
}

/** Until the hunks are known: about as many rows as they will take. */
function estimate({ additions, deletions }: DiffFile): number {
  return additions + deletions + 2 * CONTEXT + 1;
}

export function hunkKey(file: DiffFile, hunk: Hunk): string {
  return `hunk:${file.path}:${hunk.oldStart}`;
}

interface HunkInput {
  readonly folds: FileFolds;
  readonly extras: readonly Extra[];
  /** Hunks that are not drawn. */
  readonly done: ReadonlySet<string>;
}

function hunkRows(file: DiffFile, body: DiffBody, { folds, extras, done }: HunkInput, options: RowOptions): DiffRow[] {
  const rows: DiffRow[] = [];
  /** The last shown line of each side. */
  let shown = { old: 0, new: 0 };
  const gap = (id: string, hidden: number, beforeOld: number): { gap: Gap; same: DiffRow[] } => {
    const open = Math.min(folds.gaps?.get(id) ?? 0, hidden);
    const shift = shown.new - shown.old;
    const same = Array.from({ length: open }, (_, index): DiffRow => {
      const old = beforeOld - open + index;
      return { kind: 'same', key: `same:${file.path}:${old}`, file, old, new: old + shift };
    });
    return { gap: { id, hidden: hidden - open }, same };
  };
  body.hunks.forEach((hunk, index) => {
    const oldStart = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
    const newStart = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
    const key = hunkKey(file, hunk);
    const closed = folds.hunks?.get(key) ?? hunk.kept === 'all';
    const made = gap(`${file.path}#${hunk.oldStart}`, Math.max(0, oldStart - 1 - shown.old), oldStart);
    if (!done.has(key)) rows.push({ kind: 'hunk', key, file, hunk: index, info: hunk, gap: made.gap, closed }, ...made.same);
    if (!closed && !done.has(key)) rows.push(...linesOf(file, index, hunk, extras, options));
    shown = { old: oldStart - 1 + hunk.oldLines, new: newStart - 1 + hunk.newLines };
  });
  if (file.status === 'added' || file.status === 'deleted') return rows;
  return [...rows, ...restRows(file, body, folds, shown)];
}

/** What comes after the last change. It opens from its beginning. */
function restRows(file: DiffFile, body: DiffBody, folds: FileFolds, shown: { old: number; new: number }): DiffRow[] {
  const id = `${file.path}#rest`;
  const after = body.newLines === undefined ? linesAfter(body) : Math.max(0, body.newLines - shown.new);
  if (after === 0) return [];
  const wanted = folds.gaps?.get(id) ?? 0;
  // How many there are is known once the file is loaded, for which one line is asked for.
  const open = after === undefined ? Math.min(wanted, 1) : Math.min(wanted, after);
  const same = Array.from({ length: open }, (_, index): DiffRow => {
    const [old, fresh] = [shown.old + 1 + index, shown.new + 1 + index];
    return { kind: 'same', key: `same:${file.path}:${old}`, file, old, new: fresh };
  });
  const hidden = after === undefined ? undefined : after - open;
  if (hidden === 0) return same;
  return [...same, { kind: 'rest', key: `rest:${file.path}`, file, gap: { id, hidden } }];
}

/** Fewer context lines than usual after the last change mean that the file ends there. */
function linesAfter({ hunks }: DiffBody): 0 | undefined {
  const last = hunks.at(-1)?.runs.at(-1);
  return last?.kind !== 'context' || last.lines < CONTEXT ? 0 : undefined;
}

function linesOf(file: DiffFile, index: number, hunk: Hunk, extras: readonly Extra[], options: RowOptions): DiffRow[] {
  const cells: Cell[] = [];
  let moved: LinePlace['run'] | undefined;
  eachLine(hunk, ({ run, ...line }) => {
    const first = run !== moved;
    moved = run;
    cells.push({ ...line, ...(run.kept && { kept: true }), ...(run.moved !== undefined && { moved: { id: run.moved, first } }) });
  });
  const prefix = `${file.path}:${hunk.oldStart}:`;
  const drawn: DiffRow[] = options.sideBySide && file.status !== 'added' && file.status !== 'deleted'
    ? pairs(file, index, cells, prefix)
    : cells.map((cell) => ({ kind: 'line', key: `${prefix}${cell.row}`, file, hunk: index, cell }));
  return extras.length === 0 ? drawn : drawn.flatMap((row) => [row, ...extrasAt(row, extras)]);
}

function extrasAt(row: DiffRow, extras: readonly Extra[]): DiffRow[] {
  const cells = row.kind === 'line' ? [row.cell] : row.kind === 'pair' ? [row.before, row.after] : [];
  const here = extras.filter(({ side, line }) => cells.some((cell) => cell !== undefined && onSide(cell, side) === line));
  return here.map((extra) => ({ kind: 'extra', key: `extra:${extra.key}`, file: row.file, extra }));
}

/** The number of a line on a side. A context line is on both, and counts on the new one. */
function onSide(cell: Cell, side: 'old' | 'new'): number | undefined {
  if (side === 'new') return cell.new;
  return cell.kind === 'del' ? cell.old : undefined;
}

/** Pairs a run of deletions with the additions that follow it. */
function pairs(file: DiffFile, hunk: number, cells: readonly Cell[], prefix: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let at = 0;
  const take = (kind: DiffLineKind): Cell[] => {
    const from = at;
    while (cells[at]?.kind === kind) at += 1;
    return cells.slice(from, at);
  };
  const push = (before: Cell | undefined, after: Cell | undefined) => {
    const key = `${prefix}${(before ?? after)?.row ?? 0}`;
    rows.push({ kind: 'pair', key, file, hunk, ...(before && { before }), ...(after && { after }) });
  };
  while (at < cells.length) {
    for (const cell of take('context')) push(cell, cell);
    const before = take('del');
    const after = take('add');
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) push(before[index], after[index]);
  }
  return rows;
}

/** The next or previous hunk; undefined at either end. */
export function hunkFrom(rows: readonly DiffRow[], from: number, step: 1 | -1): number | undefined {
  return rowFrom(rows, from, step, (row) => row.kind === 'hunk' || row.kind === 'note');
}

export function fileFrom(rows: readonly DiffRow[], from: number, step: 1 | -1): number | undefined {
  return rowFrom(rows, from, step, (row) => row.kind === 'file');
}

/** The next or previous file or hunk. */
export function stopFrom(rows: readonly DiffRow[], from: number, step: 1 | -1): number | undefined {
  return rowFrom(rows, from, step, (row) => changeOf(row) !== undefined);
}

/** The file or hunk that a row belongs to. */
export function changeOf(row: DiffRow | undefined): { file: DiffFile; hunk?: number } | undefined {
  if (row?.kind === 'hunk') return { file: row.file, hunk: row.hunk };
  return row?.kind === 'file' || row?.kind === 'note' || row?.kind === 'tomb' ? { file: row.file } : undefined;
}

function rowFrom(rows: readonly DiffRow[], from: number, step: 1 | -1, wanted: (row: DiffRow) => boolean): number | undefined {
  for (let at = from + step; at >= 0 && at < rows.length; at += step) {
    const row = rows[at];
    if (row && wanted(row)) return at;
  }
  return undefined;
}
