/**
 * What the files of a project bring: its agents, its commands, and whether they may act at all.
 *
 * Files change while the window is open. So it is asked again whenever somebody comes back to the
 * window; the commands also when a `/` is begun. Must not know the DOM: who asks again is told.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { AgentView, CommandView, Project, TrustView } from '../protocol';
import type { Core } from './app';

export interface Environment {
  /** Empty until the core has told. */
  readonly agents: Accessor<readonly AgentView[]>;
  readonly commands: Accessor<readonly CommandView[]>;
  readonly trust: Accessor<TrustView | undefined>;
  /** Asks for all of it again. */
  refresh(): Promise<void>;
  refreshCommands(): Promise<void>;
  /** The list that is on its way, or another one. */
  commandsTold(): Promise<void>;
  /** Trusts what was shown; if the files have changed since, asks what they want now. */
  allow(shown: TrustView): Promise<void>;
}

interface Told {
  readonly agents?: readonly AgentView[];
  readonly commands?: readonly CommandView[];
  readonly trust?: TrustView;
}

interface Around {
  readonly core: Core;
  /** What the project's files may do is another thing now. */
  readonly onTrust: () => void;
}

export function createEnvironment({ core, onTrust }: Around): Environment {
  const { host, project, attempt } = core;
  const [known, setKnown] = createSignal<Readonly<Record<string, Told>>>({});
  /** By its folder: another checkout of the project has files of its own. */
  const here = createMemo((): Told => known()[project()?.worktree ?? ''] ?? {});
  let commandsAsked: Promise<void> | undefined;

  const put = ({ worktree }: Project, told: Told) =>
    setKnown((all) => ({ ...all, [worktree]: { ...all[worktree], ...told } }));
  /** Nobody waits for what is asked again: what was known stays where there is no answer. */
  const quietly = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);

  const askAgents = async (of: Project) => {
    const agents = await quietly(host.listAgents(of.id));
    if (agents) put(of, { agents });
  };
  const askCommands = async (of: Project) => {
    const commands = await quietly(host.listCommands(of.id));
    if (commands) put(of, { commands });
  };
  const askTrust = async (of: Project) => {
    const before = known()[of.worktree]?.trust?.state;
    const trust = await quietly(host.trust(of.id));
    if (!trust) return;
    put(of, { trust });
    if (before !== undefined && before !== trust.state) onTrust();
  };
  const refreshCommands = async () => {
    const of = project();
    if (!of) return;
    const asked = askCommands(of);
    commandsAsked = asked;
    await asked;
    if (commandsAsked === asked) commandsAsked = undefined;
  };
  const refresh = async () => {
    const of = project();
    if (of) await Promise.all([askAgents(of), refreshCommands(), askTrust(of)]);
  };
  createEffect(on(() => project()?.worktree, () => void refresh()));

  return {
    agents: createMemo(() => here().agents ?? []),
    commands: createMemo(() => here().commands ?? []),
    trust: createMemo(() => here().trust),
    refresh,
    refreshCommands,
    commandsTold: () => commandsAsked ?? refreshCommands(),
    async allow(shown) {
      const of = project();
      if (!of) return;
      const trust = await attempt(() => host.setTrust(of.id, shown.hash));
      if (!trust) return askTrust(of);
      put(of, { trust });
      onTrust();
      await Promise.all([askAgents(of), refreshCommands()]);
    },
  };
}
