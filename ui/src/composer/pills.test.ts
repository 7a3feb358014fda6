import { expect, test } from 'vitest';
import { isShell, piecesOf, promptOf } from './pills';

const pills = (text: string) => piecesOf(text, ['review', 'new']).flatMap((one) => (one.pill ? [[one.pill, one.text]] : []));

test.each([
  ['Look at @src/a.ts, and ask @explore.', [['mention', '@src/a.ts'], ['mention', '@explore']]],
  ['Open @"my notes/a b.md" now', [['mention', '@"my notes/a b.md"']]],
  ['(@src/lib.rs)', [['mention', '@src/lib.rs']]],
  ['mail ada@example.com, `@code` and a lone @ sign', []],
  ['/review @src/a.ts', [['command', '/review'], ['mention', '@src/a.ts']]],
  ['/unknown thing', []],
  ['see /review', []],
  ['!git log @{u}', [['shell', '!']]],
])('%s has the pills %j', (text, expected) => {
  expect(pills(text)).toEqual(expected);
  expect(piecesOf(text, ['review', 'new']).map((one) => one.text).join('')).toBe(text);
});

test.each([
  ['!git log ', '!git log', true],
  ['\n![diagram](x.png) explain `rm -rf build`\n', ' ![diagram](x.png) explain `rm -rf build`', false],
  [' !important: look', ' !important: look', false],
  ['  Look!  ', 'Look!', false],
])('%j is sent as %j, and is a command of the person: %s', (text, prompt, own) => {
  expect([promptOf(text), isShell(text), isShell(promptOf(text))]).toEqual([prompt, own, own]);
});
