/**
 * What a permission request would allow, from the metadata of the tool. Pure.
 *
 * All of it is text from a model: it must be drawn through `text/visible`.
 */
import { en } from '../i18n/en';
import type { PermissionRequest } from '../protocol';

interface Fact {
  readonly label: string;
  /** Each on its own line, never cut. */
  readonly values: readonly string[];
  /** The values may have several lines. In other facts, a line break would look like a second value. */
  readonly lines?: true;
}

export interface PermissionDetails {
  /** The agent's own description, which may be wrong. */
  readonly said?: string;
  readonly facts: readonly Fact[];
  readonly diff?: string;
  /** Why no rule decided it. */
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
      // The patterns of a server's tool say nothing; its name and its input do.
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
