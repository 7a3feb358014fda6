/**
 * Reads a unified diff as files that the diff view can draw. Pure.
 *
 * File headers are told from changed lines by the line counts of the hunk before, never by how they
 * begin. The text comes from a model and its files: characters that could mislead get their codes.
 */
import { visible } from '../text/visible';
import type { DiffHunk, DiffLine, FileDiffView, Span } from '../protocol';

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const NOWHERE = '/dev/null';

export function readUnified(text: string): FileDiffView[] {
  const files: FileDiffView[] = [];
  let names: { old?: string; fresh?: string } = {};
  let hunk: DiffHunk | undefined;
  let left = { old: 0, fresh: 0 };
  let at = { old: 0, fresh: 0 };
  const inHunk = () => left.old > 0 || left.fresh > 0;

  for (const line of text.replace(/\n$/, '').split('\n')) {
    const found = inHunk() ? null : HUNK.exec(line);
    if (found) {
      const [oldStart, oldLines, newStart, newLines] = [1, 2, 3, 4].map((group) => Number(found[group] ?? 1)) as Four;
      left = { old: oldLines, fresh: newLines };
      at = { old: oldStart, fresh: newStart };
      hunk = { oldStart, oldLines, newStart, newLines, ...(found[5] && { heading: found[5] }), lines: [] };
      if (files.length === 0) files.push(begin({}));
      files.at(-1)?.hunks.push(hunk);
    } else if (line.startsWith('\\')) {
      const last = hunk?.lines.at(-1);
      if (last) last.noNewline = true;
    } else if (inHunk()) {
      const drawn = lineOf(line, at);
      if (drawn.kind !== 'add') (left.old -= 1), (at.old += 1);
      if (drawn.kind !== 'del') (left.fresh -= 1), (at.fresh += 1);
      hunk?.lines.push(drawn);
      const file = files.at(-1);
      if (file && drawn.kind === 'add') file.additions += 1;
      if (file && drawn.kind === 'del') file.deletions += 1;
    } else if (line.startsWith('--- ')) {
      names = { old: nameOf(line) };
    } else if (line.startsWith('+++ ')) {
      names = { ...names, fresh: nameOf(line) };
      files.push(begin(names));
      hunk = undefined;
    }
  }
  return files;
}

type Four = [number, number, number, number];

function begin({ old, fresh }: { old?: string; fresh?: string }): FileDiffView {
  const status = old === NOWHERE ? 'added' : fresh === NOWHERE ? 'deleted' : 'modified';
  const path = (status === 'deleted' ? old : fresh) ?? '';
  return { path, status, additions: 0, deletions: 0, hunks: [] };
}

/** Without `a/` or `b/`, and without the quotes around a name with unusual characters. */
function nameOf(header: string): string {
  const name = header.slice(4);
  if (name === NOWHERE) return name;
  const bare = name.replace(/^[ab]\//, '');
  return /^".*"$/.test(bare) ? bare.slice(1, -1) : bare;
}

function lineOf(line: string, at: { old: number; fresh: number }): DiffLine {
  const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : 'context';
  const numbers = {
    ...(kind !== 'add' && { old: at.old }),
    ...(kind !== 'del' && { new: at.fresh }),
  };
  return { kind, ...numbers, spans: spansOf(line.slice(1)) };
}

function spansOf(text: string): Span[] {
  const shown = visible(text);
  return [shown === text ? { text } : { text, shown }];
}
