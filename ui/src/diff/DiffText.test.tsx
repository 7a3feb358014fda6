import { render, screen } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { DiffText, diffLines } from './DiffText';

const DIFF = '--- a/tea.sh\n+++ b/tea.sh\n@@ -1,2 +1,2 @@\n same\n-old\u202e\n+new\n';

test('a diff has its lines without the file header', () => {
  expect(diffLines(DIFF)).toEqual([
    { kind: 'hunk', text: '@@ -1,2 +1,2 @@' },
    { kind: 'context', text: ' same' },
    { kind: 'del', text: '-old⟨U+202E⟩' },
    { kind: 'add', text: '+new' },
  ]);
});

test('it is drawn as text, whatever it says', () => {
  render(() => <DiffText label="Changes" diff={'@@ -0,0 +1 @@\n+<img src=x onerror=alert(1)>\n'} />);
  const drawn = screen.getByRole('group', { name: 'Changes' });
  expect(drawn.querySelector('img')).toBeNull();
  expect(drawn.textContent).toContain('<img src=x onerror=alert(1)>');
});

test('a change of two files names them, and a removed line is never taken for a name', () => {
  const two = '--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n same\n--- old\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+++ new\n';
  expect(diffLines(two).map((line) => line.kind)).toEqual([
    'file',
    'file',
    'hunk',
    'context',
    'del',
    'file',
    'file',
    'hunk',
    'add',
  ]);
});
