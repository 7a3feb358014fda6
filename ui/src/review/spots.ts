/** What an action is about: a file, a hunk, or selected lines. Pure. */
import { changedNumbers, changedRows, numbersIn, type DiffFile, type Hunk, type RowRange } from '../diff/model';
import type { Spot } from '../store/review/judge';
import { hunkKey } from '../diff/rows';

export const ALL: Spot = { key: 'all', selection: { kind: 'all' } };

type FileName = Pick<DiffFile, 'path' | 'version'>;

/** All files as they are on screen, and not what comes meanwhile. */
export function shownSpot(files: readonly FileName[]): Spot {
  return { key: 'all', selection: { kind: 'files', files: files.map(({ path, version }) => ({ path, version })) } };
}

export function fileSpot({ path, version }: FileName): Spot {
  return { key: `file:${path}`, selection: { kind: 'file', path, version } };
}

export function hunkSpot(file: DiffFile, hunk: Hunk): Spot {
  const { path, version } = file;
  const { oldStart } = hunk;
  const lines = hunk.runs.reduce((sum, run) => sum + (run.kind === 'context' ? 0 : run.lines), 0);
  return {
    key: hunkKey(file, hunk),
    // Only what is shown: with white space hidden, its context may have changed as well.
    selection: { kind: 'lines', path, version, ...changedNumbers(hunk) },
    hunk: { oldStart, lines },
  };
}

export function rangeSpot(range: RowRange, hunk: Hunk): Spot {
  const { path, version, from, to } = range;
  const sides = numbersIn(hunk, from, to);
  return {
    key: `lines:${path}:${hunk.oldStart}:${from}-${to}`,
    selection: { kind: 'lines', path, version, old: sides.old ? [sides.old] : [], new: sides.new ? [sides.new] : [] },
  };
}

/** The line at which an editor opens a change. */
export function lineOf(hunk: Hunk | undefined): number | undefined {
  if (!hunk) return undefined;
  const { from } = changedRows(hunk);
  let line = hunk.newLines === 0 ? hunk.newStart : hunk.newStart;
  let at = 0;
  for (const run of hunk.runs) {
    for (let index = 0; index < run.lines; index += 1, at += 1) {
      if (at === from) return Math.max(1, line);
      if (run.kind !== 'del') line += 1;
    }
  }
  return Math.max(1, line);
}
