/** How full the context is, by what the newest step took. Pure. */
import type { Message, ModelView } from '../protocol';

export interface Context {
  readonly used: number;
  /** What may be taken before the session is summed up; 0 where nobody knows. */
  readonly usable: number;
  readonly limit: number;
  readonly willCompact: boolean;
}

const MOST_OUTPUT = 32_000;

export function contextOf(messages: readonly Message[], model: ModelView | undefined): Context {
  const newest = messages.findLast((info) => info.role === 'assistant' && info.tokens.input + info.tokens.output > 0);
  const used = newest?.role === 'assistant' ? taken(newest.tokens) : 0;
  const limit = model?.context ?? 0;
  const usable = limit === 0 ? 0 : Math.max(0, limit - Math.min(model?.output ?? 0, MOST_OUTPUT));
  return { used, usable, limit, willCompact: usable > 0 && used >= usable };
}

function taken({ input, output, cache }: { input: number; output: number; cache: { read: number; write: number } }) {
  return input + output + cache.read + cache.write;
}

/** How much of the newest is kept word for word when the rest is summed up. */
export function keptOf(usable: number): number {
  return Math.min(15_000, Math.max(2_000, Math.floor(usable / 4)));
}
