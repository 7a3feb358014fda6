/** Makers of messages and parts for scripts and tests. */
import type {
  AssistantMessage,
  Message,
  MessageView,
  ModelRef,
  PartOf,
  PartType,
  PartView,
  ToolState,
} from '../../protocol';
import type { Clock } from './ids';
import { blocksOf } from './markdown';

/** The fields of a part besides its ids. */
export type Told<T extends PartType> = Omit<PartOf<T>, 'id' | 'sessionID' | 'messageID' | 'type'>;

interface Writer {
  readonly sessionID: string;
  readonly clock: Clock;
  part<T extends PartType>(messageID: string, type: T, told: Told<T>): PartView;
  user(text: string, ...more: ((messageID: string) => PartView)[]): MessageView;
  answer(
    parentID: string,
    change: Partial<AssistantMessage>,
    ...parts: ((messageID: string) => PartView)[]
  ): MessageView;
}

const DEMO: ModelRef = { providerID: 'demo', modelID: 'demo' };

export function createWriter(sessionID: string, clock: Clock, model = DEMO, variant?: string, agent = 'build'): Writer {
  const part: Writer['part'] = (messageID, type, told) => {
    const made = { id: clock.id('prt'), sessionID, messageID, type, ...told } as PartView['part'];
    return viewOf(made);
  };
  return {
    sessionID,
    clock,
    part,
    user(text, ...more) {
      const info: Message = {
        role: 'user',
        id: clock.id('msg'),
        sessionID,
        time: { created: clock.now() },
        agent,
        model,
        ...(variant === undefined ? {} : { variant }),
      };
      return { info, parts: [part(info.id, 'text', { text }), ...more.map((make) => make(info.id))] };
    },
    answer(parentID, change, ...parts) {
      const info = assistant(sessionID, parentID, clock, change);
      return { info, parts: parts.map((make) => make(info.id)) };
    },
  };
}

export function assistant(
  sessionID: string,
  parentID: string,
  clock: Clock,
  change: Partial<AssistantMessage> = {},
): { role: 'assistant' } & AssistantMessage {
  const created = clock.now();
  return {
    role: 'assistant',
    id: clock.id('msg'),
    sessionID,
    parentID,
    time: { created },
    agent: 'build',
    modelID: 'demo',
    providerID: 'demo',
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    ...change,
  };
}

/** A part with its HTML, where it has any. */
export function viewOf(part: PartView['part']): PartView {
  if (part.type !== 'text' && part.type !== 'reasoning') return { part };
  return { part, blocks: blocksOf(part.text) };
}

export function call(tool: string, state: ToolState): Told<'tool'> {
  return { callID: `call_${tool}_${state.status}`, tool, state };
}
