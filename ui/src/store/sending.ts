/**
 * Sending prompts, including edited ones, which revert first.
 *
 * The content of a prompt is fixed when it is sent: going to another session or typing while a revert
 * runs does not change it.
 */
import type { Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { PromptFile, PromptInput } from '../protocol';
import type { Agents } from './agents';
import type { Core } from './app';
import type { Editing } from './editing';
import type { Models } from './models';
import { rootOf } from './projects';
import { draftOf, filesOf, isWritten } from './prompts';
import type { SessionActions } from './session-actions';
import { wholeMessage } from './whole-text';

export interface Sending {
  /** Sends to the open session, whatever is in the composer. True if it was accepted. */
  send(text: string, files?: PromptFile[]): Promise<boolean>;
  /** Sends the text of the composer; an edited prompt first reverts what it replaces. */
  submit(text: string, files?: PromptFile[]): Promise<boolean>;
  /** Runs a `/` command of the core in the same way. */
  run(name: string, args: string, files?: PromptFile[]): Promise<boolean>;
  /** Runs a command of the person's own in the session. */
  shell(command: string): Promise<boolean>;
  /** After a failed answer: sends the same prompt again, or asks to continue a longer turn. */
  tryAgain(failedID: string): Promise<void>;
}

interface Around {
  readonly core: Core;
  readonly sessions: SessionActions;
  readonly agents: Agents;
  readonly models: Models;
  readonly editing: Editing;
  readonly place: Accessor<string>;
}

export function createSending({ core, sessions, agents, models, editing, place }: Around): Sending {
  const { host, state, drafts, project, attempt } = core;

  const input = (where: string, text: string, files: PromptFile[]): PromptInput => {
    const agent = agents.of(where);
    return {
      text,
      ...models.by(agent),
      ...(agent !== undefined && { agent }),
      ...(files.length > 0 && { files }),
    };
  };
  /** The session, also while one of its prompts is edited. */
  const home = () => sessions.selected() ?? place();

  const deliver = async (work: (to: string | undefined) => Promise<boolean>): Promise<boolean> => {
    const edit = editing.current();
    const from = place();
    if (!edit) {
      const to = sessions.selected();
      const taken = await work(to);
      if (taken && to === undefined) models.forget(from);
      return taken;
    }
    // From here on the composer belongs to the session again.
    editing.leave();
    const typed = drafts.get(edit.sessionID);
    const taken = (await editing.takeBack(edit)) && (await work(edit.sessionID));
    if (!taken && drafts.get(edit.sessionID) === typed) editing.resume(edit);
    return taken;
  };

  const send: Sending['send'] = async (text, files = []) => sessions.send(input(home(), text, files), sessions.selected());

  return {
    send,
    submit(text, files = []) {
      const what = input(place(), text, files);
      return deliver((to) => sessions.send(what, to));
    },
    run(name, args, files = []) {
      const what = input(place(), args, files);
      return deliver((to) => sessions.run(name, args, what, to));
    },
    shell(command) {
      const what = input(place(), command, []);
      return deliver((to) => sessions.shell(what, to));
    },
    async tryAgain(failedID) {
      const open = state.timeline.open();
      // Only the newest turn: a revert takes everything after it.
      if (!open || open.hasNewer) return;
      const { messages } = open;
      const failed = messages.find(({ info }) => info.id === failedID)?.info;
      if (failed?.role !== 'assistant') return;
      const answers = messages.filter(({ info }) => info.role === 'assistant' && info.parentID === failed.parentID);
      const prompt = messages.find(({ info }) => info.id === failed.parentID);
      // The steps of the turn must not run twice.
      if (answers.length > 1 || !prompt || !isWritten(prompt)) return void (await send(en.error.goOn));
      const { id: messageID, sessionID } = prompt.info;
      const root = rootOf(project(), sessions.session());
      const whole = await attempt(() => wholeMessage(host, prompt));
      if (!whole) return;
      const draft = draftOf(whole, root);
      const what = input(home(), draft.text, filesOf(draft, draft.text, root));
      const taken = await attempt(() => host.revert(sessionID, { kind: 'message', messageID, keepFiles: true }));
      if (taken) await sessions.send(what, sessionID);
    },
  };
}
