import { expect, test } from 'vitest';
import { readUnified } from './unified';

test('a diff becomes a file with numbered lines, and what hides in them has a code', () => {
  const text = '--- a/tea.sh\n+++ b/tea.sh\n@@ -4,2 +4,3 @@ steep()\n same\n-old\u202e\n+new\n+more\n\\ No newline at end of file\n';
  expect(readUnified(text)).toEqual([
    {
      path: 'tea.sh',
      status: 'modified',
      additions: 2,
      deletions: 1,
      hunks: [
        {
          oldStart: 4,
          oldLines: 2,
          newStart: 4,
          newLines: 3,
          heading: 'steep()',
          lines: [
            { kind: 'context', old: 4, new: 4, spans: [{ text: 'same' }] },
            { kind: 'del', old: 5, spans: [{ text: 'old\u202e', shown: 'old⟨U+202E⟩' }] },
            { kind: 'add', new: 5, spans: [{ text: 'new' }] },
            { kind: 'add', new: 6, spans: [{ text: 'more' }], noNewline: true },
          ],
        },
      ],
    },
  ]);
});

test('a change of several files has each of them, and a removed line is never taken for a name', () => {
  const text =
    '--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n same\n--- old\n--- /dev/null\n+++ b/"y z"\n@@ -0,0 +1 @@\n+++ new\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n';
  const files = readUnified(text).map(({ path, status, additions, deletions, hunks }) => [
    path,
    status,
    additions,
    deletions,
    hunks.flatMap((hunk) => hunk.lines.map((line) => line.kind)),
  ]);
  expect(files).toEqual([
    ['x', 'modified', 0, 1, ['context', 'del']],
    ['y z', 'added', 1, 0, ['add']],
    ['gone', 'deleted', 0, 1, ['del']],
  ]);
});

test('hunks without a header belong to one file without a name; other text is no diff', () => {
  expect(readUnified('@@ -1 +1 @@\n-30\n+3\n')).toMatchObject([{ path: '', additions: 1, deletions: 1 }]);
  expect(readUnified('nothing of that kind')).toEqual([]);
});
