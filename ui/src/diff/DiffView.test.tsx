import { fireEvent, waitFor } from '@solidjs/testing-library';
import { createSignal } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import type { DiffLine, FileDiffView } from '../protocol';
import { show } from '../testing/window';
import { DiffView } from './DiffView';
import { hunkFrom, rowsOf, type RowOptions } from './rows';

const line = (kind: DiffLine['kind'], text: string, old?: number, fresh?: number): DiffLine => ({
  kind,
  ...(old === undefined ? {} : { old }),
  ...(fresh === undefined ? {} : { new: fresh }),
  spans: [{ text }],
});
const file = (change: Partial<FileDiffView> = {}): FileDiffView => ({
  path: 'src/a.rs',
  status: 'modified',
  additions: 2,
  deletions: 1,
  hunks: [
    {
      oldStart: 5,
      oldLines: 2,
      newStart: 5,
      newLines: 3,
      heading: 'fn main()',
      lines: [line('context', 'five', 5, 5), line('del', 'six', 6), line('add', 'SIX', undefined, 6), line('add', 'more', undefined, 7)],
    },
    {
      oldStart: 9,
      oldLines: 3,
      newStart: 10,
      newLines: 3,
      lines: [line('context', 'nine', 9, 10), line('context', 'ten', 10, 11), line('context', 'eleven', 11, 12)],
    },
  ],
  ...change,
});
const all = file({
  hunks: [
    {
      oldStart: 1,
      oldLines: 12,
      newStart: 1,
      newLines: 13,
      lines: [
        ...[1, 2, 3, 4].map((n) => line('context', `line ${n}`, n, n)),
        ...(file().hunks[0]?.lines ?? []),
        ...[7, 8].map((n) => line('context', `line ${n}`, n, n + 1)),
        ...(file().hunks[1]?.lines ?? []),
        line('context', 'line 12', 12, 13),
      ],
    },
  ],
});
const plain: RowOptions = {
  sideBySide: false,
  headers: false,
  closed: new Set(),
  open: new Set(),
  whole: new Map(),
  unfolded: new Map(),
};
const words = (container: HTMLElement) =>
  [...container.querySelectorAll('.diff-line code')].map((code) => code.textContent);

describe('rows of a difference', () => {
  test('are below each other, each hunk under a line that says what is hidden', () => {
    expect(rowsOf([file()], plain).map((row) => (row.kind === 'hunk' ? row.gap.lines : row.kind))).toEqual([
      4,
      'line',
      'line',
      'line',
      'line',
      2,
      'line',
      'line',
      'line',
      'rest',
    ]);
  });

  test('end with the file when too few lines follow the last change', () => {
    const ends = file({ hunks: file().hunks.slice(0, 1) });
    expect(rowsOf([ends], plain).at(-1)?.kind).toBe('line');
  });

  test('are beside each other, removed lines next to those that replace them', () => {
    const pairs = rowsOf([file()], { ...plain, sideBySide: true }).flatMap((row) =>
      row.kind === 'pair' ? [[row.before?.spans[0]?.text, row.after?.spans[0]?.text]] : [],
    );
    expect(pairs).toEqual([
      ['five', 'five'],
      ['six', 'SIX'],
      [undefined, 'more'],
      ['nine', 'nine'],
      ['ten', 'ten'],
      ['eleven', 'eleven'],
    ]);
  });

  test('of a file that was added have nothing hidden around them', () => {
    const added = file({ status: 'added', hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines: [] }] });
    expect(rowsOf([added], plain)).toMatchObject([{ kind: 'hunk', gap: { lines: 0 } }]);
  });

  test('lead from hunk to hunk', () => {
    const rows = rowsOf([file()], plain);
    expect(hunkFrom(rows, -1, 1)).toBe(0);
    expect(hunkFrom(rows, 0, 1)).toBe(5);
    expect(hunkFrom(rows, 5, 1)).toBeUndefined();
    expect(hunkFrom(rows, 5, -1)).toBe(0);
  });
});

describe('a difference on screen', () => {
  test('shows its lines with numbers, kinds and marked words', () => {
    const marked = file({
      hunks: [
        {
          oldStart: 1,
          oldLines: 1,
          newStart: 1,
          newLines: 1,
          lines: [
            { kind: 'del', old: 1, spans: [{ text: 'let ', class: 'hl-keyword' }, { text: 'a', mark: true }] },
            { kind: 'add', new: 1, spans: [{ text: '\u202e', shown: '\\u{202e}' }], noNewline: true },
          ],
        },
      ],
    });
    const { container } = show(() => <DiffView files={[marked]} sideBySide={false} />);
    expect(container.querySelector('[data-kind=del] .hl-keyword')?.textContent).toBe('let ');
    expect(container.querySelector('[data-kind=del] .marked')?.textContent).toBe('a');
    expect(container.querySelector('[data-kind=add] .hidden-char')?.textContent).toBe('\\u{202e}');
    expect(container.querySelector('.diff-no-newline')).toBeTruthy();
    expect(container.textContent).not.toContain('\u202e');
  });

  test('unfolds gaps one by one, and loads the file once', async () => {
    const whole = vi.fn(async () => all);
    const { container } = show(() => <DiffView files={[file()]} sideBySide={false} whole={whole} />);
    const gaps = () => [...container.querySelectorAll('button.diff-gap')];
    expect(gaps().map((gap) => gap.textContent)).toEqual(['4 unchanged lines', '2 unchanged lines', 'The rest of the file']);
    fireEvent.click(gaps()[1] as Element);
    await waitFor(() => expect(words(container)).toContain('line 7'));
    expect(words(container)).toEqual(['five', 'six', 'SIX', 'more', 'line 7', 'line 8', 'nine', 'ten', 'eleven']);
    fireEvent.click(gaps()[0] as Element);
    await waitFor(() => expect(words(container)[0]).toBe('line 1'));
    expect(gaps().map((gap) => gap.textContent)).toEqual(['1 unchanged line']);
    fireEvent.click(gaps()[0] as Element);
    await waitFor(() => expect(words(container).at(-1)).toBe('line 12'));
    expect(whole).toHaveBeenCalledOnce();
  });

  test.each([
    [{ status: 'binary' as const, hunks: [] }, 'A binary file. Its content is not shown.'],
    [{ status: 'mode' as const, hunks: [] }, 'Only its permissions changed.'],
    [{ status: 'renamed' as const, oldPath: 'b.rs', hunks: [] }, 'Moved from b.rs to src/a.rs, without a change.'],
    [{ hunks: [] }, 'No line of it changed.'],
    [{ folded: 'lockFile' as const, hunks: [] }, 'A lock file, written by a program.'],
  ])('says why there are no lines: %o', (change, note) => {
    const { container } = show(() => <DiffView files={[file(change)]} sideBySide={false} headers />);
    expect(container.querySelector('.diff-note')?.textContent).toBe(note);
  });

  test('unfolds a folded file on request', async () => {
    const folded = file({ folded: 'lockFile', hunks: [] });
    const { container } = show(() => <DiffView files={[folded]} sideBySide={false} whole={async () => all} />);
    fireEvent.click(container.querySelector('.diff-note button') as Element);
    await waitFor(() => expect(words(container)).toContain('SIX'));
  });

  test('closes and opens a file, and keeps the rows of the others', () => {
    const two = [file(), file({ path: 'b.rs' })];
    const { container } = show(() => <DiffView files={two} sideBySide={false} headers />);
    const kept = container.querySelector('[data-file="b.rs"]');
    fireEvent.click(container.querySelector('[data-file="src/a.rs"] .diff-file-toggle') as Element);
    expect(words(container)).toHaveLength(7);
    expect(container.querySelector('[data-file="b.rs"]')).toBe(kept);
    fireEvent.click(container.querySelector('[data-file="src/a.rs"] .diff-file-toggle') as Element);
    expect(words(container)).toHaveLength(14);
  });

  test('goes from hunk to hunk with n and p', async () => {
    Element.prototype.scrollIntoView = () => {};
    const { container } = show(() => <DiffView files={[file()]} sideBySide={false} />);
    const list = container.querySelector('.diff') as HTMLElement;
    const focused = () => (document.activeElement as HTMLElement | null)?.dataset.hunk;
    fireEvent.keyDown(list, { key: 'n' });
    await waitFor(() => expect(focused()).toBe('0'));
    fireEvent.keyDown(list, { key: 'n' });
    await waitFor(() => expect(focused()).toBe('1'));
    fireEvent.keyDown(list, { key: 'p' });
    await waitFor(() => expect(focused()).toBe('0'));
  });

  test('of ten thousand lines keeps only those in sight in the page', () => {
    const lines = Array.from({ length: 10_000 }, (_, n) => line('context', `line ${n}`, n + 1, n + 1));
    const long = file({ hunks: [{ oldStart: 1, oldLines: 10_000, newStart: 1, newLines: 10_000, lines }] });
    const { container } = show(() => <DiffView files={[long]} sideBySide={false} />);
    expect(container.querySelectorAll('.diff-line').length).toBeLessThan(200);
  });
});

describe('a difference that is read again', () => {
  const changed = (text: string) => {
    const [first, second] = file().hunks;
    return file({ hunks: [{ ...first!, lines: [line('context', text, 5, 5)] }, second!] });
  };

  test('shows a folded file that was opened as it is now, not as it was', async () => {
    const [files, setFiles] = createSignal([file({ folded: 'tooLong', hunks: [] })]);
    let now = changed('one');
    const unfolded = vi.fn(async () => now);
    const { container } = show(() => <DiffView files={files()} sideBySide={false} whole={async () => all} unfolded={unfolded} />);
    fireEvent.click(container.querySelector('.diff-note button') as Element);
    await waitFor(() => expect(words(container)).toContain('one'));
    now = changed('two');
    setFiles([file({ folded: 'tooLong', hunks: [] })]);
    await waitFor(() => expect(words(container)).toContain('two'));
    expect(words(container)).not.toContain('one');
    expect(unfolded).toHaveBeenCalledTimes(2);
  });

  test('keeps what was opened between its hunks only while they are the same', async () => {
    const [files, setFiles] = createSignal([file()]);
    const whole = vi.fn(async () => all);
    const { container } = show(() => <DiffView files={files()} sideBySide={false} whole={whole} />);
    const gaps = () => [...container.querySelectorAll('button.diff-gap')].map((gap) => gap.textContent);
    fireEvent.click(container.querySelectorAll('button.diff-gap')[1] as Element);
    await waitFor(() => expect(words(container)).toContain('line 7'));
    setFiles([file()]);
    expect(words(container)).toContain('line 7');
    setFiles([changed('another')]);
    expect(words(container)).not.toContain('line 7');
    expect(gaps()).toContain('2 unchanged lines');
  });

  test('opens the hunks of a folded file, with the lines around them folded as in other files', async () => {
    const folded = file({ folded: 'lockFile', hunks: [] });
    const { container } = show(() => (
      <DiffView files={[folded]} sideBySide={false} whole={async () => all} unfolded={async () => file()} />
    ));
    fireEvent.click(container.querySelector('.diff-note button') as Element);
    await waitFor(() => expect(container.querySelectorAll('[data-hunk]')).toHaveLength(2));
    fireEvent.click(container.querySelectorAll('button.diff-gap')[1] as Element);
    await waitFor(() => expect(words(container)).toContain('line 7'));
  });
});
