import { expect, test } from 'vitest';
import { hasWords, match, ranked } from './match';

test.each([
  ['New session', 'new', 'prefix'],
  ['New session', 'SES', 'word'],
  ['New session', 'ssi', 'inside'],
  ['New session', 'nss', 'scattered'],
  ['New session', 'new ses', 'scattered'],
  ['gpt-5-mini', 'mini', 'word'],
  ['Übung', 'bung', 'inside'],
  ['anything', '', 'prefix'],
  ['New session', 'sns', undefined],
])('%s and “%s”: %s', (text, typed, kind) => {
  expect(match(text, typed)?.kind).toBe(kind);
});

test('letters in order fit; together and at the start of words fits better', () => {
  const items = ['Toggle sidebar', 'New session', 'Find next', 'Open folder…'];
  const fits = (typed: string) => ranked(items, (item) => item, typed);
  expect(fits('new')[0]).toBe('New session');
  expect(fits('ns')[0]).toBe('New session');
  expect(fits('fn')).toEqual(['Find next']);
  expect(fits('xyz')).toEqual([]);
  expect(fits(' ')).toEqual(items);
});

test('words are found in a longer text, whatever their order', () => {
  const text = 'Plant the tulips before the roses';
  expect(['', ' ', 'ROSES tulip', 'plant the'].map((typed) => hasWords(text, typed))).toEqual([true, true, true, true]);
  expect(hasWords(text, 'tulips lamp')).toBe(false);
});
