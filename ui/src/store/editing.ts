/**
 * Editing an earlier prompt, and undoing the last turn.
 *
 * An edited prompt has its own draft; nothing is reverted before it is sent.
 */
import { createEffect, createSignal, on, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { MessageView, RevertOutcome, RevertTarget } from '../protocol';
import type { Core } from './app';
import { NO_DRAFT, type Draft } from './drafts';
import { rootOf } from './projects';
import { draftOf } from './prompts';
import { isOpen, type Review } from './review';
import { isLeft } from './review/left';
import { isWhole, wholeMessage } from './whole-text';

export interface Edit {
  readonly sessionID: string;
  readonly messageID: string;
  /** Revert the messages only, not the files. */
  readonly keepFiles: boolean;
}

export interface Editing {
  readonly current: Accessor<Edit | undefined>;
  begin(message: MessageView): Promise<void>;
  setKeepFiles(keep: boolean): void;
  /** Ends editing and keeps the draft for the next time. */
  leave(): void;
  /** Ends editing and deletes the draft. */
  cancel(): void;
  /** Continues an edit, unless the person has gone elsewhere. */
  resume(edit: Edit): void;
  /** Reverts everything from its prompt on; false if that failed. */
  takeBack(edit: Edit): Promise<boolean>;
  /** Reverts the newest turn, files and messages. */
  undo(): Promise<void>;
  redo(): Promise<void>;
}

export function placeOf({ messageID }: Pick<Edit, 'messageID'>): string {
  return `edit:${messageID}`;
}

interface EditingNeeds {
  readonly core: Core;
  readonly selected: Accessor<string | undefined>;
  readonly review: Pick<Review, 'noteDone' | 'undo' | 'settle'>;
  toLatest(): Promise<void>;
}

export function createEditing({ core, selected, review, toLatest }: EditingNeeds): Editing {
  const { host, state, drafts, toasts, attempt } = core;
  const [current, setCurrent] = createSignal<Edit | undefined>();
  createEffect(on(selected, () => setCurrent(undefined), { defer: true }));

  /** What the last undo put into the composer. */
  let offered: { readonly sessionID: string; readonly draft: Draft } | undefined;
  const bringBack = async (sessionID: string) => {
    await review.undo(sessionID);
    if (state.sessions.get(sessionID)?.revert === undefined) withdrawOffer(sessionID);
  };

  const redo = async () => {
    const sessionID = selected();
    if (sessionID !== undefined) await bringBack(sessionID);
  };
  /** The undone prompt is in the composer again, to be changed and sent. A draft of the person stays. */
  const offerAgain = async (sessionID: string, messageID: string) => {
    const found = state.timeline.open()?.messages.find(({ info }) => info.id === messageID);
    const prompt = found && (isWhole(found) ? found : await core.attempt(() => wholeMessage(core.host, found)));
    if (!prompt || drafts.get(sessionID) !== NO_DRAFT) return;
    const draft = draftOf(prompt, rootOf(core.project(), state.sessions.get(sessionID)));
    drafts.change(sessionID, draft);
    offered = { sessionID, draft: drafts.get(sessionID) };
  };
  /** The prompt is in the timeline again. */
  const withdrawOffer = (sessionID: string) => {
    if (offered?.sessionID === sessionID && drafts.get(sessionID) === offered.draft) drafts.change(sessionID, NO_DRAFT);
    offered = undefined;
  };
  return {
    current,
    async begin(message) {
      const edit: Edit = { sessionID: message.info.sessionID, messageID: message.info.id, keepFiles: false };
      const root = rootOf(core.project(), state.sessions.get(edit.sessionID));
      // Continues an earlier edit of the same prompt.
      if (drafts.get(placeOf(edit)) === NO_DRAFT) {
        const whole = isWhole(message) ? message : await attempt(() => wholeMessage(host, message));
        if (!whole || selected() !== edit.sessionID) return;
        drafts.change(placeOf(edit), draftOf(whole, root));
      }
      setCurrent(edit);
    },
    setKeepFiles: (keepFiles) => setCurrent((now) => now && { ...now, keepFiles }),
    leave: () => setCurrent(undefined),
    cancel() {
      const edit = current();
      if (edit) drafts.change(placeOf(edit), NO_DRAFT);
      setCurrent(undefined);
    },
    resume(edit) {
      if (selected() === edit.sessionID && !current()) setCurrent(edit);
    },
    async takeBack({ sessionID, messageID, keepFiles }) {
      const target: RevertTarget = { kind: 'message', messageID, keepFiles };
      const done = await attempt(() => host.revert(sessionID, target));
      if (!done) return false;
      const conflicts = conflictsOf(done);
      if (conflicts) toasts.show({ tone: 'info', text: conflicts });
      if (!isOpen(done) || selected() !== sessionID) return done.session.revert !== undefined;
      // The prompt waits: it would make final what the person has not decided.
      const settled = await review.settle(target);
      return (settled ?? done).session.revert !== undefined;
    },
    async undo() {
      const sessionID = selected();
      if (sessionID === undefined) return;
      const done = await attempt(() => host.undoLastTurn(sessionID, false));
      if (!done) return;
      const messageID = done.session.revert?.messageID;
      if (messageID === undefined) {
        // Nothing is hidden while it is not known what the turn did.
        const detail = conflictsOf(done);
        const reverted = done.files.filter((file) => !isLeft(file.change)).length;
        review.noteDone(done);
        const notice = toasts.show({
          tone: 'error',
          text: reverted === 0 ? en.edit.notUndone : en.edit.partlyUndone(reverted),
          ...(detail !== undefined && { detail }),
          ...(reverted > 0 && { action: { label: en.session.undo, run: () => void review.undo(sessionID) } }),
        });
        const last = await attempt(() => host.lastTurn(sessionID));
        if (!last || selected() !== sessionID) return;
        const settled = await review.settle({ kind: 'message', messageID: last, keepFiles: false });
        if (settled?.session.revert !== undefined) toasts.dismiss(notice);
        return;
      }
      await offerAgain(sessionID, messageID);
      // The note at the end of the timeline offers to restore it, as long as that is possible.
      toasts.show({ tone: 'info', text: en.edit.undone, detail: conflictsOf(done) });
      // What was reverted is at the end.
      if (selected() === sessionID && state.timeline.open()?.hasNewer) await toLatest();
      if (isOpen(done) && selected() === sessionID) await review.settle({ kind: 'message', messageID, keepFiles: false });
    },
    redo,
  };
}

/** What the revert did not do. */
function conflictsOf({ files, unknown = [] }: RevertOutcome): string | undefined {
  const count = files.filter((file) => isLeft(file.change)).length;
  const said = count === 0 ? unknown : [en.edit.conflicts(count), ...unknown];
  return said.length === 0 ? undefined : said.join('. ');
}
