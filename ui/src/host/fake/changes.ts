/** What the scripted agent changed, as the core would answer it. */
import type { DiffHunk, DiffLine, FileDiffView } from '../../protocol';

/** Three files: one with two hunks, one new, one folded lock file. */
export const changedFiles: readonly FileDiffView[] = [
  {
    path: 'package-lock.json',
    status: 'modified',
    additions: 412,
    deletions: 398,
    hunks: [],
    folded: 'lockFile',
  },
  {
    path: 'src/lamp.ts',
    status: 'modified',
    additions: 2,
    deletions: 1,
    hunks: [
      {
        oldStart: 3,
        oldLines: 3,
        newStart: 3,
        newLines: 3,
        heading: 'export function light()',
        lines: [
          { kind: 'context', old: 3, new: 3, spans: [{ text: 'export function light() {' }] },
          { kind: 'del', old: 4, spans: [{ text: '  return ' }, { text: '40', mark: true }, { text: ';' }] },
          { kind: 'add', new: 4, spans: [{ text: '  return ' }, { text: '60', mark: true }, { text: ';' }] },
          { kind: 'context', old: 5, new: 5, spans: [{ text: '}' }] },
        ],
      },
      {
        oldStart: 21,
        oldLines: 1,
        newStart: 21,
        newLines: 2,
        lines: [
          { kind: 'context', old: 21, new: 21, spans: [{ text: '// Warm enough for reading.' }] },
          { kind: 'add', new: 22, spans: [{ text: 'export const WARM = 2700;' }] },
        ],
      },
    ],
  },
  {
    path: 'src/wick.ts',
    status: 'added',
    additions: 1,
    deletions: 0,
    hunks: [
      {
        oldStart: 0,
        oldLines: 0,
        newStart: 1,
        newLines: 1,
        lines: [{ kind: 'add', new: 1, spans: [{ text: 'export const wick = true;' }] }],
      },
    ],
  },
];

/** The hunks of the folded file. */
const lockHunks: readonly DiffHunk[] = [
  {
    oldStart: 12,
    oldLines: 2,
    newStart: 12,
    newLines: 2,
    lines: [
      { kind: 'context', old: 12, new: 12, spans: [{ text: '    "node_modules/wick": {' }] },
      { kind: 'del', old: 13, spans: [{ text: '      "version": "1.0.0",' }] },
      { kind: 'add', new: 13, spans: [{ text: '      "version": "1.1.0",' }] },
    ],
  },
  {
    oldStart: 40,
    oldLines: 1,
    newStart: 40,
    newLines: 1,
    lines: [
      { kind: 'del', old: 40, spans: [{ text: '      "version": "2.0.0",' }] },
      { kind: 'add', new: 40, spans: [{ text: '      "version": "2.0.1",' }] },
    ],
  },
];

/** The hunks of a file, also if it is folded. */
export function foldedHunks(file: FileDiffView): readonly DiffHunk[] {
  return file.folded === undefined ? file.hunks : lockHunks;
}

/** A file as `fileDiff` returns it. With `whole` it is one hunk. */
export function drawnFile({ folded, ...file }: FileDiffView, whole: boolean): FileDiffView {
  const hunks = foldedHunks({ ...file, folded });
  if (!whole) return { ...file, hunks: [...hunks] };
  const lines: DiffLine[] = [];
  for (const hunk of hunks) {
    const known = lines.at(-1);
    let [old, fresh] = [(known?.old ?? 0) + 1, (known?.new ?? 0) + 1];
    for (; old < hunk.oldStart; old += 1, fresh += 1) lines.push({ kind: 'context', old, new: fresh, spans: [] });
    lines.push(...hunk.lines);
  }
  const [first, last] = [lines[0], lines.at(-1)];
  const one = { oldStart: first?.old ?? 0, oldLines: last?.old ?? 0, newStart: 1, newLines: last?.new ?? 0 };
  return { ...file, hunks: [{ ...one, lines }] };
}
