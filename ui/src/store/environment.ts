/**
 * What the files of a project define: agents, commands, and whether they are trusted.
 *
 * Files change while the window is open, so everything is loaded again when the window gets the focus,
 * and the commands when a `/` is typed. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { AgentView, CommandView, ConfigProblem, Project, TrustView } from '../protocol';
import type { Core } from './app';

export interface Environment {
  /** Empty until they are loaded. */
  readonly agents: Accessor<readonly AgentView[]>;
  readonly commands: Accessor<readonly CommandView[]>;
  readonly trust: Accessor<TrustView | undefined>;
  /** What is wrong in the config files. */
  readonly problems: Accessor<readonly ConfigProblem[]>;
  /** Loads what is wrong in the config files again. */
  refreshProblems(): Promise<void>;
  /** Loads everything again. */
  refresh(): Promise<void>;
  refreshCommands(): Promise<void>;
  /** Resolves once a current list is loaded. */
  commandsTold(): Promise<void>;
  /** Trusts what was shown; if the files have changed since, loads what they want now. */
  allow(shown: TrustView): Promise<void>;
}

interface Told {
  readonly agents?: readonly AgentView[];
  readonly commands?: readonly CommandView[];
  readonly trust?: TrustView;
  readonly problems?: readonly ConfigProblem[];
}

interface Around {
  readonly core: Core;
  /** Called when the trust has changed. */
  readonly onTrust: () => void;
}

export function createEnvironment({ core, onTrust }: Around): Environment {
  const { host, project, attempt } = core;
  const [known, setKnown] = createSignal<Readonly<Record<string, Told>>>({});
  /** By folder: another checkout of the project has its own files. */
  const here = createMemo((): Told => known()[project()?.worktree ?? ''] ?? {});
  let commandsAsked: Promise<void> | undefined;

  const put = ({ worktree }: Project, told: Told) =>
    setKnown((all) => ({ ...all, [worktree]: { ...all[worktree], ...told } }));
  /** A failed reload is ignored; the last known values stay. */
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
  const askProblems = async (of: Project) => {
    const problems = await quietly(host.configProblems(of.id));
    if (problems) put(of, { problems });
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
    if (of) await Promise.all([askAgents(of), refreshCommands(), askTrust(of), askProblems(of)]);
  };
  createEffect(on(() => project()?.worktree, () => void refresh()));

  return {
    agents: createMemo(() => here().agents ?? []),
    commands: createMemo(() => here().commands ?? []),
    trust: createMemo(() => here().trust),
    problems: createMemo(() => here().problems ?? []),
    refreshProblems: async () => {
      const of = project();
      if (of) await askProblems(of);
    },
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
      await Promise.all([askAgents(of), refreshCommands(), askProblems(of)]);
    },
  };
}
