import { describe, expect, test } from 'vitest';
import type { Mention } from '../protocol';
import { commandOf, insert, tokenAt, wordsOf } from './tokens';

const at = (text: string) => {
  const caret = text.indexOf('|');
  const token = tokenAt(text.replace('|', ''), caret);
  return token && `${token.kind}:${token.query}`;
};

describe('the token at the caret', () => {
  test.each([
    ['@|', 'mention:'],
    ['see @src/la|', 'mention:src/la'],
    ['(@lamp|)', 'mention:lamp'],
    ['@"a folder/b|', 'mention:a folder/b'],
    ['/re|', 'command:re'],
    ['/|', 'command:'],
    ['mail ada@lantern|', undefined],
    ['`@code|', undefined],
    ['@done and|', undefined],
    ['see /re|', undefined],
    ['/review the|', undefined],
    ['nothing|', undefined],
  ])('%s', (text, token) => {
    expect(at(text)).toBe(token);
  });
});

describe('a picked suggestion', () => {
  test('replaces the typed text, with one space after it', () => {
    const token = tokenAt('see @la please', 7);
    if (!token) throw new Error('no token');
    expect(insert('see @la please', token, '@src/lamp.ts')).toEqual({ text: 'see @src/lamp.ts please', caret: 17 });
    expect(insert('see @la', token, '@src/lamp.ts')).toEqual({ text: 'see @src/lamp.ts ', caret: 17 });
    expect(insert('see @la', token, '@src/', false)).toEqual({ text: 'see @src/', caret: 9 });
  });

  test('is quoted where its name has spaces, and a folder ends in a slash', () => {
    const words: [Mention, string][] = [
      [{ kind: 'file', path: 'src/a b.ts' }, '@"src/a b.ts"'],
      [{ kind: 'directory', path: 'src' }, '@src/'],
      [{ kind: 'agent', name: 'explore', description: '' }, '@explore'],
    ];
    for (const [mention, expected] of words) expect(wordsOf(mention)).toBe(expected);
  });
});

describe('a command', () => {
  test.each([
    ['/review the last commit', { name: 'review', args: 'the last commit' }],
    ['/review', { name: 'review', args: '' }],
    ['/review\nall of it', { name: 'review', args: 'all of it' }],
    ['/etc/hosts is wrong', undefined],
    ['/unknown', undefined],
    ['say /review', undefined],
  ])('%s', (text, command) => {
    expect(commandOf(text, ['review'])).toEqual(command);
  });
});
