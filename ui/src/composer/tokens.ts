/** What the caret stands in: a command at the beginning, a mention, or plain text. Pure. */
import type { DraftSymbol, Mention, PromptFile } from '../protocol';

export interface Token {
  readonly kind: 'mention' | 'command';
  /** What was typed after the sign. */
  readonly query: string;
  /** From the sign up to the caret. */
  readonly start: number;
  readonly end: number;
}

/** Not after a word or a backtick: mail addresses and code are not mentions. */
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

/** The words that stand for a mention in the text. */
export function wordsOf(mention: Mention): string {
  return wordsFor(mention.kind === 'file' || mention.kind === 'directory' ? pathOf(mention) : mention.name);
}

export function wordsFor(name: string): string {
  return /\s/.test(name) ? `@"${name}"` : `@${name}`;
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

/** A command and what stands after it; nothing where the text is not one of these. */
export function commandOf(text: string, names: readonly string[]): { name: string; args: string } | undefined {
  const found = /^\/([\w:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = found?.[1];
  if (name === undefined || !names.includes(name)) return undefined;
  return { name, args: found?.[2]?.trim() ?? '' };
}

/** Symbols are named by their place, so that the core need not guess which one is meant. */
export function symbolFiles(text: string, symbols: readonly DraftSymbol[], root: string): PromptFile[] {
  return symbols.flatMap((symbol) => {
    const value = wordsFor(symbol.name);
    // Without looking back: not every webview's expressions can.
    const found = new RegExp(`(^|[^\\w\`])${escape(value)}(?!\\w)`).exec(text);
    if (!found) return [];
    const start = found.index + (found[1]?.length ?? 0);
    const path = joined(root, symbol.path);
    const line = (at: number, character: number) => ({ line: at - 1, character });
    return [
      {
        url: `${fileURL(path)}?start=${symbol.line}&end=${symbol.endLine}`,
        mime: 'text/plain',
        filename: symbol.path,
        source: {
          type: 'symbol' as const,
          path,
          name: symbol.name,
          kind: symbol.lspKind,
          range: { start: line(symbol.line, 0), end: line(symbol.endLine, 0) },
          text: { value, start, end: start + value.length },
        },
      },
    ];
  });
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function joined(root: string, path: string): string {
  const separator = root.includes('\\') && !root.includes('/') ? '\\' : '/';
  return root.replace(/[/\\]+$/, '') + separator + path.replaceAll('/', separator);
}

export function fileURL(path: string): string {
  // Elsewhere a backslash is a letter like any other.
  const slashed = /^[a-z]:/i.test(path) ? path.replaceAll('\\', '/') : path;
  const rooted = slashed.startsWith('/') ? slashed : `/${slashed}`;
  return `file://${rooted.split('/').map(encodeURIComponent).join('/').replace(/^\/([a-z])%3A/i, '/$1:')}`;
}
