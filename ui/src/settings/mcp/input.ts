/** Parses and checks the form of a server. Pure. */
import { en } from '../../i18n/en';
import type { McpServerInput } from '../../protocol';
import { joinCommand, splitCommand } from './command';

const { wrong } = en.mcp.form;

/** The text of the form's fields. */
export interface Typed {
  readonly name: string;
  readonly kind: McpServerInput['kind'];
  readonly command: string;
  readonly environment: string;
  readonly sandbox: boolean;
  readonly url: string;
  readonly headers: string;
}

export type Field = Exclude<keyof Typed, 'kind' | 'sandbox'>;
export type Wrong = Partial<Record<Field, string>>;

export const NOTHING_TYPED: Typed = {
  name: '',
  kind: 'local',
  command: '',
  environment: '',
  sandbox: false,
  url: '',
  headers: '',
};

export type Read = { readonly input: McpServerInput } | { readonly wrong: Wrong };

/** `taken`: the names of the other servers. An edited server may keep its name. */
export function readForm(typed: Typed, taken: readonly string[], isNew: boolean): Read {
  const name = isNew ? wrongName(typed.name.trim(), taken) : undefined;
  const { input, wrong: others } = typed.kind === 'local' ? readLocal(typed) : readRemote(typed);
  const all = { ...(name === undefined ? {} : { name }), ...others };
  return Object.keys(all).length > 0 ? { wrong: all } : { input };
}

/** The fields for a stored server. */
export function typedOf(name: string, input: McpServerInput): Typed {
  return input.kind === 'local'
    ? {
        ...NOTHING_TYPED,
        name,
        command: joinCommand(input.command),
        environment: linesOf(input.environment),
        sandbox: input.sandbox ?? false,
      }
    : { ...NOTHING_TYPED, name, kind: 'remote', url: input.url, headers: linesOf(input.headers) };
}

function wrongName(name: string, taken: readonly string[]): string | undefined {
  if (name === '') return wrong.noName;
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return wrong.badName;
  return taken.includes(name) ? wrong.takenName : undefined;
}

interface Half {
  readonly input: McpServerInput;
  readonly wrong: Wrong;
}

function readLocal(typed: Typed): Half {
  const command = splitCommand(typed.command);
  const environment = pairsOf(typed.environment, (name) => /^[A-Za-z_]\w*$/.test(name), wrong.badVariable);
  return {
    input: {
      kind: 'local',
      command: command ?? [],
      environment: environment.pairs,
      ...(typed.sandbox && { sandbox: true }),
    },
    wrong: {
      ...(command === undefined && { command: wrong.openQuote }),
      ...(command !== undefined && !command[0] && { command: wrong.noCommand }),
      ...(environment.wrong !== undefined && { environment: environment.wrong }),
    },
  };
}

function readRemote(typed: Typed): Half {
  const url = typed.url.trim();
  const headers = pairsOf(typed.headers, (name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name), wrong.badHeader);
  return {
    input: { kind: 'remote', url, headers: headers.pairs },
    wrong: {
      ...(url === '' && { url: wrong.noURL }),
      ...(url !== '' && !isWeb(url) && { url: wrong.badURL }),
      ...(headers.wrong !== undefined && { headers: headers.wrong }),
    },
  };
}

function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** `NAME=value`, one per line; empty lines are ignored. */
function pairsOf(
  text: string,
  isName: (name: string) => boolean,
  badName: (line: number) => string,
): { pairs: Record<string, string>; wrong?: string } {
  const pairs = new Map<string, string>();
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const equals = line.indexOf('=');
    const name = line.slice(0, equals).trim();
    if (equals === -1) return { pairs: {}, wrong: wrong.noEquals(at + 1) };
    if (!isName(name)) return { pairs: {}, wrong: badName(at + 1) };
    if (pairs.has(name)) return { pairs: {}, wrong: wrong.twice(at + 1) };
    pairs.set(name, line.slice(equals + 1).trim());
  }
  return { pairs: Object.fromEntries(pairs) };
}

function linesOf(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}
