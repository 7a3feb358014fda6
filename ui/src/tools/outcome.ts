/** The result of a finished call, for the header of its card. */
import { en } from '../i18n/en';
import type { CallOutcome, ToolPart } from '../protocol';
import { lengthOf, waitsOf } from '../store/waits';

interface Change {
  readonly additions: number;
  readonly deletions: number;
}

export function metadataOf({ state }: ToolPart): Readonly<Record<string, unknown>> {
  return state.status === 'completed' ? (state.metadata ?? {}) : {};
}

/** What sessions of earlier versions have instead of an outcome. */
const ABORTED = 'Tool execution aborted';

/** Why a call has no result although nothing in it failed; undefined if it failed, or has a result. */
export function outcomeOf({ state }: Pick<ToolPart, 'state'>): CallOutcome | undefined {
  if (state.status !== 'error') return undefined;
  const outcome = state.metadata?.['outcome'];
  if (isOutcome(outcome)) return outcome;
  return state.error === ABORTED ? 'stopped' : undefined;
}

function isOutcome(value: unknown): value is CallOutcome {
  return typeof value === 'string' && value in en.tool.outcomes;
}

/** The numbers of lines that a call added and removed. */
export function changeOf(part: ToolPart): Change | undefined {
  const { files, filediff } = metadataOf(part);
  const changes = [...(Array.isArray(files) ? files : []), filediff].filter(isChange);
  if (changes.length === 0) return undefined;
  return {
    additions: changes.reduce((sum, one) => sum + one.additions, 0),
    deletions: changes.reduce((sum, one) => sum + one.deletions, 0),
  };
}

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null) return false;
  const { additions, deletions } = value as Partial<Change>;
  return typeof additions === 'number' && typeof deletions === 'number';
}

/** How a command ended, if not with exit code 0. Without an exit code it was stopped. */
export function endingOf(part: ToolPart): string | undefined {
  const { exit, timedOut } = metadataOf(part);
  if (part.tool !== 'bash') return undefined;
  if (timedOut === true) return en.tool.timedOut;
  if (exit === null) return en.tool.killed;
  return typeof exit === 'number' && exit !== 0 ? en.tool.exit(exit) : undefined;
}

/** A command that ran and did not end well. Denied and stopped ones did not fail. */
export function isFailedCommand(part: ToolPart): boolean {
  if (part.tool !== 'bash') return false;
  return part.state.status === 'error' ? outcomeOf(part) === undefined : endingOf(part) !== undefined;
}

/** How long a call worked, without the time in which it waited. */
export function workedFor(part: Pick<ToolPart, 'tool' | 'state'>): number {
  const { state } = part;
  if (!('time' in state) || !('end' in state.time)) return 0;
  return state.time.end - state.time.start - lengthOf(waitsOf(part));
}

/** The protected files that a command made and that did not stay. */
export function setAsideOf(part: ToolPart): string[] | undefined {
  const { setAside } = metadataOf(part);
  return Array.isArray(setAside) ? setAside.filter((one) => typeof one === 'string') : undefined;
}

/** What of a call a revert will not cover: one sentence each. */
export function uncoveredOf({ state }: Pick<ToolPart, 'state'>): string[] | undefined {
  const metadata = state.status === 'completed' || state.status === 'error' ? state.metadata : undefined;
  const lines = metadata?.['notCovered'];
  const texts = Array.isArray(lines) ? lines.filter((one) => typeof one === 'string') : [];
  return texts.length > 0 ? texts : undefined;
}
