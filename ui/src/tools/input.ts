/** Short descriptions of a call's arguments, which may be incomplete or of any type. */
import { en } from '../i18n/en';
import { relativePath } from '../text/format';
import type { ToolState } from '../protocol';

export type ToolInput = Readonly<Record<string, unknown>>;
/** `result` is the metadata of a finished call. */
export type Say = (input: ToolInput, root: string | undefined, result?: ToolInput) => string;
export type SayAll = (input: ToolInput) => readonly string[];

export const word = (input: ToolInput, key: string): string => {
  const value = input[key];
  return typeof value === 'string' ? value : '';
};

export const nothing: Say = () => '';

export const text =
  (key: string): Say =>
  (input) =>
    word(input, key);

export const path =
  (key: string): Say =>
  (input, root) =>
    relativePath(word(input, key), root);

export const found: Say = (input, root) =>
  [word(input, 'pattern'), relativePath(word(input, 'path'), root)].filter((part) => part !== '').join('  ');

export const list =
  (key: string): Say =>
  (input) => {
    const items = input[key];
    return Array.isArray(items) ? en.tool.items(items.length) : '';
  };

/** The question, or how many there are. */
export const asked: Say = (input) => {
  const questions = questionsOf(input);
  if (questions.length === 0) return '';
  return questions.length === 1 ? (questions[0] ?? '') : en.work.call.questions(questions.length);
};

/** The answers of the person, in the order of the questions. */
export const answered: Say = (input, _root, result) => {
  const given = result?.['answers'];
  if (!Array.isArray(given)) return '';
  const words = questionsOf(input).map((_, index) => (Array.isArray(given[index]) ? given[index].join(', ') : ''));
  return words.map((one) => one || en.work.call.noAnswer).join(' · ');
};

function questionsOf(input: ToolInput): string[] {
  const questions = input['questions'];
  return Array.isArray(questions) ? questions.map((one) => (typeof one?.question === 'string' ? one.question : '')) : [];
}

/** The files of a patch. A long patch is shortened, but the result lists all files. */
export const patched: Say = (input, root, result) => {
  const patch = word(input, 'patchText');
  const named = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => match[1] ?? '');
  const changed = changedFiles(result?.['files']);
  if (changed.length > 0) return relative(changed, root).join(', ');
  return [...relative(named, root), ...(patch.endsWith(CUT) ? [CUT] : [])].join(', ');
};

/** The end of a shortened text. */
const CUT = '…';

const relative = (paths: readonly string[], root: string | undefined) => paths.map((one) => relativePath(one, root));

function changedFiles(files: unknown): readonly string[] {
  if (!Array.isArray(files)) return [];
  return files.map((one) => one?.file ?? one?.relativePath).filter((path) => typeof path === 'string');
}

export const firstWord: Say = (input) => {
  const first = Object.values(input).find((value) => typeof value === 'string' && value !== '');
  return typeof first === 'string' ? first : '';
};

/** The given arguments among these names, as text. */
export const texts =
  (sayings: Readonly<Record<string, (value: string) => string>>): SayAll =>
  (input) =>
    Object.entries(sayings).flatMap(([key, say]) => {
      const value = input[key];
      if (typeof value === 'string' && value !== '') return [say(value)];
      if (typeof value === 'number' || value === true) return [say(String(value))];
      return [];
    });

/**
 * The arguments as far as they are known. While they stream in they are incomplete JSON, of which the
 * strings can already be read.
 */
export function inputOf(state: ToolState): ToolInput {
  if (state.status !== 'pending' || state.raw === '') return state.input ?? {};
  const pairs = [...state.raw.matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)("?)/g)];
  return Object.fromEntries(pairs.map(([, key, value]) => [key, unescaped(value ?? '')]));
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}
