/**
 * What a permission request would allow, as the dialog shows it. Pure.
 *
 * All of it is text from a model: it must be drawn through `text/visible`.
 */
import { readUnified } from '../diff/unified';
import { en } from '../i18n/en';
import type { CommandDanger, FileDiffView, PermissionRequest } from '../protocol';

export interface Fact {
  readonly label: string;
  /** Each on its own line, never cut. */
  readonly values: readonly string[];
  /** The values may have several lines. In other facts, a line break would look like a second value. */
  readonly lines?: true;
}

/** One thing that the call needs. */
export interface ShownNeed {
  readonly label: string;
  /** Empty if the facts show it already. */
  readonly values: readonly string[];
  readonly reasons: readonly string[];
}

/** A rule that "always" would add. */
interface AddedRule {
  readonly permission: string;
  readonly pattern: string;
}

export interface PermissionDetails {
  readonly title: string;
  /** The agent's own description, which may be wrong. */
  readonly said?: string;
  readonly facts: readonly Fact[];
  /** What would change in files. */
  readonly files: readonly FileDiffView[];
  readonly needs: readonly ShownNeed[];
  readonly dangers: readonly CommandDanger[];
  /** The sandbox has stopped the command: what it wanted. */
  readonly stopped?: string;
  /** The command has run, and what it made is set aside until the answer. */
  readonly aside?: true;
  /** What a revert will not cover: one sentence each. */
  readonly uncovered?: readonly string[];
  /** Empty if an answer cannot be remembered. */
  readonly rules: readonly AddedRule[];
}

export function describePermission(request: PermissionRequest): PermissionDetails {
  const { metadata } = request;
  const reader = createReader(metadata);
  const files = readFiles(metadata);
  const stopped = reader.text('refused');
  const facts = factsOf(request, reader, files);
  const uncovered = textsOf(metadata['notCovered']);
  return {
    title: titleOf(request, files),
    said: reader.text('description'),
    facts,
    files,
    needs: needsOf(request, facts),
    dangers: request.dangers ?? [],
    ...(stopped !== undefined && { stopped }),
    ...(isSetAside(request) && { aside: true }),
    ...(uncovered.length > 0 && { uncovered }),
    rules: rulesOf(request),
  };
}

/** A command in the sandbox has made protected files. */
function isSetAside({ metadata }: PermissionRequest): boolean {
  return Array.isArray(metadata['setAside']);
}

/** What the call is about; a command may need more than the permission to run. */
function subjectOf(request: PermissionRequest): string {
  const { permission, metadata } = request;
  if (isSetAside(request)) return 'set_aside';
  if (typeof metadata['refused'] === 'string') return permission;
  if (typeof metadata['command'] === 'string') return 'bash';
  if (typeof metadata['diff'] === 'string') return 'edit';
  if (typeof metadata['url'] === 'string') return 'webfetch';
  return permission;
}

function titleOf(request: PermissionRequest, files: readonly FileDiffView[]): string {
  const subject = subjectOf(request);
  const { titles, create, createAll, editAll, title, run, fetch, again } = en.permission;
  if (typeof request.metadata['refused'] === 'string') {
    const asked = new Set((request.needs ?? []).map(({ permission }) => permission));
    return (asked.size > 1 ? again['several'] : again[subject]) ?? titles[subject] ?? title(subject);
  }
  const program = subject === 'bash' ? programOf(request.metadata['command']) : undefined;
  if (program !== undefined) return run(program);
  const host = subject === 'webfetch' ? hostOf(request.metadata['url']) : undefined;
  if (host !== undefined) return fetch(host);
  if (subject === 'edit' && files.length > 0) {
    const fresh = files.every((file) => file.status === 'added');
    if (files.length > 1) return (fresh ? createAll : editAll)(files.length);
    if (fresh) return create;
  }
  return titles[subject] ?? title(subject);
}

/** Their second word says what they do. */
const WITH_SUBCOMMANDS = new Set(['git', 'cargo', 'npm', 'pnpm', 'yarn', 'docker', 'kubectl', 'go', 'gh', 'pip', 'brew', 'apt']);

/** The program of one plain command. Of anything else, a title would not say all. */
function programOf(command: unknown): string | undefined {
  if (typeof command !== 'string' || !/^[\w./:=@,+ -]+$/.test(command)) return undefined;
  const [program = '', second = ''] = command.trim().split(' ');
  if (!/^[\w.-]+$/.test(program) || program.length > 30) return undefined;
  return WITH_SUBCOMMANDS.has(program) && /^[a-z-]{1,20}$/.test(second) && !second.startsWith('-')
    ? `${program} ${second}`
    : program;
}

function hostOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  return new URL(url).host || undefined;
}

type Reader = ReturnType<typeof createReader>;

function createReader(metadata: PermissionRequest['metadata']) {
  const text = (name: string) => {
    const value = metadata[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const fact = (label: string, value: string | undefined): Fact[] =>
    value === undefined ? [] : [{ label, values: [value] }];
  return {
    text,
    fact,
    long: (label: string, value: string | undefined) => fact(label, value).map((one): Fact => ({ ...one, lines: true })),
  };
}

function factsOf(request: PermissionRequest, { text, fact, long }: Reader, files: readonly FileDiffView[]): Fact[] {
  const { patterns, metadata } = request;
  const { facts } = en.permission;
  const asked: Fact = { label: facts.patterns, values: patterns };
  const input = long(facts.input, inputOf(metadata['input']));
  const command = long(facts.command, text('command'));
  if (command.length > 0) return command;
  switch (subjectOf(request)) {
    case 'webfetch':
      return text('url') ? fact(facts.url, text('url')) : [asked];
    case 'edit':
      // Several files have headers of their own.
      return files.length > 1 ? [] : [{ label: facts.file, values: patterns }];
    case 'external_directory':
      return [...fact(facts.path, text('filepath')), { label: facts.outside, values: patterns }];
    case 'doom_loop':
      return [asked, ...input];
    default: {
      // The patterns of a server's tool say nothing; its name and its input do.
      const tool = [...fact(facts.server, text('server')), ...fact(facts.tool, text('tool'))];
      return [...(tool.length > 0 ? tool : [asked]), ...input];
    }
  }
}

/** That no rule allows it is why every request is there. */
const USUAL = /^No rule allows /;

/** Paths outside the project are one item, however many there are. */
function needsOf(request: PermissionRequest, facts: readonly Fact[]): ShownNeed[] {
  const shown = new Set(facts.flatMap((fact) => fact.values));
  // The address of a fetch has its host.
  const isShown = (permission: string, value: string) =>
    shown.has(value) || (permission === 'webfetch' && [...shown].some((one) => one.includes(`//${value}`)));
  const groups = new Map<string, { values: string[]; reasons: string[] }>();
  const needs = request.needs ?? [];
  for (const { permission, patterns, reasons } of needs) {
    const group = groups.get(permission) ?? { values: [], reasons: [] };
    group.values.push(...patterns.filter((one) => one !== '*' && !isShown(permission, one) && !group.values.includes(one)));
    group.reasons.push(...reasons.filter((one) => !USUAL.test(one) && !group.reasons.includes(one)));
    groups.set(permission, group);
  }
  // All hosts can be reached then, and these are why.
  groups.get('network')?.values.push(...textsOf(request.metadata['hosts']));
  const own = needs.length === 0 ? reasonsOf(request) : [];
  const listed = [...groups].map(([permission, group]) => ({
    label: en.permission.needs[isSetAside(request) ? 'set_aside' : permission] ?? permission,
    ...group,
  }));
  const all = own.length === 0 ? listed : [{ label: '', values: [], reasons: own }];
  // One need without anything to add is what the facts say.
  return all.length === 1 ? all.filter(({ values, reasons }) => values.length > 0 || reasons.length > 0) : all;
}

/** Of a request without a list of needs. */
function reasonsOf({ metadata }: PermissionRequest): string[] {
  return textsOf(metadata['reasons']);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function rulesOf({ permission, always, needs }: PermissionRequest): AddedRule[] {
  if (always.length === 0) return [];
  const from = needs && needs.length > 0 ? needs : [{ permission, always }];
  return from.flatMap((need) => need.always.map((pattern) => ({ permission: need.permission, pattern })));
}

/** The diff as text has the lines; the tool knows the names, also of files that were moved. */
function readFiles(metadata: PermissionRequest['metadata']): FileDiffView[] {
  const { diff, filediff, files } = metadata;
  if (typeof diff !== 'string') return [];
  const named = [...(Array.isArray(files) ? files : []), filediff].filter(isNamed);
  return readUnified(diff).map((view, index, all) => {
    const known = all.length === named.length ? named[index] : undefined;
    if (!known) return view;
    const moved = typeof known.from === 'string' ? { oldPath: known.from, status: 'renamed' as const } : {};
    return { ...view, path: known.file, ...moved };
  });
}

function isNamed(value: unknown): value is { file: string; from?: unknown } {
  return typeof value === 'object' && value !== null && 'file' in value && typeof value.file === 'string';
}

function inputOf(input: unknown): string | undefined {
  return input === undefined ? undefined : JSON.stringify(input, undefined, 2);
}
