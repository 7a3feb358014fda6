/**
 * Who answers the next prompt: the agents of a project, and which of them is chosen.
 *
 * A session goes on with the agent of its newest prompt until the person picks another.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { AgentView } from '../protocol';
import type { Core } from './app';
import { placeOf } from './editing';

export interface Agents {
  /** Those a person can talk to; empty until the core has told. */
  readonly list: Accessor<readonly AgentView[]>;
  readonly current: Accessor<string>;
  /** For the place where the person is, or another. */
  choose(name: string, where?: string): void;
  /** To the next agent (1) or the one before (-1). */
  cycle(step: number): void;
}

/** The core's own default, when nobody says otherwise. */
export const DEFAULT_AGENT = 'build';

export function createAgents(core: Core, place: Accessor<string>): Agents {
  const { host, state, project, attempt } = core;
  const [all, setAll] = createSignal<readonly AgentView[]>([]);
  const [picked, setPicked] = createSignal<Readonly<Record<string, string>>>({});
  const list = createMemo(() => all().filter((agent) => agent.mode !== 'subagent'));

  createEffect(
    on(
      () => project()?.id,
      async (id) => {
        if (id === undefined) return;
        const told = await attempt(() => host.listAgents(id));
        if (told && project()?.id === id) setAll(told);
      },
    ),
  );

  const last = createMemo(() => {
    const messages = state().open?.messages ?? [];
    // A prompt that is written anew is for whom it was.
    const edited = messages.find(({ info }) => place() === placeOf({ messageID: info.id }));
    const prompt = (edited ?? messages.findLast(({ info }) => info.role === 'user'))?.info;
    return prompt?.role === 'user' ? prompt.agent : undefined;
  });
  const current = createMemo(() => {
    const wanted = picked()[place()] ?? last() ?? DEFAULT_AGENT;
    // An agent that is gone, or that only answers to other agents, cannot be talked to.
    if (list().length === 0 || list().some((agent) => agent.name === wanted)) return wanted;
    return list().find((agent) => agent.name === DEFAULT_AGENT)?.name ?? list()[0]?.name ?? DEFAULT_AGENT;
  });
  const choose = (name: string, where = place()) => setPicked((now) => ({ ...now, [where]: name }));

  return {
    list,
    current,
    choose,
    cycle(step) {
      const agents = list();
      if (agents.length === 0) return;
      const at = agents.findIndex((agent) => agent.name === current());
      const next = agents[(at + step + agents.length) % agents.length];
      if (next) choose(next.name);
    },
  };
}
