/**
 * The texts on screen, in the language chosen now.
 *
 * Reading one depends on the language, so what shows it changes with it: also when a group of texts
 * was taken out of the whole before, even once for a module.
 */
import { createSignal } from 'solid-js';

export interface Language {
  /** As in `<html lang>`, and what `Intl` formats by. */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: object;
}

const [language, setLanguage] = createSignal<Language>();

const SYSTEM = navigator.languages;

/** What to format by: the language of the screen, in the system's variant of it where it has one. */
export function locale(): string {
  const tag = language()?.tag ?? 'en';
  return SYSTEM.find((system) => system.split('-')[0] === tag) ?? tag;
}

export function show(next: Language): void {
  setLanguage(next);
  document.documentElement.lang = next.tag;
  document.documentElement.dir = next.direction;
}

/** `english` until another language is shown, which has a text in every place that English has. */
export function live<T extends object>(english: T): T {
  return follow(english, (texts) => texts);
}

function follow<T extends object>(english: T, find: (texts: object) => object): T {
  const groups = new Map<PropertyKey, object>();
  return new Proxy(english, {
    get(here, key) {
      const inEnglish: unknown = Reflect.get(here, key);
      if (isGroup(inEnglish)) {
        let group = groups.get(key);
        if (!group) {
          group = follow(inEnglish, (texts) => Reflect.get(find(texts), key) as object);
          groups.set(key, group);
        }
        return group;
      }
      const now = () => {
        const chosen = language();
        return chosen ? (Reflect.get(find(chosen.texts), key) as unknown) : inEnglish;
      };
      // A function may be stored and called later.
      return typeof inEnglish === 'function' ? (...given: unknown[]) => (now() as Say)(...given) : now();
    },
  });
}

type Say = (...given: unknown[]) => unknown;

/** A list is one text: its length may differ. */
export function isGroup(text: unknown): text is object {
  return typeof text === 'object' && text !== null && !Array.isArray(text);
}
