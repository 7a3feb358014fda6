import { describe, expect, test } from 'vitest';
import type { DraftSymbol } from '../protocol';
import { fileURL } from '../text/file-url';
import { symbolFiles } from './mentions';

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
