/** Context use and compaction of the scripted host. */
import type { ContextUse, LastUse, MessageView, UiUpdate } from '../../protocol';
import type { Host } from '../host';
import type { Clock } from './ids';
import { createWriter } from './parts';

const LIMITS = { usable: 168_000, limit: 200_000 };
/** The context of a step without token counts. */
const SOME = 48_000;

export function createFakeContext(
  clock: Clock,
  messages: ReadonlyMap<string, readonly MessageView[]>,
  emit: (...updates: UiUpdate[]) => void,
): Pick<Host, 'compact' | 'contextUse'> {
  return {
    contextUse: async (sessionID) => useOf(messages.get(sessionID) ?? []),
    compact: async (sessionID) => {
      const write = createWriter(sessionID, clock);
      const asked = write.user('', (id) => write.part(id, 'compaction', { auto: false }));
      asked.parts.shift();
      const time = { created: clock.now(), completed: clock.now() };
      const text = 'The lamp flickered because two timers wrote in the same tick; it settles requests once now.';
      const summary = write.answer(asked.info.id, { time, finish: 'stop', summary: true }, (id) =>
        write.part(id, 'text', { text, time: { start: 0, end: 1 } }),
      );
      for (const { info, parts } of [asked, summary]) {
        emit(
          { kind: 'event', event: { type: 'message.updated', properties: { info } } },
          ...parts.map((part) => ({ kind: 'part' as const, part })),
        );
      }
      emit({ kind: 'event', event: { type: 'session.compacted', properties: { sessionID } } });
    },
  };
}

export function useOf(messages: readonly MessageView[]): ContextUse {
  const used = usedBy(messages);
  return { used, ...LIMITS, willCompact: used >= LIMITS.usable };
}

/** From the whole session, like the core. */
export function lastUseOf(messages: readonly MessageView[]): LastUse | null {
  const info = messages.findLast((message) => message.info.role === 'user')?.info;
  if (info?.role !== 'user') return null;
  const { agent, model, variant } = info;
  return {
    created: info.time.created,
    ...(agent !== undefined && { agent }),
    ...(model && { model }),
    ...(variant !== undefined && { variant }),
  };
}

function usedBy(messages: readonly MessageView[]): number {
  const last = messages.findLast(({ info }) => info.role === 'assistant')?.info;
  if (last?.role !== 'assistant' || last.summary === true) return 0;
  const { input, output, cache } = last.tokens;
  return input + output + cache.read + cache.write || SOME;
}
