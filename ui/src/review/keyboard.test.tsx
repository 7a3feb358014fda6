import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

beforeEach(() => {
  Element.prototype.scrollIntoView = () => {};
});

/** The review, with the focus on the pane as its action puts it there. */
async function entered(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.keyDown(document.body, { key: 'D', ctrlKey: true, shiftKey: true });
  const pane = await screen.findByTestId('review');
  await waitFor(() => expect(document.querySelectorAll('.diff-file').length).toBe(3));
  await waitFor(() => expect(document.activeElement).toBe(pane));
  return window;
}
const focused = () => document.activeElement as HTMLElement;
const row = () => focused().dataset.row;
const press = (...keys: string[]) => {
  for (const key of keys) fireEvent.keyDown(focused(), { key });
};
const undo = () => fireEvent.keyDown(focused(), { key: 'z', ctrlKey: true });
const gone = (path: string) => waitFor(() => expect(document.querySelector(`[data-file="${path}"]`)).toBeNull());
const there = (path: string) => waitFor(() => expect(document.querySelector(`[data-file="${path}"]`)).toBeTruthy());

describe('the review by keyboard', () => {
  test('is navigated from change to change with the arrow keys, files and hunks alike', async () => {
    await entered();
    const seen: (string | undefined)[] = [];
    for (let step = 0; step < 8; step += 1) {
      press('ArrowDown');
      seen.push(row());
    }
    expect(seen).toEqual([
      'file:package-lock.json',
      'note:package-lock.json',
      'file:src/lamp.ts',
      'hunk:src/lamp.ts:0',
      'hunk:src/lamp.ts:1',
      'file:src/wick.ts',
      'hunk:src/wick.ts:0',
      'hunk:src/wick.ts:0',
    ]);
    press('ArrowUp');
    expect(row()).toBe('file:src/wick.ts');
  });

  test('closes and opens a file without losing the focus', async () => {
    await entered();
    press('ArrowDown', 'ArrowDown', 'ArrowDown');
    expect(row()).toBe('file:src/lamp.ts');
    press('ArrowLeft');
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeNull();
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
    press('Enter');
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeTruthy();
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
  });

  test('reverts a hunk with Delete and Enter, continues at the next change, and undoes with Ctrl+Z', async () => {
    const user = userEvent.setup();
    const { called } = await entered();
    press('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    expect(row()).toBe('hunk:src/lamp.ts:1');
    press('Delete');
    const confirm = await screen.findByTestId('confirm-take-back');
    await waitFor(() => expect(focused()).toBe(confirm));
    const target = { kind: 'hunk', path: 'src/lamp.ts', hunk: 1, fingerprint: '5b7799d0c3e2aa16' };
    expect(called('previewRevert')).toEqual([['ses_gallery', target]]);
    await user.keyboard('{Enter}');
    await gone('src/lamp.ts');
    expect(called('revert')).toEqual([['ses_gallery', target]]);
    await waitFor(() => expect(row()).toBe('hunk:src/wick.ts:0'));
    undo();
    await there('src/lamp.ts');
    expect(called('unrevert')).toEqual([['ses_gallery']]);
    await waitFor(() => expect(row()).toBe('hunk:src/wick.ts:0'));
  });

  test('cancels with Escape, and the focus returns to the change', async () => {
    const { called } = await entered();
    press('ArrowDown', 'ArrowDown', 'ArrowDown', 'Delete');
    await screen.findByTestId('review-confirm');
    press('Escape');
    await waitFor(() => expect(screen.queryByTestId('review-confirm')).toBeNull());
    expect(row()).toBe('file:src/lamp.ts');
    expect([called('revert'), called('abort')]).toEqual([[], []]);
  });

  test('handles Ctrl+Z also if no file is left', async () => {
    const { app } = await entered();
    press('ArrowDown');
    await app.review.ask({ kind: 'snapshot', messageID: 'msg_a', partID: 'prt_a' });
    fireEvent.click(await screen.findByTestId('confirm-take-back'));
    await screen.findByText('Nothing has been changed.');
    await waitFor(() => expect(focused()).toBe(screen.getByTestId('review')));
    undo();
    await there('src/lamp.ts');
  });

  test('reverts nothing while a turn runs', async () => {
    const { host, app, called } = await entered();
    host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    await waitFor(() => expect(app.busy()).toBe(true));
    press('ArrowDown', 'Delete');
    undo();
    expect([called('previewRevert'), called('unrevert')]).toEqual([[], []]);
  });
});

describe('the list of files', () => {
  const name = (path: string) => document.querySelector<HTMLElement>(`.review-file[data-path="${path}"]`) as HTMLElement;

  test('is one tab stop, and the arrow keys move through it', async () => {
    await entered();
    const stops = () => [...document.querySelectorAll<HTMLElement>('.review-file')].map((one) => one.tabIndex);
    expect(stops()).toEqual([0, -1, -1]);
    name('package-lock.json').focus();
    press('ArrowDown');
    expect(focused()).toBe(name('src/lamp.ts'));
    expect(stops()).toEqual([-1, 0, -1]);
    press('End');
    expect(focused()).toBe(name('src/wick.ts'));
  });

  test('scrolls to a file and focuses it', async () => {
    await entered();
    fireEvent.click(name('src/wick.ts'));
    await waitFor(() => expect(row()).toBe('file:src/wick.ts'));
  });

  test('reverts a file with Delete', async () => {
    const { called } = await entered();
    name('src/wick.ts').focus();
    press('Delete');
    fireEvent.click(await screen.findByTestId('confirm-take-back'));
    await gone('src/wick.ts');
    expect(called('revert')).toEqual([['ses_gallery', { kind: 'file', path: 'src/wick.ts' }]]);
    await waitFor(() => expect(focused().className).toBe('review-file'));
  });
});
