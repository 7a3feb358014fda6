/**
 * What the person folded and unfolded in a diff.
 *
 * The diff is loaded again while the agent works. Loaded lines belong to the file as it was then: they
 * are dropped when the file changes, and an unfolded file is loaded again. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, type Accessor } from 'solid-js';
import type { FileDiffView } from '../protocol';
import type { RowOptions } from './rows';

type Load = ((file: FileDiffView) => Promise<FileDiffView | undefined>) | undefined;

interface UnfoldingNeeds {
  readonly files: Accessor<readonly FileDiffView[]>;
  /** Loads the file with all unchanged lines. */
  readonly whole: Accessor<Load>;
  /** Loads the hunks of a folded file; without it, the whole file is shown. */
  readonly unfolded: Accessor<Load>;
}

interface Unfolding {
  readonly options: Accessor<Pick<RowOptions, 'closed' | 'open' | 'whole' | 'unfolded'>>;
  toggle(path: string): void;
  /** Unfolds a gap or a file. */
  unfold(file: FileDiffView, gap: string | undefined): Promise<void>;
}

/** What was loaded for a file. */
interface Read {
  readonly of: FileDiffView;
  readonly view: FileDiffView;
}

interface Whole extends Read {
  /** The unfolded gaps, by id. */
  readonly open: ReadonlySet<string>;
}

export function createUnfolding(needs: UnfoldingNeeds): Unfolding {
  const { files } = needs;
  const [closed, setClosed] = createSignal<ReadonlySet<string>>(new Set());
  const [unfolded, setUnfolded] = createSignal<ReadonlyMap<string, Read>>(new Map());
  const [whole, setWhole] = createSignal<ReadonlyMap<string, Whole>>(new Map());
  const given = (path: string) => files().find((file) => file.path === path);
  /** The file as it is shown. */
  const drawn = (path: string) => {
    const file = given(path);
    return file?.folded === undefined ? file : (unfolded().get(path)?.view ?? file);
  };
  const current = createMemo(() => [...whole()].filter(([path, { of }]) => sameChange(of, drawn(path))));

  const load = async (file: FileDiffView): Promise<void> => {
    const { path } = file;
    const hunksOnly = needs.unfolded();
    const view = await (hunksOnly ?? needs.whole())?.(file);
    const now = given(path);
    // The diff was loaded again in the meantime; unfolded files are loaded below.
    if (now !== file) return now?.folded === undefined || unfolded().has(path) ? undefined : load(now);
    if (view && !hunksOnly) setWhole((now) => new Map(now).set(path, { of: view, view, open: new Set() }));
    setUnfolded((now) => (view ? new Map(now).set(path, { of: file, view }) : without(now, path)));
  };

  /** Files that are being loaded again. */
  const asked = new Map<string, FileDiffView>();
  createEffect(() => {
    for (const [path, { of }] of unfolded()) {
      const file = given(path);
      if (file?.folded === undefined) setUnfolded((now) => without(now, path));
      else if (file !== of && asked.get(path) !== file) {
        asked.set(path, file);
        void load(file);
      }
    }
  });

  return {
    options: createMemo(() => ({
      closed: closed(),
      open: new Set(current().flatMap(([, { open }]) => [...open])),
      whole: new Map(current().map(([path, { view }]) => [path, view])),
      unfolded: new Map([...unfolded()].map(([path, { view }]) => [path, view])),
    })),
    toggle: (path) =>
      setClosed((now) => {
        const next = new Set(now);
        if (!next.delete(path)) next.add(path);
        return next;
      }),
    async unfold(file, gap) {
      if (gap === undefined) return load(file);
      const { path } = file;
      const known = current().find(([name]) => name === path)?.[1];
      const view = known?.view ?? (await needs.whole()?.(file));
      if (!view) return;
      setWhole((now) => {
        const before = now.get(path);
        // Two gaps unfolded at once load the same file twice.
        const open = new Set(before && sameChange(before.of, file) ? before.open : []).add(gap);
        return new Map(now).set(path, { of: file, view, open });
      });
    },
  };
}

/** After a reload a file is a new object, but its lines may be the same. */
function sameChange(a: FileDiffView, b: FileDiffView | undefined): boolean {
  return a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
}

function without<V>(all: ReadonlyMap<string, V>, one: string): ReadonlyMap<string, V> {
  return new Map([...all].filter(([key]) => key !== one));
}
