/**
 * What the diff view draws: files, their hunks as runs of lines, and where the text comes from.
 *
 * The runs alone give the place of every row, so that the text of a long diff is loaded only where it
 * is on screen. Pure types; knows neither the core nor the review.
 */
import type { DiffLine, DiffLineKind, DiffStatus, FoldReason, ReviewDoubt } from '../protocol';

export interface DiffFile {
  readonly path: string;
  readonly oldPath?: string;
  readonly status: DiffStatus;
  readonly binary?: boolean;
  readonly oldMode?: string;
  readonly mode?: string;
  readonly additions: number;
  readonly deletions: number;
  readonly folded?: FoldReason;
  /** Names both contents: whatever was loaded of another version does not fit. */
  readonly version: string;
  /** Something else than the agent changed it since. */
  readonly edited?: boolean;
  /** Why not all of it is known to be the agent's. */
  readonly doubt?: ReviewDoubt;
  readonly kept?: Kept;
  /** It was reverted a moment ago, and keeps its place until the person looks elsewhere. */
  readonly gone?: boolean;
}

export type Kept = 'none' | 'some' | 'all';

/** Lines of one kind that follow one another. */
export interface Run {
  readonly kind: DiffLineKind;
  readonly lines: number;
  readonly kept?: boolean;
  /** The same number where these lines came from, or went to. */
  readonly moved?: number;
}

export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly heading?: string;
  readonly runs: readonly Run[];
  readonly kept?: Kept;
}

export interface DiffBody {
  /** The lines of the whole file on the new side; unknown where only the changes are known. */
  readonly newLines?: number;
  readonly hunks: readonly Hunk[];
}

/** Where bodies and text come from. All of it is reactive, and undefined until it is loaded. */
export interface DiffSource {
  /** Does not load it: a long list of files is loaded as it comes into view. */
  body(file: DiffFile): DiffBody | undefined;
  load(file: DiffFile): void;
  /** Why the body could not be loaded. */
  problem?(file: DiffFile): string | undefined;
  /** The text of a row of a hunk. Loads it. */
  line(file: DiffFile, hunk: number, row: number): DiffLine | undefined;
  /** An unchanged line, by its number on the new side. Loads it. Without it, gaps stay closed. */
  readonly context?: ((file: DiffFile, newLine: number) => DiffLine | undefined) | undefined;
}

/** Rows of one hunk, by their place in the unified order. */
export interface RowRange {
  readonly path: string;
  readonly version: string;
  readonly hunk: number;
  readonly from: number;
  readonly to: number;
}

export interface LineNumbers {
  readonly from: number;
  readonly to: number;
}

/** The line numbers of rows of a hunk on each side, context lines included. */
export function numbersIn(hunk: Hunk, from: number, to: number): { old?: LineNumbers; new?: LineNumbers } {
  const found: { old?: LineNumbers; new?: LineNumbers } = {};
  eachLine(hunk, (line) => {
    if (line.row < from || line.row > to) return;
    if (line.old !== undefined) found.old = { from: found.old?.from ?? line.old, to: line.old };
    if (line.new !== undefined) found.new = { from: found.new?.from ?? line.new, to: line.new };
  });
  return found;
}

/** One line of a hunk, without its text. */
export interface LinePlace {
  readonly row: number;
  readonly kind: DiffLineKind;
  readonly old?: number;
  readonly new?: number;
  readonly run: Run;
}

export function eachLine(hunk: Hunk, tell: (line: LinePlace) => void): void {
  let row = 0;
  let old = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
  let fresh = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
  for (const run of hunk.runs) {
    for (let index = 0; index < run.lines; index += 1) {
      const { kind } = run;
      tell({ row, kind, ...(kind !== 'add' && { old }), ...(kind !== 'del' && { new: fresh }), run });
      row += 1;
      if (kind !== 'add') old += 1;
      if (kind !== 'del') fresh += 1;
    }
  }
}

/** Lines of one side of a file. */
export interface LinePosition extends LineNumbers {
  readonly side: 'old' | 'new';
}

/** Where a comment on these rows belongs: the new side, unless they are all deleted. */
export function commentPlace(range: RowRange, hunk: Hunk): LinePosition {
  const sides = numbersIn(hunk, range.from, range.to);
  if (sides.new) return { side: 'new', ...sides.new };
  return { side: 'old', ...(sides.old ?? { from: hunk.oldStart, to: hunk.oldStart }) };
}

/** The numbers of the lines that are shown as changed, in ranges. */
export function changedNumbers(hunk: Hunk): { old: LineNumbers[]; new: LineNumbers[] } {
  const found: { old: LineNumbers[]; new: LineNumbers[] } = { old: [], new: [] };
  const add = (ranges: LineNumbers[], number: number | undefined) => {
    if (number === undefined) return;
    const last = ranges.at(-1);
    if (last?.to === number - 1) ranges[ranges.length - 1] = { from: last.from, to: number };
    else ranges.push({ from: number, to: number });
  };
  eachLine(hunk, (line) => {
    if (line.kind === 'context') return;
    add(found.old, line.old);
    add(found.new, line.new);
  });
  return found;
}

/** All changed rows of a hunk, without the context around them. */
export function changedRows(hunk: Hunk): { from: number; to: number } {
  let at = 0;
  let [from, to] = [-1, 0];
  for (const run of hunk.runs) {
    if (run.kind !== 'context') {
      if (from === -1) from = at;
      to = at + run.lines - 1;
    }
    at += run.lines;
  }
  return { from: Math.max(0, from), to };
}
