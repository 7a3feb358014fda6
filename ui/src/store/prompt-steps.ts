/** Going from prompt to prompt in the open session. */
import type { MessageView } from '../protocol';
import type { SessionActions } from './session-actions';
import type { Timeline } from './timeline';
import { isWritten } from './prompts';

/** The prompt of what is read now. */
export interface Reading {
  readonly messageID: string;
  /** It begins above what is read: one step back goes to its own beginning. */
  readonly above: boolean;
}

export interface PromptSteps {
  /** Returns how to stop. */
  register(reading: () => Reading | undefined): () => void;
  step(by: -1 | 1): Promise<void>;
}

interface Needs {
  readonly timeline: Timeline;
  readonly sessions: Pick<SessionActions, 'reveal' | 'loadOlder'>;
  visible(messages: readonly MessageView[]): readonly MessageView[];
}

export function createPromptSteps({ timeline, sessions, visible }: Needs): PromptSteps {
  let reading: (() => Reading | undefined) | undefined;
  const prompts = () =>
    visible(timeline.open()?.messages ?? [])
      .filter((message) => message.info.role === 'user' && isWritten(message))
      .map(({ info }) => info.id);
  /** Undefined at either end of what is loaded. */
  const next = (by: -1 | 1): string | undefined => {
    const now = reading?.();
    const all = prompts();
    if (!now) return by === -1 ? all.at(-1) : undefined;
    const at = all.indexOf(now.messageID);
    if (at === -1) return undefined;
    return by === -1 && now.above ? all[at] : all[at + by];
  };
  return {
    register(locate) {
      reading = locate;
      return () => {
        if (reading === locate) reading = undefined;
      };
    },
    async step(by) {
      if (by === -1 && next(by) === undefined && timeline.open()?.hasOlder) await sessions.loadOlder();
      const messageID = next(by);
      if (messageID !== undefined) await sessions.reveal({ messageID });
    },
  };
}
