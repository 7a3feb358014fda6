import { createRoot, createEffect } from 'solid-js';
import { afterEach, describe, expect, test } from 'vitest';
import { duration, money } from '../text/format';
import { en, english } from './en';
import { choose, find } from './languages';
import { isGroup, live, show } from './live';
import { wording } from './wording';

afterEach(() => choose('en'));

describe('the language on screen', () => {
  test('is the chosen one, else the system’s, else English', () => {
    const tags = [
      find('en-XA', ['de']),
      find('', ['de', 'en-XB']),
      find('', ['en-GB']),
      find('xx', ['fr-CA', 'de']),
      find('', []),
    ].map((one) => one.tag);
    expect(tags).toEqual(['en-XA', 'en-XB', 'en', 'en', 'en']);
  });

  test('changes what is shown while the window is open, and the direction of the page', async () => {
    const shown: string[] = [];
    const dispose = createRoot((end) => {
      createEffect(() => shown.push(en.composer.send));
      return end;
    });
    await choose('en-XB');
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['en-XB', 'rtl']);
    await choose('en');
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['en', 'ltr']);
    dispose();
    expect(shown).toEqual(['Send', 'קההנדד', 'Send']);
  });

  test('holds for a group and a function that were taken before it was chosen', () => {
    const texts = live({ menu: { open: 'Open', more: (count: number) => `${count} more` } });
    const { menu } = texts;
    const { more } = menu;
    const german = { menu: { open: 'Öffnen', more: (count: number) => `${count} weitere` } };
    show({ tag: 'de', direction: 'ltr', texts: german });
    expect([menu.open, more(2), Object.keys(menu)]).toEqual(['Öffnen', '2 weitere', ['open', 'more']]);
    show({ tag: 'en', direction: 'ltr', texts: english });
  });

  test('formats numbers, money and times', () => {
    expect([money(1.5), duration(3210)]).toEqual(['$1.50', '3.2 s']);
    const german = { ...english, units: { ...english.units, seconds: (count: string) => `${count} Sek.` } };
    show({ tag: 'de', direction: 'ltr', texts: german });
    expect([money(1.5), duration(3210)]).toEqual(['1,50\u00a0$', '3,2 Sek.']);
    show({ tag: 'en', direction: 'ltr', texts: english });
  });
});

describe('a number in a sentence', () => {
  test('follows the plural rules of its language', () => {
    const polish = wording('pl');
    const files = (count: number) =>
      polish.plural(count, { one: '# plik', few: '# pliki', many: '# plików', other: '# pliku' });
    expect([1, 3, 12, 22].map(files)).toEqual(['1 plik', '3 pliki', '12 plików', '22 pliki']);
  });

  test('is grouped as the language groups it, and a list joined', () => {
    const { plural, list } = wording('en');
    expect(plural(1200, { one: '# file', other: '# files' })).toBe('1,200 files');
    expect(list(['a', 'b', 'c'])).toBe('a, b, and c');
  });
});

describe('the trial languages', () => {
  test('say everything in other letters, longer, and leave what they are given', async () => {
    await choose('en-XA');
    expect(en.palette.none('main.rs')).toMatch(/^[^a-z]+“main\.rs”$/i);
    const [long, short] = [en.composer.placeholder, english.composer.placeholder];
    expect(long.length / short.length).toBeGreaterThan(1.25);
  });

  test('have a text in every place that English has', async () => {
    await choose('en-XA');
    const places = (texts: object): string[] =>
      Object.entries(texts).flatMap(([key, text]) =>
        isGroup(text) ? places(text).map((place) => `${key}.${place}`) : [`${key}: ${typeof text}`],
      );
    expect(places(en)).toEqual(places(english));
    const plain = Object.values(en.actions.names).filter((name) => /[a-z]/i.test(name.replace('Lathe', '')));
    expect(plain).toEqual([]);
  });
});
