/** The sections of the model picker and their order. Pure. */
import type { ModelList, ModelRef, ModelView, ProviderView, Settings } from '../protocol';
import { DEMO, keyOf } from '../store/models';
import { match, type MatchKind } from '../text/match';

export interface Entry {
  /** Unique in the list: a favourite is listed twice. */
  readonly key: string;
  readonly ref: ModelRef;
  readonly provider: ProviderView;
  readonly model: ModelView;
}

export type Section =
  | { readonly kind: 'favourites' | 'recent' | 'found'; readonly entries: readonly Entry[] }
  | { readonly kind: 'provider'; readonly provider: ProviderView; readonly entries: readonly Entry[] };

type Kept = Pick<Settings, 'favouriteModels' | 'recentModels'>;

/** Favourites, recent models and then all by provider; with a query, the best matches. */
export function sectionsOf(list: ModelList, kept: Kept, query: string): Section[] {
  const words = query.split(/\s+/).filter(Boolean);
  const sections = words.length === 0 ? byPlace(list, kept) : [found(list, kept, words)];
  return sections.filter((section) => section.entries.length > 0);
}

function byPlace(list: ModelList, kept: Kept): Section[] {
  const all = new Map(entriesOf(list).map((entry) => [keyOf(entry.ref), entry]));
  const pick = (kind: 'favourites' | 'recent', models: readonly ModelRef[]): Section => ({
    kind,
    entries: models.flatMap((model) => {
      const entry = all.get(keyOf(model));
      return entry ? [{ ...entry, key: `${kind}:${entry.key}` }] : [];
    }),
  });
  const favourites = new Set(kept.favouriteModels.map(keyOf));
  const recent = kept.recentModels.filter((model) => !favourites.has(keyOf(model)));
  const providers = [...list.providers].sort((a, b) => rank(a) - rank(b));
  return [
    pick('favourites', kept.favouriteModels),
    pick('recent', recent),
    ...providers.map((provider): Section => ({ kind: 'provider', provider, entries: entriesIn(provider) })),
  ];
}

/** Ready providers first, then the demo model, then the others. Otherwise the order of the list is kept. */
function rank(provider: ProviderView): number {
  if (!provider.ready) return 2;
  return provider.id === DEMO ? 1 : 0;
}

function found(list: ModelList, kept: Kept, words: readonly string[]): Section {
  const liked = new Set([...kept.favouriteModels, ...kept.recentModels].map(keyOf));
  const scored = entriesOf(list).flatMap((entry) => {
    const score = scoreOf(entry, words);
    if (score === undefined) return [];
    // Among equals, usable models first, then favourites and recent ones.
    const usable = (entry.provider.ready ? 0.5 : 0) + (liked.has(keyOf(entry.ref)) ? 0.25 : 0);
    return [{ entry, score: score + usable }];
  });
  return { kind: 'found', entries: scored.sort((a, b) => b.score - a.score).map(({ entry }) => entry) };
}

function scoreOf(entry: Entry, words: readonly string[]): number | undefined {
  const model = `${entry.model.name} ${entry.model.id}`;
  const provider = `${entry.provider.name} ${entry.provider.id}`;
  let total = 0;
  for (const word of words) {
    const score = Math.max(2 * pointsOf(model, word), pointsOf(provider, word));
    if (score === 0) return undefined;
    total += score;
  }
  return total;
}

const POINTS: Record<MatchKind, number> = { prefix: 3, word: 3, inside: 2, scattered: 1 };

function pointsOf(text: string, word: string): number {
  const kind = match(text, word)?.kind;
  // A single letter is in nearly every name.
  return kind === undefined || (kind === 'scattered' && word.length === 1) ? 0 : POINTS[kind];
}

function entriesOf(list: ModelList): Entry[] {
  return list.providers.flatMap(entriesIn);
}

function entriesIn(provider: ProviderView): Entry[] {
  return provider.models.map((model) => {
    const ref = { providerID: provider.id, modelID: model.id };
    return { key: keyOf(ref), ref, provider, model };
  });
}
