/** Queued prompts of the scripted host. */
import type { MessageView, UiError, UiUpdate } from '../../protocol';
import type { Host } from '../host';
import { viewOf } from './parts';

type QueueHost = Pick<Host, 'editQueued' | 'removeQueued' | 'moveQueuedUp' | 'sendQueuedNow' | 'sendUnsent'>;

interface FakeQueue extends QueueHost {
  waiting(sessionID: string): string[];
  add(sessionID: string, messageID: string): void;
  /** The next step starts with all of them. */
  take(sessionID: string): void;
  /** The turn has ended without them. */
  leave(sessionID: string): void;
}

const taken: UiError = { code: 'failed', message: 'This prompt was already sent' };

export function createFakeQueue(
  messages: Map<string, MessageView[]>,
  emit: (...updates: UiUpdate[]) => void,
  abort: (sessionID: string) => Promise<void>,
): FakeQueue {
  const queues = new Map<string, string[]>();
  const waiting = (sessionID: string) => queues.get(sessionID) ?? [];
  const put = (sessionID: string, ids: string[]) => {
    queues.set(sessionID, ids);
    emit({ kind: 'queue', sessionID, messages: ids });
  };
  const refuse = (sessionID: string, messageID: string) => {
    if (!waiting(sessionID).includes(messageID)) throw taken;
  };
  const remove = (sessionID: string, messageID: string) => {
    const rest = messages.get(sessionID)?.filter((one) => one.info.id !== messageID);
    messages.set(sessionID, rest ?? []);
    emit({ kind: 'event', event: { type: 'message.removed', properties: { sessionID, messageID } } });
  };
  const sendUnsent = async (sessionID: string, messageID: string) => {
    const message = messages.get(sessionID)?.find((one) => one.info.id === messageID);
    if (message?.info.role !== 'user' || !message.info.unsent) throw taken;
    const { unsent: _, ...info } = message.info;
    emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
    return messageID;
  };
  return {
    waiting,
    add: (sessionID, messageID) => put(sessionID, [...waiting(sessionID), messageID]),
    take: (sessionID) => {
      if (waiting(sessionID).length > 0) put(sessionID, []);
    },
    leave: (sessionID) => {
      for (const messageID of waiting(sessionID)) {
        const info = messages.get(sessionID)?.find((one) => one.info.id === messageID)?.info;
        if (info?.role !== 'user') continue;
        emit({ kind: 'event', event: { type: 'message.updated', properties: { info: { ...info, unsent: true } } } });
      }
      if (waiting(sessionID).length > 0) put(sessionID, []);
    },
    editQueued: async (sessionID, messageID, text) => {
      refuse(sessionID, messageID);
      const message = messages.get(sessionID)?.find((one) => one.info.id === messageID);
      const part = message?.parts.find((view) => view.part.type === 'text')?.part;
      if (part?.type === 'text') emit({ kind: 'part', part: viewOf({ ...part, text }) });
    },
    moveQueuedUp: async (sessionID, messageID) => {
      refuse(sessionID, messageID);
      const ids = waiting(sessionID);
      const at = ids.indexOf(messageID);
      const above = ids[at - 1];
      if (above === undefined) throw taken;
      const dated = [messageID, above].map((id) => messages.get(sessionID)?.find((one) => one.info.id === id)?.info);
      const [later, earlier] = dated;
      if (later?.role !== 'user' || earlier?.role !== 'user') throw taken;
      const retell = (info: typeof later, created: number) =>
        emit({ kind: 'event', event: { type: 'message.updated', properties: { info: { ...info, time: { ...info.time, created } } } } });
      const [first, second] = [earlier.time.created, later.time.created];
      retell(later, first);
      retell(earlier, second);
      put(sessionID, ids.with(at - 1, messageID).with(at, above));
    },
    sendQueuedNow: async (sessionID, messageID) => {
      const ids = waiting(sessionID);
      if (!ids.includes(messageID)) return;
      await abort(sessionID);
      for (const id of [messageID, ...ids.filter((one) => one !== messageID)]) await sendUnsent(sessionID, id);
    },
    sendUnsent,
    removeQueued: async (sessionID, messageID) => {
      const info = messages.get(sessionID)?.find((one) => one.info.id === messageID)?.info;
      if (info?.role === 'user' && info.unsent) return remove(sessionID, messageID);
      refuse(sessionID, messageID);
      remove(sessionID, messageID);
      put(
        sessionID,
        waiting(sessionID).filter((id) => id !== messageID),
      );
    },
  };
}
