/** What a turn changed and used, for the row and the line at its end. Pure. */
import type { FileDiff, MessageView, TokenUsage } from '../protocol';
import { lengthOf, waitsOf, type Wait } from './waits';
import type { Answer } from './turns';

/** What a turn changed, as far as it is known. */
export interface TurnChange {
  readonly files: readonly string[];
  /** Absent until the core has counted the lines. */
  readonly lines?: { readonly additions: number; readonly deletions: number };
}

export interface TurnTotals {
  readonly model: { readonly providerID: string; readonly modelID: string };
  /** Without the time in which calls waited for the person. */
  readonly millis: number;
  readonly tokens: TokenUsage;
  readonly cost: number;
}

/** Undefined if the turn changed nothing. */
export function changeOfTurn(user: MessageView | undefined, answers: readonly Answer[]): TurnChange | undefined {
  const diffs = user?.info.role === 'user' ? (user.info.summary?.diffs ?? []) : [];
  if (diffs.length > 0) return { files: diffs.map(({ file }) => file), lines: linesOf(diffs) };
  // The core counts after the step; an imported turn is not counted at all.
  const parts = answers.flatMap(({ parts }) => parts.flatMap(({ part }) => (part.type === 'patch' ? part.files : [])));
  const files = [...new Set(parts)];
  return files.length === 0 ? undefined : { files };
}

function linesOf(diffs: readonly FileDiff[]): TurnChange['lines'] {
  const sum = (key: 'additions' | 'deletions') => diffs.reduce((all, diff) => all + Number(diff[key]), 0);
  return { additions: sum('additions'), deletions: sum('deletions') };
}

function waitsIn(answers: readonly Answer[]): Wait[] {
  return answers.flatMap(({ parts }) => parts.flatMap(({ part }) => (part.type === 'tool' ? waitsOf(part) : [])));
}

/** Undefined until a step has ended. */
export function totalsOfTurn(answers: readonly Answer[]): TurnTotals | undefined {
  const steps = answers.flatMap(({ parts }) => parts.flatMap(({ part }) => (part.type === 'step-finish' ? [part] : [])));
  const [first, last] = [answers[0]?.info, answers.at(-1)?.info];
  if (steps.length === 0 || !first || !last) return undefined;
  const sum = (read: (tokens: TokenUsage) => number) => steps.reduce((all, step) => all + read(step.tokens), 0);
  return {
    model: { providerID: last.providerID, modelID: last.modelID },
    millis: (last.time.completed ?? last.time.created) - first.time.created - lengthOf(waitsIn(answers)),
    tokens: {
      input: sum(({ input }) => input),
      output: sum(({ output }) => output),
      reasoning: sum(({ reasoning }) => reasoning),
      cache: { read: sum(({ cache }) => cache.read), write: sum(({ cache }) => cache.write) },
    },
    cost: steps.reduce((all, step) => all + step.cost, 0),
  };
}
