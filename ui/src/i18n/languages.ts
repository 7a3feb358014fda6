/** Which languages there are, and which of them is shown. */
import { english } from './en';
import { show, type Language } from './live';

const PSEUDO = ['en-XA', 'en-XB'] as const;

interface Known {
  readonly tag: string;
  /** In the language itself, for people who look for it. */
  readonly name: string;
  readonly load: () => Promise<Language> | Language;
}

const ENGLISH: Known = {
  tag: 'en',
  name: 'English',
  load: () => ({ tag: 'en', direction: 'ltr', texts: english }),
};
const SHIPPED: readonly Known[] = [ENGLISH];

/** For development and tests. Nothing offers them in a build for people, and their code is a file of its own. */
const TRIALS: readonly Known[] = PSEUDO.map((tag) => ({
  tag,
  name: tag === 'en-XA' ? 'Áççéñţš' : 'ימין לשמאל',
  load: async () => (await import('./pseudo')).pseudo(tag, english),
}));

/** What a person can choose from. */
export const LANGUAGES: readonly Known[] = import.meta.env.DEV ? [...SHIPPED, ...TRIALS] : SHIPPED;

/** The language of this tag, else the first of the system's that there is, else English. */
export function find(tag: string, system: readonly string[]): Known {
  const exact = (wanted: string) => [...SHIPPED, ...TRIALS].find((one) => one.tag === wanted);
  const base = (wanted: string) => exact(wanted.split('-')[0] ?? wanted);
  for (const wanted of [tag, ...system]) {
    const found = exact(wanted) ?? base(wanted);
    if (found) return found;
  }
  return ENGLISH;
}

let chosen = ENGLISH;

/** Shows the language with this tag; an empty tag stands for the system's own. */
export async function choose(tag: string): Promise<void> {
  const found = find(tag, navigator.languages);
  if (found === chosen) return;
  chosen = found;
  const language = await found.load();
  // Another one may have been chosen meanwhile.
  if (chosen === found) show(language);
}
