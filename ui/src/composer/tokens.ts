/** Finds the token at the caret: a command at the beginning, or a mention. Pure. */
import type { Mention } from '../protocol';
import { mentionOf } from '../store/mentions';

export interface Token {
  readonly kind: 'mention' | 'command';
  /** The text after the `@` or `/`. */
  readonly query: string;
  /** From the `@` or `/` up to the caret. */
  readonly start: number;
  readonly end: number;
}

/** Not after a word character or a backtick: mail addresses and code are not mentions. */
const MENTION = /(?:^|[^\w`@])@("[^"\n]*|[^\s`"]*)$/u;
const COMMAND = /^\/([\w:-]*)$/;

export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const command = COMMAND.exec(before);
  if (command) return { kind: 'command', query: command[1] ?? '', start: 0, end: caret };
  const mention = MENTION.exec(before);
  if (!mention) return undefined;
  const typed = mention[1] ?? '';
  return { kind: 'mention', query: typed.replace(/^"/, ''), start: caret - typed.length - 1, end: caret };
}

/** The text of a mention, such as `@src/a.ts`. */
export function wordsOf(mention: Mention): string {
  return mentionOf(mention.kind === 'file' || mention.kind === 'directory' ? pathOf(mention) : mention.name);
}

function pathOf(mention: Extract<Mention, { path: string; kind: 'file' | 'directory' }>): string {
  return mention.kind === 'directory' ? `${mention.path.replace(/\/+$/, '')}/` : mention.path;
}

export interface Inserted {
  readonly text: string;
  readonly caret: number;
}

export function insert(text: string, token: Token, words: string, space = true): Inserted {
  const after = text.slice(token.end);
  const gap = space && !/^\s/.test(after) ? ' ' : '';
  const put = words + gap;
  const caret = token.start + put.length + (space && gap === '' ? 1 : 0);
  return { text: text.slice(0, token.start) + put + after, caret };
}

/** The command and its arguments; undefined if the text is not one of these commands. */
export function commandOf(text: string, names: readonly string[]): { name: string; args: string } | undefined {
  const found = /^\/([\w:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = found?.[1];
  if (name === undefined || !names.includes(name)) return undefined;
  return { name, args: found?.[2]?.trim() ?? '' };
}
