/** What a finished call left behind, as far as its closed card says it. */
import type { ToolPart } from '../protocol';

interface Change {
  readonly additions: number;
  readonly deletions: number;
}

function metadataOf({ state }: ToolPart): Readonly<Record<string, unknown>> {
  return state.status === 'completed' ? (state.metadata ?? {}) : {};
}

/** How many lines a call changed. */
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

/** A command's exit code, where it is not the usual one. */
export function exitOf(part: ToolPart): number | undefined {
  const { exit } = metadataOf(part);
  return part.tool === 'bash' && typeof exit === 'number' && exit !== 0 ? exit : undefined;
}
