import { expect, test } from 'vitest';
import { ago, baseName, contextSize, count, countdown, duration, longDuration, money, price, relativePath } from './format';

test('a duration is worth a word from a second on', () => {
  expect([0, 999, 1000, 75_000].map(longDuration)).toEqual(['', '', '1.0 s', '1 min 15 s']);
});

test('durations read as people say them', () => {
  expect([12, 999, 3210, 42_000, 75_000, 3_900_000].map(duration)).toEqual([
    '12 ms',
    '999 ms',
    '3.2 s',
    '42 s',
    '1 min 15 s',
    '1 h 5 min',
  ]);
});

test('a countdown keeps its seconds in one place', () => {
  const shown = [0, 9, 59, 60, 599, 3600, 3671].map(countdown);
  expect(shown).toEqual(['0 s', '9 s', '59 s', '1:00', '9:59', '1:00:00', '1:01:11']);
});

test('counts and money stay short', () => {
  expect([7, 999, 1840, 12_080, 2_400_000].map(count)).toEqual(['7', '999', '1.8k', '12k', '2.4M']);
  expect([0, 0.0042, 1.5].map(money)).toEqual(['', '$0.0042', '$1.50']);
});

test('ages grow from now to a date', () => {
  const now = Date.UTC(2026, 5, 15, 12);
  const before = (minutes: number) => ago(now - minutes * 60_000, now);
  expect([0.5, 5, 180, 60 * 24 * 3].map(before)).toEqual(['now', '5m', '3h', '3d']);
});

test('the size of a model is round, and unknown where it is', () => {
  expect([0, 512, 40_960, 200_000, 1_000_000, 1_048_576, 1_500_000].map(contextSize)).toEqual([
    '',
    '512',
    '41k',
    '200k',
    '1M',
    '1M',
    '1.5M',
  ]);
});

test('a price has no more digits than it needs', () => {
  expect([3, 0.25, 22.5, 0.075].map(price)).toEqual(['$3', '$0.25', '$22.5', '$0.075']);
});

test('only a whole prefix of a path is taken away', () => {
  expect(relativePath('/a/b/src/x.rs', '/a/b')).toBe('src/x.rs');
  expect(relativePath('/a/bc/x.rs', '/a/b')).toBe('/a/bc/x.rs');
  expect(relativePath('/a/b', '/a/b')).toBe('/a/b');
  expect(relativePath('C:\\Work\\p\\src\\x.rs', 'c:\\work\\p')).toBe('src\\x.rs');
  expect(relativePath('src/x.rs', undefined)).toBe('src/x.rs');
});

test('a folder is known by its last name', () => {
  expect(['/a/b/', 'C:\\x\\y', '/'].map(baseName)).toEqual(['b', 'y', '/']);
});
