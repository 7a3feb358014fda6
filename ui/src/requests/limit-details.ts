/** What a reached limit says, from the metadata of its request. Pure. */
import { en } from '../i18n/en';
import { money } from '../text/format';
import type { Limits, PermissionRequest } from '../protocol';

interface LimitDetails {
  readonly title: string;
  /** The limit that was reached, in words. */
  readonly yours?: string;
  /** The next higher limit. */
  readonly raise?: { readonly words: string; readonly limits: Limits };
}

type LimitName = keyof Limits;

const WORDS: { [N in LimitName]-?: (value: number) => string } = {
  sessionCost: money,
  dayCost: money,
  turnSteps: (steps) => en.limits.steps(Math.floor(steps)),
  turnMinutes: (minutes) => en.limits.minutes(Math.floor(minutes)),
};

export function describeLimit({ metadata }: PermissionRequest, limits: Limits): LimitDetails {
  const name = nameOf(metadata['limit']);
  const [used, value] = [numberOf(metadata['used']), numberOf(metadata['value'])];
  if (name === undefined || used === undefined) return { title: en.limits.other };
  const say = WORDS[name];
  const title = en.limits.reached[name](say(used));
  if (value === undefined) return { title };
  const next = higher(value, used);
  return { title, yours: en.limits.yours(say(value)), raise: { words: say(next), limits: { ...limits, [name]: next } } };
}

/** As a setting is called, or as Rust calls it. */
function nameOf(name: unknown): LimitName | undefined {
  if (typeof name !== 'string') return undefined;
  const found = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return found in WORDS ? (found as LimitName) : undefined;
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Doubled until there is room above what is used. */
function higher(value: number, used: number): number {
  let next = value * 2;
  while (next > 0 && next <= used) next *= 2;
  return next;
}
