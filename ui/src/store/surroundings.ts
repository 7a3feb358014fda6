/**
 * What the files of a project bring: its agents, its commands, and whether they may act at all.
 *
 * Files change while the window is open. So it is asked again whenever somebody comes back to the
 * window; the commands also when a `/` is begun. Must not know the DOM: who asks again is told.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { AgentView, CommandView, TrustView } from '../protocol';
import type { Core } from './app';

export interface Surroundings {
  /** Empty until the core has told. */
  readonly agents: Accessor<readonly AgentView[]>;
  readonly commands: Accessor<readonly CommandView[]>;
  readonly trust: Accessor<TrustView | undefined>;
  /** Asks for all of it again. */
  refresh(): Promise<void>;
  refreshCommands(): Promise<void>;
  /** The list that is on its way, or another one. */
  commandsTold(): Promise<void>;
  allow(): Promise<void>;
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

export function createSurroundings({ core, onTrust }: Around): Surroundings {
  const { host, project, attempt } = core;
  const [known, setKnown] = createSignal<Readonly<Record<string, Told>>>({});
  const here = createMemo((): Told => known()[project()?.id ?? ''] ?? {});
  let commandsAsked: Promise<void> | undefined;

  const put = (id: string, told: Told) => setKnown((all) => ({ ...all, [id]: { ...all[id], ...told } }));
  /** Nobody waits for what is asked again: what was known stays where there is no answer. */
  const quietly = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);

  const askAgents = async (id: string) => {
    const agents = await quietly(host.listAgents(id));
    if (agents) put(id, { agents });
  };
  const askCommands = async (id: string) => {
    const commands = await quietly(host.listCommands(id));
    if (commands) put(id, { commands });
  };
  const askTrust = async (id: string) => {
    const before = known()[id]?.trust?.state;
    const trust = await quietly(host.trust(id));
    if (!trust) return;
    put(id, { trust });
    if (before !== undefined && before !== trust.state) onTrust();
  };
  const refreshCommands = async () => {
    const id = project()?.id;
    if (id === undefined) return;
    const asked = askCommands(id);
    commandsAsked = asked;
    await asked;
    if (commandsAsked === asked) commandsAsked = undefined;
  };
  const refresh = async () => {
    const id = project()?.id;
    if (id === undefined) return;
    await Promise.all([askAgents(id), refreshCommands(), askTrust(id)]);
  };
  createEffect(on(() => project()?.id, () => void refresh()));

  return {
    agents: createMemo(() => here().agents ?? []),
    commands: createMemo(() => here().commands ?? []),
    trust: createMemo(() => here().trust),
    refresh,
    refreshCommands,
    commandsTold: () => commandsAsked ?? refreshCommands(),
    async allow() {
      const id = project()?.id;
      if (id === undefined) return;
      const trust = await attempt(() => host.setTrust(id, true));
      if (!trust) return;
      put(id, { trust });
      onTrust();
      await Promise.all([askAgents(id), refreshCommands()]);
    },
  };
}
