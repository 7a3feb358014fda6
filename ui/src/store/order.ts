/**
 * The order of messages and parts.
 *
 * Ids carry 48 bits of a clock that wraps every 795 days, so they are never compared as text:
 * messages order by their time, and only equal times (and the parts of a message) by the id's
 * counter, in serial arithmetic.
 */
import type { Message, Part } from '../protocol';

const SPACE = 2 ** 48;
const HALF = SPACE / 2;
const COUNTER = /^[a-z]+_([0-9a-f]{12})/;

function counter(id: string): number | undefined {
  const digits = COUNTER.exec(id)?.[1];
  return digits === undefined ? undefined : parseInt(digits, 16);
}

/** Negative when `a` comes before `b`; 0 when the ids do not say. */
export function compareIds(a: string, b: string): number {
  const from = counter(a);
  const to = counter(b);
  if (from === undefined || to === undefined || from === to) return 0;
  const ahead = (to - from + SPACE) % SPACE;
  return ahead < HALF ? -1 : 1;
}

export function compareMessages(a: Message, b: Message): number {
  return a.time.created - b.time.created || compareIds(a.id, b.id);
}

export function compareParts(a: Part, b: Part): number {
  return compareIds(a.id, b.id);
}

/** A copy of `list` with `item` inserted in order, after equal items. */
export function insertInOrder<T>(list: readonly T[], item: T, compare: (a: T, b: T) => number): T[] {
  let at = list.length;
  while (at > 0 && compare(list[at - 1] as T, item) > 0) at -= 1;
  return [...list.slice(0, at), item, ...list.slice(at)];
}
