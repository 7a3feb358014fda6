/**
 * The hunks of the files of a review, and the text of the lines that are on screen.
 *
 * Everything belongs to a scope and to a version of a file, and is dropped with it. Must not know the DOM.
 */
import { createSignal, untrack, type Accessor, type Signal } from 'solid-js';
import { uiError, type Host } from '../../host/host';
import type { DiffLine, ReviewFile, ReviewFileDiff, ReviewScope } from '../../protocol';

/** Rows that are loaded together. */
const CHUNK = 200;
/** Chunks that stay loaded: far more than are on screen, however long the diff is. */
const MOST_CHUNKS = 250;

interface SourceNeeds {
  readonly host: Pick<Host, 'reviewFile' | 'reviewLines' | 'reviewContext'>;
  readonly place: Accessor<{ readonly sessionID: string; readonly scope: ReviewScope } | undefined>;
  readonly ignoreWhitespace: Accessor<boolean>;
  /** A file has a newer version than the one in the list. */
  readonly outdated: () => void;
}

export type FileName = Pick<ReviewFile, 'path' | 'version'>;

export interface ReviewSource {
  body(file: FileName): ReviewFileDiff | undefined;
  load(file: FileName): void;
  problem(file: FileName): string | undefined;
  line(file: FileName, hunk: number, row: number): DiffLine | undefined;
  context(file: FileName, newLine: number): DiffLine | undefined;
  /** What is kept has changed: their hunks are loaded again, and stay until then. */
  refresh(paths: readonly string[]): Promise<void>;
}

type Loaded<T> = { readonly value?: T; readonly error?: string };

export function createReviewSource({ host, place, ignoreWhitespace, outdated }: SourceNeeds): ReviewSource {
  const asked = new Set<string>();
  const cache = new Map<string, Signal<Loaded<unknown>>>();
  let session: string | undefined;
  const where = () => {
    const now = place();
    // What another session had is not needed again.
    if (now && now.sessionID !== session) {
      session = now.sessionID;
      cache.clear();
      asked.clear();
      bodies.clear();
      recent.clear();
    }
    return now === undefined ? undefined : { ...now, key: `${now.sessionID} ${JSON.stringify(now.scope)} ${ignoreWhitespace()}` };
  };
  const peek = <T>(key: string): Signal<Loaded<T>> => {
    const known = cache.get(key);
    if (known) return known as Signal<Loaded<T>>;
    const signal = createSignal<Loaded<T>>({});
    cache.set(key, signal as Signal<Loaded<unknown>>);
    return signal;
  };
  const fetch = <T>(key: string, work: () => Promise<T>) => {
    if (asked.has(key)) return;
    asked.add(key);
    const [, set] = peek<T>(key);
    void work().then(
      (value) => set(() => ({ value })),
      (error) => set(() => ({ error: uiError(error).message })),
    );
  };
  /** The hunks that were loaded: how they are loaded again. */
  const bodies = new Map<string, { readonly path: string; readonly load: () => Promise<ReviewFileDiff> }>();
  const bodyKey = (at: string, file: FileName) => `${at} ${file.path} ${file.version} body`;
  const shown = (file: FileName) => {
    const at = where();
    return at && peek<ReviewFileDiff>(bodyKey(at.key, file))[0]();
  };
  /** The chunks that were read last, the newest last. */
  const recent = new Set<string>();
  const touch = (key: string) => {
    recent.delete(key);
    recent.add(key);
    if (recent.size <= MOST_CHUNKS) return;
    const [oldest] = recent;
    if (oldest === undefined) return;
    for (const all of [recent, cache, asked]) all.delete(oldest);
  };
  /** Rows and context lines come in chunks; every reader of one depends on that chunk. */
  const inChunk = (file: FileName, name: string, index: number, work: (from: number) => Promise<DiffLine[]>): DiffLine | undefined => {
    const at = where();
    if (!at) return undefined;
    const chunk = Math.floor(index / CHUNK);
    const key = `${at.key} ${file.path} ${file.version} ${name} ${chunk}`;
    touch(key);
    const [get] = peek<DiffLine[]>(key);
    untrack(() => fetch(key, () => work(chunk * CHUNK)));
    return get().value?.[index - chunk * CHUNK];
  };

  return {
    body: (file) => shown(file)?.value,
    problem: (file) => shown(file)?.error,
    load(file) {
      const at = where();
      if (!at) return;
      const ignore = ignoreWhitespace();
      const key = bodyKey(at.key, file);
      const load = () => host.reviewFile(at.sessionID, at.scope, file.path, ignore);
      bodies.set(key, { path: file.path, load });
      if (asked.has(key)) return;
      asked.add(key);
      const [, set] = peek<ReviewFileDiff>(key);
      void load().then(
        (value) => {
          // It was changed meanwhile: nothing can be done with these lines under the old name.
          if (value.version !== file.version) outdated();
          else set(() => ({ value }));
        },
        (error) => set(() => ({ error: uiError(error).message })),
      );
    },
    async refresh(paths) {
      const wanted = [...bodies].filter(([key, { path }]) => paths.includes(path) && cache.has(key));
      const again = wanted.map(async ([key, { load }]) => {
        const [get, set] = peek<ReviewFileDiff>(key);
        const now = await load().catch(() => undefined);
        // Of another version it is loaded under that one.
        const before = untrack(get).value;
        if (now && now.version === before?.version) set(() => ({ value: now }));
      });
      await Promise.all(again);
    },
    line(file, hunk, row) {
      const at = where();
      const body = shown(file)?.value;
      const rows = body?.hunks[hunk]?.runs.reduce((sum, run) => sum + run.lines, 0) ?? 0;
      if (!at || row >= rows) return undefined;
      const ignore = ignoreWhitespace();
      return inChunk(file, `hunk ${hunk}`, row, (from) =>
        host.reviewLines(at.sessionID, at.scope, file.path, file.version, ignore, hunk, from, Math.min(rows, from + CHUNK)),
      );
    },
    context(file, newLine) {
      const at = where();
      const last = shown(file)?.value?.newLines ?? 0;
      if (!at || newLine > last) return undefined;
      return inChunk(file, 'context', newLine - 1, (from) =>
        host.reviewContext(at.sessionID, at.scope, file.path, file.version, from + 1, Math.min(last, from + CHUNK)),
      );
    },
  };
}
