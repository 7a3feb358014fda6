/**
 * Runs of calls that only look: one below the other they say little, together they are one line.
 *
 * Pure. A run goes on from one message to the next where nothing stands between, because each
 * step of a turn is a message of its own.
 */
import type { MessageView, Part, ToolPart } from '../protocol';
import { lookOf } from './registry';

export interface RunCall {
  readonly part: { type: 'tool' } & ToolPart;
}

/** For each part in a run, the whole run. The first of it draws it. */
export type Runs = ReadonlyMap<string, readonly RunCall[]>;

const FEWEST = 3;
const UNSEEN: ReadonlySet<string> = new Set(['step-start', 'step-finish', 'snapshot']);

export function runsOf(messages: readonly MessageView[]): Runs {
  const runs = new Map<string, readonly RunCall[]>();
  let run: RunCall[] = [];
  const close = () => {
    if (run.length >= FEWEST) for (const { part } of run) runs.set(part.id, run);
    run = [];
  };
  for (const message of messages) {
    for (const { part } of message.parts) {
      if (isLook(part)) run.push({ part });
      else if (!isMark(part)) close();
    }
    if (message.info.role === 'assistant' && message.info.error) close();
  }
  close();
  return runs;
}

/** A failed look is worth a line of its own. */
function isLook(part: Part): part is { type: 'tool' } & ToolPart {
  return part.type === 'tool' && lookOf(part.tool).looks === true && part.state?.status !== 'error';
}

/** Nothing to see between two calls. */
export function isMark(part: Part): boolean {
  const isEmpty = (part.type === 'text' || part.type === 'reasoning') && part.text === '';
  return isEmpty || UNSEEN.has(part.type);
}
