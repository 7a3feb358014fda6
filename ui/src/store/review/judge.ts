/**
 * What a person decides about changes: keep, revert, undo, redo. Each is shown at once where it was
 * clicked, and what was reverted keeps its place for a while. Must not know the DOM.
 */
import { batch, createSignal, untrack, type Accessor } from 'solid-js';
import type { Host } from '../../host/host';
import { en } from '../../i18n/en';
import type {
  ReviewDone,
  ReviewFile,
  ReviewSelection,
  RevertChoice,
  RevertFile,
  RevertLinesOptions,
  RevertLinesPreview,
} from '../../protocol';
import type { Toasts } from '../toasts';
import type { Place } from './files';
import { isUndecided } from './left';

type Deed = 'keep' | 'unkeep' | 'revert' | 'undo' | 'redo' | 'restore';

/** What was clicked on: a file, a hunk of it, some lines, or everything. */
export interface Spot {
  /** Names the row that shows what is being done. */
  readonly key: string;
  readonly selection: ReviewSelection;
  /** Where the hunk began, for the row that stays after it. */
  readonly hunk?: { readonly oldStart: number; readonly lines: number };
}

/** A hunk that was reverted a moment ago. */
export interface Tomb {
  readonly key: string;
  readonly oldStart: number;
  readonly lines: number;
}

/** An undo, or a redo, that met files which were changed since. */
export interface Halted {
  readonly at: Place;
  readonly deed: 'undo' | 'redo';
  readonly files: readonly RevertFile[];
}

/** A revert that needs the person: their edits would be merged, or overlap. */
export interface Asked {
  /** What was looked at when it was asked: the answer is for nothing else. */
  readonly at: Place;
  readonly spot: Spot;
  readonly preview: RevertLinesPreview;
  readonly choices: Readonly<Record<string, RevertChoice>>;
}

export interface Judge {
  /** What is being done at a spot. */
  working(key: string): Deed | undefined;
  readonly anyWorking: Accessor<boolean>;
  readonly asked: Accessor<Asked | undefined>;
  choose(path: string, choice: RevertChoice): void;
  keep(spot: Spot): Promise<void>;
  unkeep(spot: Spot): Promise<void>;
  /** Reverts at once, or asks where a person edited the same file. */
  revert(spot: Spot): Promise<void>;
  /** Reverts what was asked about. */
  confirm(): Promise<void>;
  cancel(): void;
  /** The last action of a session; of the one on screen, unless another is named. */
  undo(sessionID?: string): Promise<void>;
  redo(): Promise<void>;
  /** Files that the person decides about before something is undone or redone. */
  readonly halted: Accessor<Halted | undefined>;
  settle(choices: Readonly<Record<string, RevertChoice>>): Promise<void>;
  /** The files that were reverted and are no longer in the list. */
  readonly gone: Accessor<ReadonlyMap<string, ReviewFile>>;
  tombs(path: string): readonly Tomb[] | undefined;
  /** The row of the newest revert, which offers to undo it. */
  readonly newest: Accessor<string | undefined>;
  /** Forgets what was reverted: the person looks at something else. */
  forget(): void;
}

interface JudgeNeeds {
  readonly host: Pick<
    Host,
    'keepLines' | 'unkeepLines' | 'previewRevertLines' | 'revertLines' | 'undoReview' | 'redoReview'
  >;
  readonly toasts: Toasts;
  readonly place: Accessor<Place | undefined>;
  readonly busy: Accessor<boolean>;
  readonly fileOf: (path: string) => ReviewFile | undefined;
  /** What an action changed is loaded again. */
  readonly took: (done: ReviewDone) => Promise<void>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

function isSamePlace(a: Place, b: Place | undefined): boolean {
  return a.sessionID === b?.sessionID && JSON.stringify(a.scope) === JSON.stringify(b.scope);
}

export function createJudge(needs: JudgeNeeds): Judge {
  const { host, toasts, attempt } = needs;
  const [doing, setDoing] = createSignal<ReadonlyMap<string, Deed>>(new Map());
  const [question, setAsked] = createSignal<Asked | undefined>();
  const asked = () => {
    const now = question();
    return now && isSamePlace(now.at, needs.place()) ? now : undefined;
  };
  const [stuck, setHalted] = createSignal<Halted | undefined>();
  const halted = () => {
    const now = stuck();
    return now && isSamePlace(now.at, needs.place()) ? now : undefined;
  };
  const [gone, setGone] = createSignal<ReadonlyMap<string, ReviewFile>>(new Map());
  const [tombs, setTombs] = createSignal<ReadonlyMap<string, readonly Tomb[]>>(new Map());
  const [newest, setNewest] = createSignal<string | undefined>();

  /** One thing at a time at one spot; the place may be left meanwhile. */
  const run = async (key: string, deed: Deed, work: (at: Place) => Promise<ReviewDone | undefined>) => {
    const at = untrack(needs.place);
    if (!at || untrack(doing).has(key)) return undefined;
    setDoing((now) => new Map(now).set(key, deed));
    try {
      const done = await attempt(() => work(at));
      if (done) await needs.took(done);
      return done;
    } finally {
      setDoing((now) => new Map([...now].filter(([name]) => name !== key)));
    }
  };
  /** One after the other: a second Ctrl+Z is not lost while the first one is still being done. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
  const remember = ({ key, selection, hunk }: Spot, files: readonly ReviewFile[]) =>
    batch(() => {
      setNewest(key);
      if (selection.kind === 'lines' && hunk) {
        const { path } = selection;
        const tomb = { key, ...hunk };
        setTombs((now) => new Map(now).set(path, [...(now.get(path) ?? []).filter((one) => one.key !== key), tomb]));
      }
      setGone((now) => new Map([...now, ...files.map((file) => [file.path, file] as const)]));
    });
  const forget = () =>
    batch(() => {
      setGone(new Map());
      setTombs(new Map());
      setNewest(undefined);
      setAsked(undefined);
      setHalted(undefined);
    });

  const apply = async (spot: Spot, options?: RevertLinesOptions) => {
    const { selection } = spot;
    const sessionID = untrack(needs.place)?.sessionID;
    const one = 'path' in selection ? untrack(() => needs.fileOf(selection.path)) : undefined;
    const before = one ? [one] : [];
    const done = await run(spot.key, 'revert', async (at) => {
      const answer = await (options
        ? host.revertLines(at.sessionID, at.scope, selection, options)
        : host.revertLines(at.sessionID, at.scope, selection));
      if ('path' in selection) remember(spot, before);
      return answer;
    });
    if (!done || selection.kind === 'lines' || sessionID === undefined) return;
    const left = done.done.filter(isUndecided).length;
    toasts.show({
      tone: 'info',
      text: en.review.reverted(done.done.length - left),
      ...(left > 0 && { detail: en.edit.conflicts(left) }),
      action: { label: en.session.undo, run: () => void undo(sessionID) },
    });
  };
  /** Where a person has changed the same lines since, nothing is undone until they have decided. */
  const stays = ({ done }: ReviewDone, deed: Halted['deed'], at: Place | undefined): boolean => {
    const files = done.filter(isUndecided);
    if (files.length === 0) return false;
    if (at && isSamePlace(at, untrack(needs.place))) setHalted({ at, deed, files });
    else toasts.show({ tone: 'info', text: en.review.notUndone, detail: en.edit.conflicts(files.length) });
    return true;
  };
  const replay = async (deed: Halted['deed'], options?: RevertLinesOptions) => {
    if (needs.busy()) return;
    const at = untrack(needs.place);
    const again = deed === 'undo' ? host.undoReview : host.redoReview;
    const done = await inTurn(() => run(deed, deed, ({ sessionID }) => (options ? again(sessionID, options) : again(sessionID))));
    if (done && !stays(done, deed, at) && deed === 'undo') forget();
  };
  const undo = async (sessionID?: string) => {
    if (sessionID !== undefined && sessionID !== untrack(needs.place)?.sessionID) {
      const there = await attempt(() => host.undoReview(sessionID));
      if (there) stays(there, 'undo', undefined);
      return;
    }
    await replay('undo');
  };

  return {
    working: (key) => doing().get(key),
    anyWorking: () => doing().size > 0,
    asked,
    choose: (path, choice) => setAsked((now) => now && { ...now, choices: { ...now.choices, [path]: choice } }),
    async keep({ key, selection }) {
      await run(key, 'keep', (at) => host.keepLines(at.sessionID, at.scope, selection));
    },
    async unkeep({ key, selection }) {
      await run(key, 'unkeep', (at) => host.unkeepLines(at.sessionID, at.scope, selection));
    },
    async revert(spot) {
      const at = untrack(needs.place);
      if (needs.busy() || !at || untrack(doing).has(spot.key)) return;
      setDoing((now) => new Map(now).set(spot.key, 'revert'));
      const preview = await attempt(() => host.previewRevertLines(at.sessionID, at.scope, spot.selection));
      setDoing((now) => new Map([...now].filter(([name]) => name !== spot.key)));
      if (!preview || !isSamePlace(at, needs.place())) return;
      // What is uncommitted may be the person's own work.
      const asks = preview.mustAsk || !('path' in spot.selection) || at.scope.kind === 'uncommitted';
      if (asks) setAsked({ at, spot, preview, choices: {} });
      else await apply(spot);
    },
    async confirm() {
      const now = untrack(asked);
      if (!now) return;
      setAsked(undefined);
      await apply(now.spot, { choices: { ...now.choices } });
    },
    cancel: () => batch(() => (setAsked(undefined), setHalted(undefined))),
    undo,
    redo: () => replay('redo'),
    halted,
    async settle(choices) {
      const now = untrack(halted);
      if (!now) return;
      setHalted(undefined);
      await replay(now.deed, { choices: { ...choices } });
    },
    gone,
    tombs: (path) => tombs().get(path),
    newest,
    forget,
  };
}
