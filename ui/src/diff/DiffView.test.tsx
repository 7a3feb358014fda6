import { fireEvent, render, waitFor } from '@solidjs/testing-library';
import { createRoot, createSignal } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import type { DiffLine, FileDiffView } from '../protocol';
import { show } from '../testing/window';
import { textOf } from './copying';
import { DiffView } from './DiffView';
import type { DiffFile, Hunk } from './model';
import { PictureDiff } from './PictureDiff';
import { createStored } from './stored';
import { createRows, hunkFrom, type DiffRow, type FileFolds, type RowOptions } from './rows';

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
const plain: RowOptions = { sideBySide: false, headers: false };
/** The rows of a diff that came with its text. */
const rowsOf = (view: FileDiffView, options = plain, folds?: FileFolds): DiffRow[] =>
  createRoot((dispose) => {
    const { files, source } = createStored(() => [view], () => undefined);
    const [one] = files() as [DiffFile];
    const body = source.body(one);
    const rows = createRows()([{ file: one, ...(body && { body }), ...(folds && { folds }) }], options);
    dispose();
    return rows;
  });
const words = (container: HTMLElement) =>
  [...container.querySelectorAll('.diff-line code')].map((code) => code.textContent);

describe('rows of a difference', () => {
  test('are below each other, each hunk under a line that says what is hidden', () => {
    expect(rowsOf(file()).map((row) => (row.kind === 'hunk' ? row.gap.hidden : row.kind))).toEqual([
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
    expect(rowsOf(ends).at(-1)?.kind).toBe('line');
  });

  test('are beside each other, removed lines next to those that replace them', () => {
    const pairs = rowsOf(file(), { ...plain, sideBySide: true }).flatMap((row) =>
      row.kind === 'pair' ? [[row.before?.old, row.after?.new]] : [],
    );
    expect(pairs).toEqual([
      [5, 5],
      [6, 6],
      [undefined, 7],
      [9, 10],
      [10, 11],
      [11, 12],
    ]);
  });

  test('of a new file take the whole width, also beside each other, with nothing hidden around them', () => {
    const lines = [line('add', 'one', undefined, 1)];
    const added = file({ status: 'added', hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines }] });
    expect(rowsOf(added, { ...plain, sideBySide: true })).toMatchObject([{ kind: 'hunk', gap: { hidden: 0 } }, { kind: 'line' }]);
  });

  test('open a gap from its end, so many lines at a time', () => {
    const gaps = new Map([['src/a.rs#5', 3]]);
    const rows = rowsOf(file(), plain, { gaps });
    expect(rows.slice(0, 5).map((row) => (row.kind === 'same' ? row.old : row.kind))).toEqual(['hunk', 2, 3, 4, 'line']);
    expect(rows[0]).toMatchObject({ gap: { hidden: 1 } });
  });

  test('lead from hunk to hunk', () => {
    const rows = rowsOf(file());
    expect(hunkFrom(rows, -1, 1)).toBe(0);
    expect(hunkFrom(rows, 0, 1)).toBe(5);
    expect(hunkFrom(rows, 5, 1)).toBeUndefined();
    expect(hunkFrom(rows, 5, -1)).toBe(0);
  });
});

describe('rows of a review', () => {
  const one: DiffFile = { path: 'a.rs', status: 'modified', additions: 3, deletions: 1, version: '1' };
  const hunk = (oldStart: number, change: Partial<Hunk> = {}): Hunk => ({
    oldStart,
    oldLines: 3,
    newStart: oldStart,
    newLines: 3,
    runs: [
      { kind: 'context', lines: 1 },
      { kind: 'del', lines: 1 },
      { kind: 'add', lines: 1 },
      { kind: 'context', lines: 1 },
    ],
    ...change,
  });
  const draw = createRows();
  const kinds = (rows: readonly DiffRow[]) => rows.map((row) => (row.kind === 'extra' ? row.extra.key : row.kind));
  const options = { sideBySide: false, headers: true };

  test('hold the place of a file until its lines are loaded', () => {
    const rows = createRows()([{ file: one }], options);
    expect(rows).toMatchObject([{ kind: 'file' }, { kind: 'loading', lines: 11 }]);
  });

  test('fold a hunk that was kept, and show it on request', () => {
    const body = { newLines: 3, hunks: [hunk(1, { kept: 'all' })] };
    expect(kinds(createRows()([{ file: one, body }], options))).toEqual(['file', 'hunk']);
    const folds: FileFolds = { hunks: new Map([['hunk:a.rs:1', false]]) };
    expect(kinds(createRows()([{ file: one, body, folds }], options))).toEqual(['file', 'hunk', 'line', 'line', 'line', 'line']);
  });

  test('keep the place of a hunk that was reverted, before the next one', () => {
    const tombs = [{ key: 'hunk:a.rs:1', oldStart: 1, lines: 2 }];
    const body = { newLines: 22, hunks: [hunk(20)] };
    const rows = createRows()([{ file: one, body, tombs }], options);
    expect(rows.slice(0, 3).map(({ key }) => key)).toEqual(['file:a.rs', 'hunk:a.rs:1', 'hunk:a.rs:20']);
    expect(rows[1]?.kind).toBe('tomb');
  });

  test('stay while a new version is loaded, without the hunk that was just reverted', () => {
    const make = createRows();
    const body = { newLines: 22, hunks: [hunk(1), hunk(20)] };
    make([{ file: one, body }], options);
    const tombs = [{ key: 'hunk:a.rs:1', oldStart: 1, lines: 2 }];
    const rows = make([{ file: { ...one, version: '2' }, tombs }], options);
    expect(kinds(rows)).toEqual(['file', 'tomb', 'hunk', 'line', 'line', 'line', 'line', 'rest'].slice(0, rows.length));
    expect(rows.find((row) => row.kind === 'line')?.file.version).toBe('1');
  });

  test('have comments below their line, and before all lines if that is not shown', () => {
    const body = { newLines: 3, hunks: [hunk(1)] };
    const extras = [
      { key: 'on the added line', side: 'new' as const, line: 2 },
      { key: 'on the removed line', side: 'old' as const, line: 2 },
      { key: 'elsewhere', side: 'new' as const, line: 99 },
    ];
    const rows = createRows()([{ file: one, body, extras }], options);
    expect(kinds(rows)).toEqual(['file', 'elsewhere', 'hunk', 'line', 'line', 'on the removed line', 'line', 'on the added line', 'line']);
  });

  test('stay the same objects where nothing changed, also beside a file that did', () => {
    const [a, b] = [{ ...one, path: 'a' }, { ...one, path: 'b' }];
    const body = { newLines: 3, hunks: [hunk(1)] };
    const before = draw([{ file: a, body }, { file: b, body }], options);
    const after = draw([{ file: a, body }, { file: { ...b, kept: 'some' }, body }], options);
    expect(after.filter((row, index) => row !== before[index]).map(({ key }) => key)).toEqual(['file:b']);
  });

  test('of 100,000 changed lines in 300 files are made quickly enough to scroll', () => {
    const body = { newLines: 400, hunks: [hunk(1, { newLines: 333, runs: [{ kind: 'add', lines: 333 }] })] };
    const files = Array.from({ length: 300 }, (_, index) => ({ file: { ...one, path: `f${index}` }, body }));
    const make = createRows();
    const rows = make(files, options);
    expect(rows.length).toBeGreaterThan(100_000);
    const again = make([...files.slice(0, 299), { ...files[299]!, body: { ...body } }], options);
    expect(again[0]).toBe(rows[0]);
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
    const whole = vi.fn(async () => now);
    const { container } = show(() => <DiffView files={files()} sideBySide={false} whole={whole} />);
    fireEvent.click(container.querySelector('.diff-note button') as Element);
    await waitFor(() => expect(words(container)).toContain('one'));
    now = changed('two');
    setFiles([file({ folded: 'tooLong', hunks: [], additions: 3 })]);
    await waitFor(() => expect(words(container)).toContain('two'));
    expect(words(container)).not.toContain('one');
    expect(whole).toHaveBeenCalledTimes(2);
  });

  test('keeps what was opened between its hunks, with the lines as they are now', async () => {
    const [files, setFiles] = createSignal([file()]);
    const whole = vi.fn(async () => all);
    const { container } = show(() => <DiffView files={files()} sideBySide={false} whole={whole} />);
    fireEvent.click(container.querySelectorAll('button.diff-gap')[1] as Element);
    await waitFor(() => expect(words(container)).toContain('line 7'));
    setFiles([file()]);
    expect(words(container)).toContain('line 7');
    expect(whole).toHaveBeenCalledOnce();
    setFiles([changed('another')]);
    await waitFor(() => expect(words(container)).toContain('line 7'));
    expect(whole).toHaveBeenCalledTimes(2);
  });
});

describe('a copy of lines', () => {
  const copied = (from: Element, to: Element) => {
    const range = document.createRange();
    range.setStart(from, 0);
    range.setEnd(to, to.childNodes.length);
    return textOf(range);
  };
  const codes = (container: HTMLElement) => [...container.querySelectorAll('.diff-line code')];

  test('has their text and neither numbers nor signs', () => {
    const { container } = show(() => <DiffView files={[file()]} sideBySide={false} />);
    const all = codes(container);
    expect(copied(all[0] as Element, all[3] as Element)).toBe('five\nsix\nSIX\nmore');
    expect(copied(all[0] as Element, all[0] as Element)).toBeUndefined();
  });

  test('has one side only, where old and new are beside each other', () => {
    const { container } = show(() => <DiffView files={[file()]} sideBySide />);
    const side = (name: string) => [...container.querySelectorAll(`[data-side=${name}] code`)];
    expect(copied(side('new')[0] as Element, side('new')[2] as Element)).toBe('five\nSIX\nmore');
    expect(copied(side('old')[0] as Element, side('new')[1] as Element)).toBe('five\nsix');
  });
});

describe('pictures', () => {
  test('are beside each other, one below the other with a slider, or as their difference', () => {
    const { container } = render(() => <PictureDiff old="attachment://a" new="attachment://b" name="a.png" />);
    const way = (name: string) => container.querySelector(`[data-way=${name}]`) as HTMLElement;
    const names = () => [...container.querySelectorAll('img')].map((one) => one.alt);
    expect(names()).toEqual(['Before: a.png', 'After: a.png']);
    fireEvent.click(way('swipe'));
    const slider = container.querySelector('input[type=range]') as HTMLInputElement;
    fireEvent.input(slider, { target: { value: '25' } });
    expect((container.querySelector('.picture-top') as HTMLElement).style.clipPath).toBe('inset(0 75% 0 0)');
    fireEvent.click(way('difference'));
    expect(container.querySelector('[data-difference]')).toBeTruthy();
    expect(way('difference').getAttribute('aria-checked')).toBe('true');
  });

  test('of a new file are one, without a choice', () => {
    const { container } = render(() => <PictureDiff old={undefined} new="attachment://b" name="a.png" />);
    expect(container.querySelector('[data-way]')).toBeNull();
    expect(container.textContent).toContain('No image');
  });
});
