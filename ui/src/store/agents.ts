/**
 * Who answers the next prompt: the agents of a project, and which of them is chosen.
 *
 * A session goes on with the agent of its newest prompt until the person picks another; where
 * nothing was asked yet, the project's default answers.
 */
import { createMemo, createSignal, type Accessor } from 'solid-js';
import type { AgentView } from '../protocol';
import type { Core } from './app';
import { placeOf } from './editing';

export interface Agents {
  /** Those a person can talk to; empty until the core has told. */
  readonly list: Accessor<readonly AgentView[]>;
  /** Undefined while it is not known yet; the core decides then. */
  readonly current: Accessor<string | undefined>;
  /** Who answers in a place. */
  of(where: string): string | undefined;
  find(name: string | undefined): AgentView | undefined;
  /** For the place where the person is, or another. */
  choose(name: string, where?: string): void;
  /** To the next agent (1) or the one before (-1). */
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
    // A prompt that is written anew is for whom it was.
    const edited = open.messages.find(({ info }) => where === placeOf({ messageID: info.id }))?.info;
    return edited?.role === 'user' ? edited.agent : undefined;
  };
  const of = (where: string) => {
    const wanted = picked()[where] ?? last(where);
    // An agent that is gone, or that only answers to other agents, cannot be talked to.
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
