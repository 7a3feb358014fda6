/**
 * The review pane: the diff of the session or of one turn, and reverts. One slice of the state.
 *
 * The diff is loaded while the pane is open, and again when something may have changed. Must not know
 * the DOM.
 */
import { createEffect, createMemo, createResource, createSignal, on, type Accessor } from 'solid-js';
import { uiError, type Host } from '../host/host';
import { en } from '../i18n/en';
import type { FileDiffView, RevertPreview, RevertTarget, Session, SessionDiffView } from '../protocol';
import type { OpenSession } from './timeline';
import type { Toasts } from './toasts';

export interface Scope {
  /** The prompt that began the turn; without it, the whole session. */
  readonly turnID?: string;
  /** The file to show first. */
  readonly path?: string;
}

/** A revert that waits for confirmation, with its preview. */
export interface Pending {
  readonly target: RevertTarget;
  readonly preview: RevertPreview;
}

export interface Review {
  readonly shown: Accessor<boolean>;
  readonly scope: Accessor<Scope>;
  /** Undefined until it is loaded. */
  readonly diff: Accessor<SessionDiffView | undefined>;
  readonly error: Accessor<string | undefined>;
  readonly pending: Accessor<Pending | undefined>;
  /** Whether there is a revert that can be undone. */
  readonly canUndo: Accessor<boolean>;
  open(scope?: Scope): void;
  close(): void;
  toggle(): void;
  /** Loads the file with all unchanged lines. */
  whole(file: FileDiffView): Promise<FileDiffView | undefined>;
  /** Loads the hunks of a folded file. */
  unfolded(file: FileDiffView): Promise<FileDiffView | undefined>;
  /** Loads and shows the preview of a revert. */
  ask(target: RevertTarget): Promise<void>;
  cancel(): void;
  /** Runs the pending revert. */
  confirm(): Promise<void>;
  /** Undoes the last revert of the open session, or of another one. */
  undo(sessionID?: string): Promise<void>;
}

/** An answer of the host, and what it is about. */
interface Answer {
  readonly of: { readonly sessionID: string; readonly turnID: string | undefined };
  readonly diff?: SessionDiffView;
  readonly error?: string;
}

interface ReviewNeeds {
  readonly host: Host;
  readonly toasts: Toasts;
  readonly selected: Accessor<string | undefined>;
  readonly session: Accessor<Session | undefined>;
  readonly opened: Accessor<OpenSession | undefined>;
  readonly busy: Accessor<boolean>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function createReview(needs: ReviewNeeds): Review {
  const { host, attempt, toasts, selected } = needs;
  const [shown, setShown] = createSignal(false);
  const [scope, setScope] = createSignal<Scope>({});
  const [pending, setPending] = createSignal<Pending | undefined>();
  const [turn, setTurn] = createSignal(0);
  /** The number of undoable reverts after the last one here. */
  const [since, setSince] = createSignal<{ readonly sessionID: string; readonly undoable: number } | undefined>();

  // Belongs to one session; a session that is opened brings its own number.
  createEffect(on(selected, () => (setScope({}), setPending(undefined), setSince(undefined)), { defer: true }));

  /** Changes whenever files may have changed. */
  const moment = createMemo(() => {
    const id = selected();
    if (!shown() || id === undefined) return undefined;
    const { summary, revert } = needs.session() ?? {};
    return JSON.stringify([
      id,
      scope().turnID,
      turn(),
      changesIn(needs.opened()),
      summary?.additions,
      summary?.deletions,
      revert?.messageID,
      needs.busy(),
    ]);
  });
  const [answer] = createResource(moment, async (): Promise<Answer> => {
    const of = { sessionID: selected() ?? '', turnID: scope().turnID };
    try {
      return { of, diff: await host.sessionDiff(of.sessionID, of.turnID) };
    } catch (error) {
      return { of, error: uiError(error).message };
    }
  });
  // The last answer stays until the next one is loaded, but only for the same session and turn.
  const current = createMemo(() => {
    const newest = answer.latest;
    const fits = newest?.of.sessionID === selected() && newest?.of.turnID === scope().turnID;
    return fits ? newest : undefined;
  });

  const again = () => setTurn((count) => count + 1);

  const read = async ({ path }: FileDiffView, whole: boolean) => {
    const id = selected();
    return id === undefined ? undefined : attempt(() => host.fileDiff(id, scope().turnID, path, whole));
  };

  const undo = async (id = selected()) => {
    if (id === undefined) return;
    const outcome = await attempt(() => host.unrevert(id));
    if (outcome) setSince({ sessionID: id, undoable: outcome.undoable });
    again();
  };
  const undoable = () => {
    const [id, open] = [selected(), needs.opened()];
    const known = [since(), open].find((one) => one !== undefined && one.sessionID === id);
    return known?.undoable ?? 0;
  };

  const open = (wanted: Scope = {}) => {
    setScope(wanted);
    setPending(undefined);
    setShown(true);
  };
  const close = () => {
    setShown(false);
    setPending(undefined);
  };

  return {
    shown,
    scope,
    diff: () => current()?.diff,
    error: () => current()?.error,
    pending,
    canUndo: () => needs.session()?.revert !== undefined || undoable() > 0,
    open,
    close,
    toggle: () => (shown() ? close() : open()),
    whole: (file) => read(file, true),
    unfolded: (file) => read(file, false),
    async ask(target) {
      const id = selected();
      if (id === undefined) return;
      const preview = await attempt(() => host.previewRevert(id, target));
      if (!preview || selected() !== id) return;
      if (preview.files.length === 0) return toasts.show({ tone: 'info', text: en.review.nothingToDo });
      setPending({ target, preview });
      setShown(true);
    },
    cancel: () => setPending(undefined),
    async confirm() {
      const id = selected();
      const wanted = pending();
      if (id === undefined || !wanted) return;
      const outcome = await attempt(() => host.revert(id, wanted.target));
      setPending(undefined);
      again();
      if (!outcome) return;
      setSince({ sessionID: id, undoable: outcome.undoable });
      const left = outcome.files.filter((file) => file.change === 'conflict').length;
      const done = wanted.target.kind === 'snapshot' ? en.review.restored : en.review.tookBack;
      toasts.show({
        tone: 'info',
        text: done(outcome.files.length - left),
        detail: left === 0 ? undefined : en.edit.conflicts(left),
        action: { label: en.session.undo, run: () => void undo(id) },
      });
    },
    undo,
  };
}

/** The number of changes in the loaded messages. */
export function changesIn(open: OpenSession | undefined): number {
  const parts = open?.messages.flatMap((message) => message.parts) ?? [];
  return parts.filter(({ part }) => part.type === 'patch' && part.files.length > 0).length;
}
