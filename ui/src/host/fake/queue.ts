/** Queued prompts of the scripted host. */
import type { MessageView, UiError, UiUpdate } from '../../protocol';
import type { Host } from '../host';
import { viewOf } from './parts';

type QueueHost = Pick<Host, 'editQueued' | 'removeQueued'>;

interface FakeQueue extends QueueHost {
  waiting(sessionID: string): string[];
  add(sessionID: string, messageID: string): void;
  /** The next step starts with all of them. */
  take(sessionID: string): void;
}

export function createFakeQueue(
  messages: Map<string, MessageView[]>,
  emit: (...updates: UiUpdate[]) => void,
): FakeQueue {
  const queues = new Map<string, string[]>();
  const waiting = (sessionID: string) => queues.get(sessionID) ?? [];
  const put = (sessionID: string, ids: string[]) => {
    queues.set(sessionID, ids);
    emit({ kind: 'queue', sessionID, messages: ids });
  };
  const refuse = (sessionID: string, messageID: string) => {
    if (waiting(sessionID).includes(messageID)) return;
    const message = 'This prompt is no longer waiting: it has been taken up';
    throw { code: 'failed', message } satisfies UiError;
  };
  return {
    waiting,
    add: (sessionID, messageID) => put(sessionID, [...waiting(sessionID), messageID]),
    take: (sessionID) => {
      if (waiting(sessionID).length > 0) put(sessionID, []);
    },
    editQueued: async (sessionID, messageID, text) => {
      refuse(sessionID, messageID);
      const message = messages.get(sessionID)?.find((one) => one.info.id === messageID);
      const part = message?.parts.find((view) => view.part.type === 'text')?.part;
      if (part?.type === 'text') emit({ kind: 'part', part: viewOf({ ...part, text }) });
    },
    removeQueued: async (sessionID, messageID) => {
      refuse(sessionID, messageID);
      const rest = messages.get(sessionID)?.filter((one) => one.info.id !== messageID);
      messages.set(sessionID, rest ?? []);
      emit({ kind: 'event', event: { type: 'message.removed', properties: { sessionID, messageID } } });
      put(
        sessionID,
        waiting(sessionID).filter((id) => id !== messageID),
      );
    },
  };
}
