/**
 * Groups consecutive calls, to show them in one line: read-only calls, and edits of the same file.
 *
 * Pure. A run may span several messages, because each step of a turn is a message.
 */
import type { MessageView, Part, ToolPart } from '../protocol';
import { inputOf, word } from './input';
import { lookOf } from './registry';

export interface RunCall {
  readonly part: { type: 'tool' } & ToolPart;
}

/** The whole run for each part in it. The first part draws it. */
export type Runs = ReadonlyMap<string, readonly RunCall[]>;

const FEWEST_LOOKS = 3;
const FEWEST_EDITS = 2;
const EDITS: ReadonlySet<string> = new Set(['edit', 'write']);
const UNSEEN: ReadonlySet<string> = new Set(['step-start', 'step-finish', 'patch']);

export function runsOf(messages: readonly MessageView[]): Runs {
  const runs = new Map<string, readonly RunCall[]>();
  let run: RunCall[] = [];
  let kind: string | undefined;
  const close = () => {
    const fewest = kind === LOOKS ? FEWEST_LOOKS : FEWEST_EDITS;
    if (run.length >= fewest) for (const { part } of run) runs.set(part.id, run);
    run = [];
    kind = undefined;
  };
  for (const message of messages) {
    for (const { part } of message.parts) {
      const next = kindOf(part);
      if (next !== undefined) {
        if (next !== kind) close();
        kind = next;
        run.push({ part: part as RunCall['part'] });
      } else if (!isMark(part)) close();
    }
    if (message.info.role === 'assistant' && message.info.error) close();
  }
  close();
  return runs;
}

const LOOKS = 'looks';

/** What a call has in common with the others of its run. A failed call gets its own line. */
function kindOf(part: Part): string | undefined {
  if (part.type !== 'tool' || part.state?.status === 'error') return undefined;
  if (lookOf(part.tool).looks === true) return LOOKS;
  const file = fileOf(part);
  return file === undefined ? undefined : `edits ${file}`;
}

/** The file that a call edits, as far as its input is known. */
export function fileOf(part: ToolPart): string | undefined {
  if (!EDITS.has(part.tool) || !part.state || part.state.status === 'pending') return undefined;
  return word(inputOf(part.state), 'filePath') || undefined;
}

/** Parts that are not visible do not end a run. */
export function isMark(part: Part): boolean {
  const isEmpty = (part.type === 'text' || part.type === 'reasoning') && part.text === '';
  const isUnnamed = part.type === 'snapshot' && part.name === undefined;
  return isEmpty || isUnnamed || UNSEEN.has(part.type);
}
