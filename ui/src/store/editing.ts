/**
 * Editing an earlier prompt, and undoing the last turn.
 *
 * An edited prompt has its own draft; nothing is reverted before it is sent.
 */
import { createEffect, createSignal, on, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { MessageView, RevertOutcome, Session } from '../protocol';
import type { Core } from './app';
import { NO_DRAFT } from './drafts';
import { rootOf } from './projects';
import { draftOf } from './prompts';

export interface Edit {
  readonly sessionID: string;
  readonly messageID: string;
  /** Revert the messages only, not the files. */
  readonly keepFiles: boolean;
}

export interface Editing {
  readonly current: Accessor<Edit | undefined>;
  begin(message: MessageView): void;
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

export function createEditing(
  core: Core,
  selected: Accessor<string | undefined>,
  bringBack: (sessionID: string) => Promise<void>,
): Editing {
  const { host, state, drafts, toasts, attempt } = core;
  const [current, setCurrent] = createSignal<Edit | undefined>();
  createEffect(on(selected, () => setCurrent(undefined), { defer: true }));

  const redo = async () => {
    const sessionID = selected();
    if (sessionID !== undefined) await bringBack(sessionID);
  };
  /** The notice may still be there when another session is open, or when the revert is final. */
  const redoOf = async (sessionID: string, messageID: string) => {
    const pending = state.sessions.get(sessionID)?.revert?.messageID === messageID;
    if (pending) await bringBack(sessionID);
    else toasts.show({ tone: 'info', text: en.edit.final });
  };
  return {
    current,
    begin(message) {
      const edit: Edit = { sessionID: message.info.sessionID, messageID: message.info.id, keepFiles: false };
      const root = rootOf(core.project(), state.sessions.get(edit.sessionID));
      // Continues an earlier edit of the same prompt.
      if (drafts.get(placeOf(edit)) === NO_DRAFT) drafts.change(placeOf(edit), draftOf(message, root));
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
      const done = await attempt(() => host.revert(sessionID, { kind: 'message', messageID, keepFiles }));
      const conflicts = done && conflictsOf(done);
      if (conflicts) toasts.show({ tone: 'info', text: conflicts });
      return done !== undefined;
    },
    async undo() {
      const sessionID = selected();
      const shown = beforeRevert(state.timeline.open()?.messages ?? [], state.sessions.get(sessionID ?? '')?.revert);
      const last = shown.findLast(({ info }) => info.role === 'user');
      if (sessionID === undefined || !last) return;
      const messageID = last.info.id;
      const done = await attempt(() => host.revert(sessionID, { kind: 'message', messageID }));
      if (!done) return;
      toasts.show({
        tone: 'info',
        text: en.edit.undone,
        detail: conflictsOf(done),
        action: { label: en.edit.redo, run: () => void redoOf(sessionID, messageID) },
      });
    },
    redo,
  };
}

/** The messages before a pending revert. The others exist until the next prompt. */
export function beforeRevert(messages: readonly MessageView[], revert: Session['revert']): readonly MessageView[] {
  if (!revert) return messages;
  const at = messages.findIndex(({ info }) => info.id === revert.messageID);
  if (at === -1) return messages;
  const cut = messages[at];
  const part = cut?.parts.findIndex((view) => view.part.id === revert.partID) ?? -1;
  const before = messages.slice(0, at);
  return cut && part > 0 ? [...before, { ...cut, parts: cut.parts.slice(0, part) }] : before;
}

function conflictsOf({ files }: RevertOutcome): string | undefined {
  const count = files.filter((file) => file.change === 'conflict').length;
  return count === 0 ? undefined : en.edit.conflicts(count);
}
