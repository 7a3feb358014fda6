/**
 * What a request would let happen, from what the tool told about it. Pure.
 *
 * Everything here is text that a model chose: it is drawn through `kit/visible` and nowhere else.
 */
import { en } from '../i18n/en';
import type { PermissionRequest } from '../protocol';

interface Fact {
  readonly label: string;
  /** Each on its own; drawn in full. */
  readonly values: readonly string[];
  /** A value may have several lines; a line break in any other would pass for a second value. */
  readonly lines?: true;
}

export interface PermissionDetails {
  /** In the words of the agent, which may be wrong. */
  readonly said?: string;
  readonly facts: readonly Fact[];
  readonly diff?: string;
  /** Why no rule could decide it. */
  readonly reasons: readonly string[];
}

export function describePermission({ permission, patterns, metadata }: PermissionRequest): PermissionDetails {
  const text = (name: string) => {
    const value = metadata[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const fact = (label: string, value: string | undefined): Fact[] =>
    value === undefined ? [] : [{ label, values: [value] }];
  const long = (label: string, value: string | undefined) =>
    fact(label, value).map((one): Fact => ({ ...one, lines: true }));
  const input = long(en.permission.facts.input, inputOf(metadata['input']));
  const { reasons } = metadata;
  const base = {
    said: text('description'),
    diff: text('diff'),
    reasons: Array.isArray(reasons) ? reasons.filter((one) => typeof one === 'string') : [],
  };
  const asked = { label: en.permission.facts.patterns, values: patterns };
  switch (permission) {
    case 'bash':
      return { ...base, facts: text('command') ? long(en.permission.facts.command, text('command')) : [asked] };
    case 'webfetch':
      return { ...base, facts: text('url') ? fact(en.permission.facts.url, text('url')) : [asked] };
    case 'edit':
      return { ...base, facts: [{ label: en.permission.facts.file, values: patterns }] };
    case 'external_directory':
      return {
        ...base,
        facts: [
          ...fact(en.permission.facts.path, text('filepath')),
          { label: en.permission.facts.outside, values: [text('parentDir') ?? patterns].flat() },
          ...long(en.permission.facts.command, text('command')),
        ],
      };
    case 'doom_loop':
      return { ...base, facts: [asked, ...input] };
    default: {
      // A server's tool is asked for as a whole; its name and its input say more.
      const tool = [
        ...fact(en.permission.facts.server, text('server')),
        ...fact(en.permission.facts.tool, text('tool')),
      ];
      return { ...base, facts: [...(tool.length > 0 ? tool : [asked]), ...input] };
    }
  }
}

function inputOf(input: unknown): string | undefined {
  return input === undefined ? undefined : JSON.stringify(input, undefined, 2);
}
