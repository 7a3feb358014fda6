import { expect, test } from 'vitest';
import { titleOf, writtenTitle } from './titles';

test.each([
  ['New session - 2026-11-16T18:04:56.123Z', 'New session'],
  ['Child session - 2026-11-16T18:04:56.123Z', 'New session'],
  ['', 'New session'],
  ['New session - of parliament', 'New session - of parliament'],
  ['Lamps\u202e', 'Lamps⟨U+202E⟩'],
])('%j is called %j', (title, called) => {
  expect(titleOf({ title })).toBe(called);
});

test('renaming starts with the stored title', () => {
  expect(writtenTitle({ title: 'Lamps\u202e' })).toBe('Lamps\u202e');
  expect(writtenTitle(undefined)).toBe('New session');
});
