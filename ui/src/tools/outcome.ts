/** The result of a finished call, for the header of its card. */
import { en } from '../i18n/en';
import type { ToolPart } from '../protocol';

interface Change {
  readonly additions: number;
  readonly deletions: number;
}

export function metadataOf({ state }: ToolPart): Readonly<Record<string, unknown>> {
  return state.status === 'completed' ? (state.metadata ?? {}) : {};
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
