/**
 * Going back to an earlier prompt: writing it anew, or taking the last turn back.
 *
 * An edited prompt is a draft of its own; nothing is taken back before it is sent.
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
  /** Leave the files as they are, and take back only the words. */
  readonly keepFiles: boolean;
}

export interface Editing {
  readonly current: Accessor<Edit | undefined>;
  begin(message: MessageView): void;
  setKeepFiles(keep: boolean): void;
  /** What was written stays, and is there when the same prompt is edited again. */
  leave(): void;
  /** What was written goes. */
  cancel(): void;
  /** Back to one that was left, unless the person is elsewhere by now. */
  resume(edit: Edit): void;
  /** Takes back everything from its prompt on; false when it could not be. */
  takeBack(edit: Edit): Promise<boolean>;
  /** The newest turn, files and words. */
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
  /** A notice outlives its session's place on screen, and sometimes what it tells of. */
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
      // One that was begun before and left goes on where it was.
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

/** What a revert left in sight. The messages behind it are still there until the next prompt. */
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
