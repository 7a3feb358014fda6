import { describe, expect, test } from 'vitest';
import type { Mention } from '../protocol';
import type { DraftSymbol } from '../protocol';
import { commandOf, fileURL, insert, symbolFiles, tokenAt, wordsOf } from './tokens';

const at = (text: string) => {
  const caret = text.indexOf('|');
  const token = tokenAt(text.replace('|', ''), caret);
  return token && `${token.kind}:${token.query}`;
};

describe('what the caret stands in', () => {
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
  test('takes the place of what was typed, with one space after it', () => {
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

describe('symbols', () => {
  const wick: DraftSymbol = {
    name: 'trimWick',
    lspKind: 12,
    path: 'src/wick.ts',
    line: 3,
    endLine: 18,
  };

  test('are sent with their place while the text names them', () => {
    expect(symbolFiles('Why is @trimWick slow?', [wick], '/home/ada/lantern')).toEqual([
      {
        url: 'file:///home/ada/lantern/src/wick.ts?start=3&end=18',
        mime: 'text/plain',
        filename: 'src/wick.ts',
        source: {
          type: 'symbol',
          path: '/home/ada/lantern/src/wick.ts',
          name: 'trimWick',
          kind: 12,
          range: { start: { line: 2, character: 0 }, end: { line: 17, character: 0 } },
          text: { value: '@trimWick', start: 7, end: 16 },
        },
      },
    ]);
    expect(symbolFiles('Why is @trimWicks slow?', [wick], '/x')).toEqual([]);
  });

  test.each([
    ['/a b/ü#?.ts', 'file:///a%20b/%C3%BC%23%3F.ts'],
    ['C:\\work\\a b.ts', 'file:///C:/work/a%20b.ts'],
  ])('%s has an address', (path, url) => {
    expect(fileURL(path)).toBe(url);
  });
});
