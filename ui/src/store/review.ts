/**
 * The review pane: what to look at, and reverts of messages and snapshots. One slice of the state; its
 * files, decisions, comments and steps are in `review/`. Must not know the DOM.
 */
import { batch, createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { Host } from '../host/host';
import { en } from '../i18n/en';
import type {
  RevertChoice,
  RevertOptions,
  RevertOutcome,
  RevertPreview,
  RevertTarget,
  ReviewDone,
  ReviewFile,
  ReviewScope,
  Session,
  UiUpdate,
} from '../protocol';
import type { Consent } from './consent';
import { createComments, type Comments } from './review/comments';
import { createReviewFiles, type FilesOfReview, type Place } from './review/files';
import { createJudge, type Judge } from './review/judge';
import { isLeft, isUndecided } from './review/left';
import { createReviewSource, type ReviewSource } from './review/source';
import { createSteps, type Steps } from './review/steps';
import { createReviewView, type ReviewView } from './review/view';
import type { OpenSession } from './timeline';
import type { Toasts } from './toasts';

/** What to open the review at. */
export interface Wanted {
  /** Without it, the last choice stays. */
  readonly scope?: ReviewScope;
  /** The file to scroll to. */
  readonly path?: string;
}

const SESSION: ReviewScope = { kind: 'session' };

/** A revert that waits for confirmation, with its preview. */
export interface Pending {
  readonly target: RevertTarget;
  readonly preview: RevertPreview;
  /** It was done already, as far as it could be without the person. */
  readonly again: boolean;
}

/** What the person has decided about files that would stay as they are, by path. */
export type Choices = Readonly<Record<string, RevertChoice>>;

export interface Review {
  readonly shown: Accessor<boolean>;
  /** The person has closed it: it does not open by itself. */
  readonly dismissed: Accessor<boolean>;
  readonly scope: Accessor<ReviewScope>;
  setScope(scope: ReviewScope): void;
  /** The file that was asked for last. A new object with every request. */
  readonly wanted: Accessor<Wanted>;
  readonly files: FilesOfReview;
  readonly source: ReviewSource;
  readonly judge: Judge;
  readonly comments: Comments;
  readonly steps: Steps;
  readonly view: ReviewView;
  setViewed(file: ReviewFile, viewed: boolean): Promise<void>;
  /** Brings the files to a step, after its preview was confirmed. */
  restore(options?: RevertOptions): Promise<void>;
  /** Events of the core about files and marks. */
  hear(update: UiUpdate): void;
  readonly pending: Accessor<Pending | undefined>;
  /** Whether there is a revert that can be undone. */
  readonly canUndo: Accessor<boolean>;
  open(wanted?: Wanted): void;
  /** `forGood`: the person closed it. */
  close(forGood?: boolean): void;
  toggle(): void;
  /** What the person has decided about the files of the pending revert. */
  readonly choices: Accessor<Choices>;
  /** Messages are to be hidden even if something cannot be reverted. */
  readonly forced: Accessor<boolean>;
  choose(choice: RevertChoice, ...paths: string[]): void;
  setForced(forced: boolean): void;
  /** Loads and shows the preview of a revert. */
  ask(target: RevertTarget): Promise<void>;
  /**
   * After a revert that left something: lets the person decide. Resolves to what came of it, or undefined if
   * the person leaves it so.
   */
  settle(target: RevertTarget): Promise<RevertOutcome | undefined>;
  cancel(): void;
  /** Runs the pending revert. */
  confirm(): Promise<void>;
  /** A revert was done elsewhere: it can be undone here. */
  noteDone(outcome: RevertOutcome): void;
  /** Undoes the last revert of the open session, or of another one. */
  undo(sessionID?: string): Promise<void>;
}

interface ReviewNeeds {
  readonly host: Host;
  readonly toasts: Toasts;
  readonly selected: Accessor<string | undefined>;
  readonly session: Accessor<Session | undefined>;
  readonly opened: Accessor<OpenSession | undefined>;
  readonly busy: Accessor<boolean>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'> | undefined;
  readonly confirmFinal: Consent;
  /** Lets the person decide about files that were not restored. */
  settleRestored(outcome: RevertOutcome): void;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

const DISMISSED = 'review.dismissed';

function sameScope(a: ReviewScope, b: ReviewScope): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function createReview(needs: ReviewNeeds): Review {
  const { host, attempt, toasts, selected } = needs;
  const [shown, setShown] = createSignal(false);
  const [dismissed, setDismissed] = createSignal(needs.storage?.getItem(DISMISSED) === 'yes');
  /** Each session keeps its own choice. */
  const [scopes, setScopes] = createSignal<ReadonlyMap<string, ReviewScope>>(new Map());
  const scope = createMemo(() => scopes().get(selected() ?? '') ?? SESSION, undefined, { equals: sameScope });
  const [wanted, setWanted] = createSignal<Wanted>({});
  const [pending, setWaiting] = createSignal<Pending | undefined>();
  const [choices, setChoices] = createSignal<Choices>({});
  const [forced, setForced] = createSignal(false);
  /** Waits for the end of the pending revert. */
  let ended: ((outcome: RevertOutcome | undefined) => void) | undefined;
  const setPending = (next: Pending | undefined, outcome?: RevertOutcome) => {
    const waits = ended;
    ended = undefined;
    batch(() => {
      setWaiting(next);
      setChoices({});
      setForced(false);
    });
    waits?.(outcome);
  };
  /** Changes with every action, and with what the core tells. */
  const [turn, setTurn] = createSignal(0);
  /** The number of undoable reverts after the last one here. */
  const [since, setSince] = createSignal<{ readonly sessionID: string; readonly undoable: number } | undefined>();

  // Belongs to one session; a session that is opened brings its own number.
  createEffect(on(selected, () => (setWanted({}), setPending(undefined), setSince(undefined), judge.forget()), { defer: true }));

  const view = createReviewView(needs.storage);
  const place = createMemo<Place | undefined>(
    () => {
      const id = selected();
      return shown() && id !== undefined ? { sessionID: id, scope: scope() } : undefined;
    },
    undefined,
    { equals: (a, b) => a?.sessionID === b?.sessionID && a?.scope === b?.scope },
  );
  /** Changes whenever files may have changed. */
  const moment = createMemo(() => {
    const { summary, revert } = needs.session() ?? {};
    const counts = [summary?.additions, summary?.deletions, revert?.messageID];
    return JSON.stringify([turn(), changesIn(needs.opened()), ...counts, needs.busy()]);
  });
  const files = createReviewFiles({ host, place, moment });
  const source = createReviewSource({
    host,
    place,
    ignoreWhitespace: () => view.state.ignoreWhitespace,
    outdated: () => void files.again(),
  });
  const again = () => setTurn((count) => count + 1);
  const took = async ({ changed }: Pick<ReviewDone, 'changed'>) => {
    await Promise.all([source.refresh(changed), files.again()]);
  };
  const setScope = (next: ReviewScope) => {
    const id = selected();
    if (id === undefined) return;
    judge.forget();
    setScopes((now) => new Map(now).set(id, next));
  };
  const judge = createJudge({
    host,
    toasts,
    place,
    busy: needs.busy,
    fileOf: (path) => files.found()?.files.find((file) => file.path === path),
    took,
    attempt,
  });
  const comments = createComments({ host, place, took, attempt, confirmFinal: needs.confirmFinal });
  const steps = createSteps({
    host,
    sessionID: () => place()?.sessionID,
    moment,
    scope,
    setScope,
    attempt,
  });

  const undo = async (id = selected()) => {
    if (id === undefined) return;
    const outcome = await attempt(() => host.unrevert(id));
    if (outcome) setSince({ sessionID: id, undoable: outcome.undoable });
    again();
    if (outcome?.leftIn !== undefined) needs.settleRestored(outcome);
  };
  const undoable = () => {
    const [id, open] = [selected(), needs.opened()];
    const known = [since(), open].find((one) => one !== undefined && one.sessionID === id);
    return known?.undoable ?? 0;
  };

  const show = async (target: RevertTarget): Promise<'shown' | 'nothing' | undefined> => {
    const id = selected();
    if (id === undefined) return undefined;
    const preview = await attempt(() => host.previewRevert(id, target));
    if (!preview || selected() !== id) return undefined;
    if (preview.files.length === 0 && (preview.unknown ?? []).length === 0) return 'nothing';
    const hidden = needs.session()?.revert?.messageID;
    const isTurn = target.kind === 'message' || target.kind === 'part';
    setPending({ target, preview, again: isTurn && hidden === target.messageID });
    setShown(true);
    return 'shown';
  };

  const dismiss = (yes: boolean) => {
    setDismissed(yes);
    needs.storage?.setItem(DISMISSED, yes ? 'yes' : 'no');
  };
  const open = (at: Wanted = {}) => {
    batch(() => {
      if (at.scope) setScope(at.scope);
      setWanted(at);
      setPending(undefined);
      setShown(true);
    });
    dismiss(false);
  };
  const close = (forGood = true) => {
    setShown(false);
    setPending(undefined);
    judge.forget();
    if (forGood) dismiss(true);
  };

  return {
    shown,
    dismissed,
    scope,
    setScope,
    wanted,
    files,
    source,
    judge,
    comments,
    steps,
    view,
    async setViewed({ path, version }, viewed) {
      const at = place();
      if (!at) return;
      await attempt(() => host.setViewed(at.sessionID, path, viewed ? version : null));
      await files.again();
    },
    async restore(options) {
      const [at, wanted] = [place(), steps.restoring()];
      if (!at || !wanted) return;
      const done = await attempt(() =>
        options ? host.restoreFiles(at.sessionID, wanted.at, options) : host.restoreFiles(at.sessionID, wanted.at),
      );
      steps.cancel();
      again();
      if (!done) return;
      const left = done.done.filter(({ change }) => isLeft(change)).length;
      toasts.show({
        tone: 'info',
        text: en.review.restored(done.done.length - left),
        ...(left > 0 && { detail: en.edit.conflicts(left) }),
        action: { label: en.session.undo, run: () => void judge.undo(at.sessionID) },
      });
    },
    hear(update) {
      const changes = update.kind === 'review' || update.kind === 'outside';
      if (!changes || !shown() || update.sessionID !== selected()) return;
      if (update.kind === 'review') void source.refresh(update.files);
      again();
    },
    pending,
    canUndo: () => needs.session()?.revert !== undefined || undoable() > 0,
    open,
    close,
    toggle: () => (shown() ? close() : open()),
    choices,
    forced,
    choose: (choice, ...paths) => setChoices((now) => ({ ...now, ...Object.fromEntries(paths.map((path) => [path, choice])) })),
    setForced,
    async ask(target) {
      const preview = await show(target);
      if (preview === 'nothing') toasts.show({ tone: 'info', text: en.review.nothingToDo });
    },
    async settle(target) {
      if ((await show(target)) !== 'shown') return undefined;
      return new Promise((resolve) => (ended = resolve));
    },
    cancel: () => setPending(undefined),
    async confirm() {
      const id = selected();
      const wanted = pending();
      if (id === undefined || !wanted) return;
      const options = decided(choices(), forced());
      const both = Object.values(choices()).filter((choice) => choice === 'both').length;
      const outcome = await attempt(() => (options ? host.revert(id, wanted.target, options) : host.revert(id, wanted.target)));
      setPending(undefined, outcome);
      again();
      if (!outcome) return;
      setSince({ sessionID: id, undoable: outcome.undoable });
      const left = outcome.files.filter(({ change }) => isLeft(change)).length;
      if (wanted.again && outcome.files.length === 0) return;
      const done = wanted.target.kind === 'snapshot' ? en.review.restored : en.review.reverted;
      // A file that was written beside one that stays takes nothing back.
      const count = outcome.files.length - left - both;
      toasts.show({
        tone: 'info',
        text: count > 0 || both === 0 ? done(Math.max(count, 0)) : en.left.asDecided,
        detail: left === 0 ? undefined : en.edit.conflicts(left),
        // The note in the timeline offers to restore messages.
        ...(!outcome.session.revert && { action: { label: en.session.undo, run: () => void undo(id) } }),
      });
    },
    noteDone(outcome) {
      setSince({ sessionID: outcome.session.id, undoable: outcome.undoable });
      again();
    },
    undo,
  };
}

function decided(choices: Choices, force: boolean): RevertOptions | undefined {
  return force || Object.keys(choices).length > 0 ? { force, choices: { ...choices } } : undefined;
}

/** Files that may be the agent's and are not reverted, and what is not known. */
export function isOpen({ files, unknown = [] }: Pick<RevertOutcome, 'files' | 'unknown'>): boolean {
  return unknown.length > 0 || files.some(isUndecided);
}

/** The number of changes in the loaded messages. */
export function changesIn(open: OpenSession | undefined): number {
  const parts = open?.messages.flatMap((message) => message.parts) ?? [];
  return parts.filter(({ part }) => part.type === 'patch' && part.files.length > 0).length;
}
