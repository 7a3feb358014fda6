/** The tokens and the cost of a session, including its tasks. */
import type { Host } from '../host/host';
import type { SessionUsage } from '../protocol';

export interface Usage {
  readonly sessionID: string;
  readonly cost: number;
  /** The share of its tasks. */
  readonly taskCost: number;
  readonly tasks: number;
  /** All input tokens, cached or not. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export async function readUsage(host: Pick<Host, 'sessionUsage'>, sessionID: string, tasks: readonly string[]): Promise<Usage> {
  const [own, ...others] = await Promise.all([sessionID, ...tasks].map((id) => host.sessionUsage(id)));
  return addUp(sessionID, own ? [own] : [], others);
}

function addUp(sessionID: string, own: readonly SessionUsage[], others: readonly SessionUsage[]): Usage {
  const all = [...own, ...others];
  const sum = (list: readonly SessionUsage[], pick: (usage: SessionUsage) => number) =>
    list.reduce((total, usage) => total + pick(usage), 0);
  return {
    sessionID,
    cost: sum(all, ({ cost }) => cost),
    taskCost: sum(others, ({ cost }) => cost),
    tasks: others.length,
    input: sum(all, ({ tokens }) => tokens.input + tokens.cache.read + tokens.cache.write),
    output: sum(all, ({ tokens }) => tokens.output + tokens.reasoning),
    cached: sum(all, ({ tokens }) => tokens.cache.read),
  };
}
