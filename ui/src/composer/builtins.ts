/** The `/` commands that the window handles itself. Commands of the core become prompts. */
import { en } from '../i18n/en';
import { focusHandle } from '../kit/focus';
import type { CommandView, Session } from '../protocol';
import type { App } from '../store/app';

interface Builtin {
  readonly name: keyof typeof en.commands;
  /** Also accepted but not suggested: the name in other programs. */
  readonly alias?: string;
  /** Needs a session with messages. */
  readonly needsSession: boolean;
  /** `words` is the text after the name. */
  run(app: App, words: string): void;
}

const BUILTINS: readonly Builtin[] = [
  { name: 'new', needsSession: false, run: (app, words) => void beginWith(app, app.create(), words) },
  { name: 'undo', needsSession: true, run: (app) => void app.editing.undo() },
  { name: 'redo', needsSession: true, run: (app) => void app.editing.redo() },
  { name: 'fork', needsSession: true, run: (app, words) => void beginWith(app, app.fork(null, false), words) },
  { name: 'compact', needsSession: true, run: (app) => void app.compact() },
  { name: 'snapshot', alias: 'checkpoint', needsSession: true, run: keepSnapshot },
  { name: 'share', needsSession: true, run: withSession((app, sessionID) => app.show({ name: 'share', sessionID })) },
  { name: 'unshare', needsSession: true, run: withSession((app, id) => void app.transfer.unshare(id)) },
  { name: 'export', needsSession: true, run: withSession((app, id) => void app.transfer.exportSession(id)) },
  { name: 'import', needsSession: false, run: (app) => void app.transfer.importSession() },
  { name: 'models', needsSession: false, run: (app) => app.show({ name: 'models' }) },
  { name: 'agents', needsSession: false, run: pickAgent },
  { name: 'help', needsSession: false, run: (app) => app.show({ name: 'settings', section: 'shortcuts' }) },
];

export function builtinCommands(hasSession: boolean): CommandView[] {
  return BUILTINS.filter((one) => hasSession || !one.needsSession).map(({ name }) => {
    const hint = en.commandHints[name];
    return { name, description: en.commands[name], ...(hint === undefined ? {} : { hint }), builtIn: true };
  });
}

/** Every name that `runBuiltin` accepts. */
export function builtinNames(hasSession: boolean): string[] {
  return BUILTINS.filter((one) => hasSession || !one.needsSession).flatMap(({ name, alias }) =>
    alias === undefined ? [name] : [name, alias],
  );
}

/** True if it was a command of the window. */
export function runBuiltin(app: App, name: string, words: string): boolean {
  const found = BUILTINS.find((one) => one.name === name || one.alias === name);
  if (!found || (found.needsSession && app.selected() === undefined)) return false;
  found.run(app, words);
  return true;
}

function withSession(work: (app: App, sessionID: string) => void): Builtin['run'] {
  return (app) => {
    const id = app.selected();
    if (id !== undefined) work(app, id);
  };
}

/** Puts the words into the draft of the new session; they are not sent. */
async function beginWith(app: App, making: Promise<Session | undefined>, words: string): Promise<void> {
  const made = await making;
  if (made && words !== '') app.drafts.change(made.id, { text: words });
}

function keepSnapshot(app: App, name: string): void {
  if (name === '') app.show({ name: 'snapshot' });
  else void app.keepSnapshot(name);
}

function pickAgent(app: App, name: string): void {
  const wanted = app.agents.list().find((agent) => agent.name === name);
  if (wanted) app.agents.choose(wanted.name);
  else focusHandle('agentPicker')?.target()?.click();
}
