/**
 * How a prompt leaves the window: where to, to whom, and what it takes back first.
 *
 * Everything that a prompt says is fixed when it is sent. Whoever goes to another session, or
 * types on, while something is taken back changes nothing about it.
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

export interface Sending {
  /** To the session on screen, whatever is being written there. True when it was taken. */
  send(text: string, files?: PromptFile[]): Promise<boolean>;
  /** What was written in the field; an edited prompt takes back what it replaces. */
  submit(text: string, files?: PromptFile[]): Promise<boolean>;
  /** A `/` command of the core, in the same way. */
  run(name: string, args: string, files?: PromptFile[]): Promise<boolean>;
  /** After an answer failed: the same prompt once more, or further on where a turn broke off. */
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
  /** The session itself, also while one of its prompts is edited. */
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
    // From here on the field is the session's own again: what is typed there is not for the edit.
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
    async tryAgain(failedID) {
      const messages = state.timeline.open()?.messages ?? [];
      const failed = messages.find(({ info }) => info.id === failedID)?.info;
      if (failed?.role !== 'assistant') return;
      const answers = messages.filter(({ info }) => info.role === 'assistant' && info.parentID === failed.parentID);
      const prompt = messages.find(({ info }) => info.id === failed.parentID);
      // What the turn has done already must not be done twice.
      if (answers.length > 1 || !prompt || !isWritten(prompt)) return void (await send(en.error.goOn));
      const { id: messageID, sessionID } = prompt.info;
      const root = rootOf(project(), sessions.session());
      const draft = draftOf(prompt, root);
      const what = input(home(), draft.text, filesOf(draft, draft.text, root));
      const taken = await attempt(() => host.revert(sessionID, { kind: 'message', messageID, keepFiles: true }));
      if (taken) await sessions.send(what, sessionID);
    },
  };
}
