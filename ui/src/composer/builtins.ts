/** The `/` commands of the window itself. The core has its own, which become prompts. */
import { en } from '../i18n/en';
import type { CommandView } from '../protocol';
import type { App } from '../store/app';

interface Builtin {
  readonly name: keyof typeof en.commands;
  /** It needs a session with something in it. */
  readonly needsSession: boolean;
  run(app: App, sessionID: string): void;
}

const BUILTINS: readonly Builtin[] = [
  { name: 'new', needsSession: false, run: (app) => void app.create() },
  { name: 'undo', needsSession: true, run: (app) => void app.editing.undo() },
  { name: 'redo', needsSession: true, run: (app) => void app.editing.redo() },
  { name: 'fork', needsSession: true, run: (app, id) => void fork(app, id) },
  { name: 'models', needsSession: false, run: (app) => app.show({ name: 'models' }) },
  { name: 'agents', needsSession: false, run: () => document.querySelector<HTMLElement>('[data-testid=agent-picker]')?.click() },
];

export function builtinCommands(hasSession: boolean): CommandView[] {
  return BUILTINS.filter((one) => hasSession || !one.needsSession).map(({ name }) => ({
    name,
    description: en.commands[name],
    builtIn: true,
  }));
}

/** True when the window itself had something to do. */
export function runBuiltin(app: App, name: string): boolean {
  const found = BUILTINS.find((one) => one.name === name);
  const sessionID = app.selected();
  if (!found || (found.needsSession && sessionID === undefined)) return false;
  found.run(app, sessionID ?? '');
  return true;
}

async function fork(app: App, sessionID: string): Promise<void> {
  const made = await app.attempt(() => app.host.fork(sessionID, null, false));
  if (made) await app.select(made.id);
}
