/** What the person folded and unfolded in a diff, by path. It stays while the diff is loaded again. */
import { createSignal } from 'solid-js';
import type { Hunk } from './model';
import type { DiffFile } from './model';
import { hunkKey, type FileFolds } from './rows';

export interface Folds {
  of(path: string): FileFolds | undefined;
  toggle(file: DiffFile): void;
  setClosed(path: string, closed: boolean | undefined): void;
  /** Shows the lines of a folded file. */
  unfold(path: string): void;
  /** Shows so many more lines of a gap. */
  open(path: string, gap: string, lines: number): void;
  toggleHunk(file: DiffFile, hunk: Hunk): void;
  /** Back to the default: open, or closed where it was kept. */
  forgetHunks(path: string): void;
}

export function createFolds(): Folds {
  const [all, setAll] = createSignal<ReadonlyMap<string, FileFolds>>(new Map());
  const change = (path: string, make: (now: FileFolds) => FileFolds) =>
    setAll((now) => new Map(now).set(path, make(now.get(path) ?? {})));
  const setClosed = (path: string, closed: boolean | undefined) =>
    change(path, ({ closed: _closed, ...now }) => (closed === undefined ? now : { ...now, closed }));
  return {
    of: (path) => all().get(path),
    toggle: (file) => setClosed(file.path, !(all().get(file.path)?.closed ?? file.gone ?? false)),
    setClosed,
    unfold: (path) => change(path, (now) => ({ ...now, unfolded: true })),
    open: (path, gap, lines) =>
      change(path, (now) => ({ ...now, gaps: new Map(now.gaps).set(gap, (now.gaps?.get(gap) ?? 0) + lines) })),
    toggleHunk: (file, hunk) =>
      change(file.path, (now) => {
        const key = hunkKey(file, hunk);
        return { ...now, hunks: new Map(now.hunks).set(key, !(now.hunks?.get(key) ?? hunk.kept === 'all')) };
      }),
    forgetHunks: (path) => change(path, ({ hunks: _hunks, ...now }) => now),
  };
}
