/**
 * The content of opened cards, for the scripted host. In the app Rust makes it from the stored part;
 * this parses just enough to fill every kind of card.
 */
import type { DiffLine, FileDiffView, Span, ToolBody, ToolDetails, ToolPart } from '../../protocol';
import { blocksOf } from './markdown';

type Input = Readonly<Record<string, unknown>>;

export function detailsOf(part: ToolPart, whole: boolean): ToolDetails {
  const { state } = part;
  const printed = part.tool === 'bash' ? metadataOf(part)['output'] : undefined;
  const output = state.status === 'completed' ? state.output : state.status === 'error' ? String(printed ?? '') : '';
  const body = bodyOf(part.tool, state.input ?? {}, output, metadataOf(part), state.status, whole);
  const saved = metadataOf(part)['outputPath'];
  return {
    input: Object.keys(state.input ?? {}).length === 0 ? '' : JSON.stringify(state.input, undefined, 2),
    output,
    ...(state.status === 'error' ? { error: state.error } : {}),
    ...(body ? { body } : {}),
    ...(typeof saved === 'string' ? { wholeOutput: saved } : {}),
  };
}

function metadataOf({ state }: ToolPart): Input {
  return state.status === 'pending' ? {} : (state.metadata ?? {});
}

function bodyOf(
  tool: string,
  input: Input,
  output: string,
  metadata: Input,
  status: string,
  whole: boolean,
): ToolBody | undefined {
  const patch = tool === 'apply_patch' && status !== 'completed' ? input['patchText'] : undefined;
  if (typeof patch === 'string') {
    return { kind: 'code', path: 'changes.diff', first: 1, lines: patch.split('\n').map(coloured) };
  }
  if (tool === 'edit' || tool === 'write' || tool === 'apply_patch') return changes(tool, input, metadata, whole);
  if (tool === 'bash') {
    const printed = String(metadata['output'] ?? output);
    return printed === '' ? undefined : { kind: 'terminal', html: terminal(printed), cut: metadata['cardCut'] === true };
  }
  if (status !== 'completed' || output === '') return undefined;
  switch (tool) {
    case 'read':
      return code(String(input['filePath'] ?? ''), output);
    case 'grep':
      return matches(output, String(input['pattern'] ?? ''));
    case 'glob':
      return { kind: 'paths', paths: output.split('\n') };
    case 'list':
      return tree(output);
    case 'question':
      return answers(input['questions'], metadata['answers']);
    case 'webfetch':
    case 'task':
      return { kind: 'markdown', blocks: blocksOf(output) };
    default:
      return undefined;
  }
}

function code(path: string, output: string): ToolBody | undefined {
  const lines = output.split('\n').flatMap((line) => /^\s*(\d+)\t(.*)$/.exec(line) ?? []);
  const numbers = lines.filter((_, index) => index % 3 === 1);
  const texts = lines.filter((_, index) => index % 3 === 2);
  if (numbers.length === 0) return undefined;
  return { kind: 'code', path, first: Number(numbers[0]), lines: texts.map(coloured) };
}

function coloured(text: string): Span[] {
  return text
    .split(/\b(fn|let|pub|struct|mut|self|return|if|else|for|in|match|impl|use)\b/)
    .map((piece, index) => (index % 2 === 1 ? { text: piece, class: 'hl-keyword' } : { text: piece }))
    .filter((span) => span.text !== '');
}

function matches(output: string, pattern: string): ToolBody {
  const files = output.split('\n\n').map((block) => {
    const [head = '', ...lines] = block.split('\n');
    return {
      path: head.replace(/:$/, ''),
      lines: lines.map((line) => {
        const [, number, text] = /^\s*(\d+): (.*)$/.exec(line) ?? [];
        return { number: Number(number), spans: marked(text ?? '', pattern) };
      }),
    };
  });
  return { kind: 'matches', files };
}

function marked(text: string, word: string): Span[] {
  return text
    .split(word)
    .flatMap((piece, index): Span[] => (index === 0 ? [{ text: piece }] : [{ text: word, mark: true }, { text: piece }]))
    .filter((span) => span.text !== '');
}

function answers(asked: unknown, given: unknown): ToolBody | undefined {
  if (!Array.isArray(asked) || !Array.isArray(given)) return undefined;
  const questions = asked.map(({ question }, index) => ({ question: String(question), answers: given[index] ?? [] }));
  return { kind: 'answers', questions };
}

function tree(output: string): ToolBody {
  const above: string[] = [];
  const entries = output
    .split('\n')
    .slice(1)
    .map((line) => {
      const name = line.trim().replace(/\/$/, '');
      const depth = (line.length - line.trimStart().length) / 2 - 1;
      above.length = depth;
      above.push(name);
      return { depth, name, path: above.join('/'), directory: line.endsWith('/') };
    });
  return { kind: 'tree', root: '', entries };
}

function changes(tool: string, input: Input, metadata: Input, whole: boolean): ToolBody | undefined {
  const stored = Array.isArray(metadata['files']) ? metadata['files'] : [metadata['filediff']];
  const files = (stored as ({ file?: string; before?: string; after?: string; from?: string } | undefined)[])
    .filter((file) => file?.file !== undefined)
    .map((file) => diffOf(file?.file ?? '', file?.before, file?.after, whole, file?.from));
  if (files.length > 0) return { kind: 'diffs', files };
  const path = String(input['filePath'] ?? '');
  if (path === '') return undefined;
  const before = tool === 'edit' ? String(input['oldString'] ?? '') : undefined;
  const after = String((tool === 'edit' ? input['newString'] : input['content']) ?? '');
  return { kind: 'diffs', files: [diffOf(path, before, after, whole)] };
}

/** One hunk; equal lines at either end are context. */
function diffOf(
  path: string,
  before: string | undefined,
  after: string | undefined,
  whole = false,
  from?: string,
): FileDiffView {
  const old = linesOf(before);
  const fresh = linesOf(after);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const context = whole ? Number.POSITIVE_INFINITY : 3;
  const first = Math.max(0, head - context);
  const after_ = Math.min(tail, context);
  const lines: DiffLine[] = [
    ...old.slice(first, head).map((text, at): DiffLine => line('context', text, first + at + 1, first + at + 1)),
    ...old.slice(head, old.length - tail).map((text, at): DiffLine => line('del', text, head + at + 1)),
    ...fresh
      .slice(head, fresh.length - tail)
      .map((text, at): DiffLine => line('add', text, undefined, head + at + 1)),
    ...old
      .slice(old.length - tail, old.length - tail + after_)
      .map((text, at): DiffLine => line('context', text, old.length - tail + at + 1, fresh.length - tail + at + 1)),
  ];
  const count = (kind: DiffLine['kind']) => lines.filter((one) => one.kind === kind).length;
  const status = before === undefined ? 'added' : after === undefined ? 'deleted' : from ? 'renamed' : 'modified';
  return {
    path,
    ...(from === undefined ? {} : { oldPath: from }),
    status,
    additions: count('add'),
    deletions: count('del'),
    hunks:
      count('add') + count('del') === 0
        ? []
        : [
            {
              oldStart: old.length === 0 ? 0 : first + 1,
              oldLines: lines.filter((one) => one.kind !== 'add').length,
              newStart: fresh.length === 0 ? 0 : first + 1,
              newLines: lines.filter((one) => one.kind !== 'del').length,
              lines,
            },
          ],
  };
}

function linesOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function line(kind: DiffLine['kind'], text: string, old?: number, fresh?: number): DiffLine {
  return {
    kind,
    ...(old === undefined ? {} : { old }),
    ...(fresh === undefined ? {} : { new: fresh }),
    spans: coloured(text),
  };
}

/** Only green and red. */
function terminal(text: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return safe
    .replaceAll(/\u001b\[32m(.*?)\u001b\[0m/g, '<span class="ansi-fg-2">$1</span>')
    .replaceAll(/\u001b\[31m(.*?)\u001b\[0m/g, '<span class="ansi-fg-1">$1</span>');
}
