/** Spans of time in which a call waited for the person. Pure. */
import type { ToolPart } from '../protocol';

export interface Wait {
  readonly start: number;
  readonly end: number;
}

/** Those of a call that has ended. A question of earlier versions waited from its beginning to its end. */
export function waitsOf({ tool, state }: Pick<ToolPart, 'tool' | 'state'>): Wait[] {
  if (state.status !== 'completed' && state.status !== 'error') return [];
  const waits = state.metadata?.['waits'];
  if (Array.isArray(waits)) return waits.filter(isWait);
  return tool === 'question' ? [state.time] : [];
}

function isWait(value: unknown): value is Wait {
  if (typeof value !== 'object' || value === null) return false;
  const { start, end } = value as Partial<Wait>;
  return typeof start === 'number' && typeof end === 'number' && end >= start;
}

/** The time that is in any of the spans: calls that wait together wait once. */
export function lengthOf(waits: readonly Wait[]): number {
  let [length, until] = [0, -Infinity];
  for (const { start, end } of [...waits].sort((a, b) => a.start - b.start)) {
    length += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return length;
}
