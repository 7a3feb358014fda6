/**
 * A diff that came whole, with its text: of a tool call, or of what a permission is asked for.
 *
 * The rest of a file, and a folded one, are loaded on request. While the diff is loaded again, what was
 * loaded belongs to the file as it was. Must not know the DOM.
 */
import { createMemo, createSignal, type Accessor } from 'solid-js';
import type { DiffLine, FileDiffView } from '../protocol';
import type { DiffBody, DiffFile, DiffSource, Hunk, Run } from './model';

export type Load = ((file: FileDiffView) => Promise<FileDiffView | undefined>) | undefined;

interface Stored {
  readonly files: Accessor<readonly DiffFile[]>;
  readonly source: DiffSource;
}

/** `whole`: loads the file with all unchanged lines. */
export function createStored(files: Accessor<readonly FileDiffView[]>, whole: Accessor<Load>): Stored {
  const known = new Map<string, { file: DiffFile; view: FileDiffView; text: string }>();
  const views = new Map<string, FileDiffView>();
  let count = 0;
  /** The same object as before, if nothing in it changed. */
  const fileOf = (view: FileDiffView): DiffFile => {
    const before = known.get(view.path);
    if (before?.view === view) return before.file;
    const text = JSON.stringify(view);
    if (before?.text === text) return before.file;
    count += 1;
    const { path, oldPath, status, additions, deletions, folded } = view;
    const version = `${count}`;
    const file: DiffFile = { path, status, additions, deletions, version, ...(oldPath && { oldPath }), ...(folded && { folded }) };
    known.set(path, { file, view, text });
    views.set(version, view);
    return file;
  };
  const bodies = new WeakMap<FileDiffView, DiffBody>();
  const wholes = new WeakMap<FileDiffView, DiffBody>();
  const bodyOf = (view: FileDiffView): DiffBody => {
    const made = bodies.get(view) ?? { hunks: view.hunks.map(hunkOf) };
    bodies.set(view, made);
    return made;
  };
  const [loaded, setLoaded] = createSignal<ReadonlyMap<string, FileDiffView>>(new Map());
  const asked = new Set<string>();
  const load = (file: DiffFile) => {
    const view = views.get(file.version);
    const run = whole();
    if (!view || !run || asked.has(file.version)) return;
    asked.add(file.version);
    void run(view).then((found) => {
      if (found) setLoaded((now) => new Map(now).set(file.version, found));
      else asked.delete(file.version);
    });
  };
  const shown = (file: DiffFile): FileDiffView | undefined => {
    const view = views.get(file.version);
    return view?.folded === undefined ? view : loaded().get(file.version);
  };
  const context = (file: DiffFile, newLine: number): DiffLine | undefined => {
    const view = loaded().get(file.version);
    if (!view) {
      load(file);
      return undefined;
    }
    return view.hunks.flatMap(({ lines }) => lines).find((line) => line.kind === 'context' && line.new === newLine);
  };
  return {
    files: createMemo(() => files().map(fileOf)),
    source: {
      load,
      body(file) {
        const view = shown(file);
        if (!view) return undefined;
        const body = bodyOf(view);
        const all = loaded().get(file.version);
        if (!all) return body;
        const whole = wholes.get(all) ?? { ...body, newLines: linesOf(all) };
        wholes.set(all, whole);
        return whole;
      },
      line: (file, hunk, row) => shown(file)?.hunks[hunk]?.lines[row],
      get context() {
        return whole() ? context : undefined;
      },
    },
  };
}

function linesOf({ hunks }: FileDiffView): number {
  return hunks.flatMap(({ lines }) => lines).findLast((line) => line.new !== undefined)?.new ?? 0;
}

function hunkOf({ oldStart, oldLines, newStart, newLines, heading, lines }: FileDiffView['hunks'][number]): Hunk {
  const runs: Run[] = [];
  for (const { kind } of lines) {
    const last = runs.at(-1);
    if (last?.kind === kind) runs[runs.length - 1] = { kind, lines: last.lines + 1 };
    else runs.push({ kind, lines: 1 });
  }
  return { oldStart, oldLines, newStart, newLines, ...(heading !== undefined && { heading }), runs };
}
