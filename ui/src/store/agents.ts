/**
 * The agents of a project, and which of them gets the next prompt.
 *
 * A session continues with the agent of its newest prompt until the person picks another one. A new
 * session begins with the project's default.
 */
import { createMemo, createSignal, type Accessor } from 'solid-js';
import type { AgentView } from '../protocol';
import type { Core } from './app';
import { placeOf } from './editing';

export interface Agents {
  /** The agents for prompts, without subagents; empty until they are loaded. */
  readonly list: Accessor<readonly AgentView[]>;
  /** Undefined until it is known; the core decides then. */
  readonly current: Accessor<string | undefined>;
  /** The agent for a place. */
  of(where: string): string | undefined;
  find(name: string | undefined): AgentView | undefined;
  /** For the current place, or another one. */
  choose(name: string, where?: string): void;
  /** To the next agent (1) or the previous one (-1). */
  cycle(step: number): void;
}

interface Around {
  readonly core: Core;
  readonly place: Accessor<string>;
  readonly all: Accessor<readonly AgentView[]>;
}

export function createAgents({ core, place, all }: Around): Agents {
  const { state } = core;
  const [picked, setPicked] = createSignal<Readonly<Record<string, string>>>({});
  const list = createMemo(() => all().filter((agent) => agent.mode !== 'subagent'));

  const last = (where: string) => {
    const open = state.timeline.open();
    if (!open || where === open.sessionID) return open?.lastUse?.agent;
    // An edited prompt keeps its agent.
    const edited = open.messages.find(({ info }) => where === placeOf({ messageID: info.id }))?.info;
    return edited?.role === 'user' ? edited.agent : undefined;
  };
  const of = (where: string) => {
    const wanted = picked()[where] ?? last(where);
    // The agent was removed, or is a subagent now.
    if (list().length === 0 || list().some((agent) => agent.name === wanted)) return wanted;
    return (list().find((agent) => agent.default) ?? list()[0])?.name;
  };
  const current = createMemo(() => of(place()));
  const choose = (name: string, where = place()) => setPicked((now) => ({ ...now, [where]: name }));

  return {
    list,
    current,
    of,
    find: (name) => list().find((agent) => agent.name === name),
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
