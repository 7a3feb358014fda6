/**
 * Groups consecutive read-only calls, to show them in one line.
 *
 * Pure. A run may span several messages, because each step of a turn is a message.
 */
import type { MessageView, Part, ToolPart } from '../protocol';
import { lookOf } from './registry';

export interface RunCall {
  readonly part: { type: 'tool' } & ToolPart;
}

/** The whole run for each part in it. The first part draws it. */
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

/** A failed call gets its own line. */
function isLook(part: Part): part is { type: 'tool' } & ToolPart {
  return part.type === 'tool' && lookOf(part.tool).looks === true && part.state?.status !== 'error';
}

/** Parts that are not visible do not end a run. */
export function isMark(part: Part): boolean {
  const isEmpty = (part.type === 'text' || part.type === 'reasoning') && part.text === '';
  return isEmpty || UNSEEN.has(part.type);
}
