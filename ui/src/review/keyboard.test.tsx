import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

beforeEach(() => {
  Element.prototype.scrollIntoView = () => {};
});

/** The review, with the focus on the pane as its action puts it there. */
async function entered(host?: FakeHost): Promise<TestWindow> {
  const window = openWindow({}, host);
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.keyDown(document.body, { key: 'D', ctrlKey: true, shiftKey: true });
  const pane = await screen.findByTestId('review');
  await waitFor(() => expect(document.querySelectorAll('[data-hunk]').length).toBe(3));
  await waitFor(() => expect(document.activeElement).toBe(pane));
  return window;
}
const focused = () => document.activeElement as HTMLElement;
const row = () => focused().dataset.row;
const press = (...keys: string[]) => {
  for (const key of keys) fireEvent.keyDown(focused(), { key });
};
const undo = () => fireEvent.keyDown(focused(), { key: 'z', ctrlKey: true });
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
      'file:src/lamp.ts',
      'hunk:src/lamp.ts:3',
      'hunk:src/lamp.ts:21',
      'file:src/wick.ts',
      'hunk:src/wick.ts:0',
      'file:package-lock.json',
      'note:package-lock.json',
      'note:package-lock.json',
    ]);
    press('ArrowUp');
    expect(row()).toBe('file:package-lock.json');
  });

  test('is entered with the key of the next change, which goes on from there', async () => {
    await entered();
    press('n');
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
    press('n');
    await waitFor(() => expect(row()).toBe('hunk:src/lamp.ts:3'));
    press('N');
    await waitFor(() => expect(row()).toBe('file:src/wick.ts'));
    press('P');
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
  });

  test('keeps, opens and marks a file as viewed in the list of files', async () => {
    const { called } = await entered();
    const lamp = document.querySelector('.review-file[data-path="src/lamp.ts"]') as HTMLElement;
    lamp.focus();
    press('k', 'o', 'v');
    await waitFor(() => expect(called('setViewed').map(([, path]) => path)).toEqual(['src/lamp.ts']));
    const whole = { kind: 'file', path: 'src/lamp.ts', version: 'src/lamp.ts 2' };
    expect(called('keepLines')).toEqual([['ses_gallery', { kind: 'session' }, whole]]);
    expect(called('openInEditor').map(([, path]) => path)).toEqual(['src/lamp.ts']);
  });

  test('closes and opens a file without losing the focus', async () => {
    await entered();
    press('ArrowDown');
    expect(row()).toBe('file:src/lamp.ts');
    press('ArrowLeft');
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeNull();
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
    press('Enter');
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeTruthy();
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
  });

  test('reverts a hunk with Delete, continues from there, and undoes with Ctrl+Z', async () => {
    const { called } = await entered();
    press('ArrowDown', 'ArrowDown', 'ArrowDown');
    expect(row()).toBe('hunk:src/lamp.ts:21');
    press('Delete');
    await waitFor(() => expect(document.querySelector('[data-tomb]')?.textContent).toContain('Reverted 1 line'));
    const range = { old: [], new: [{ from: 22, to: 22 }] };
    expect(called('revertLines').at(-1)?.[2]).toEqual({ kind: 'lines', path: 'src/lamp.ts', version: 'src/lamp.ts 2', ...range });
    // Its row is still there, with the focus.
    await waitFor(() => expect(row()).toBe('hunk:src/lamp.ts:21'));
    press('ArrowDown');
    expect(row()).toBe('file:src/wick.ts');
    undo();
    await waitFor(() => expect(document.querySelector('[data-tomb]')).toBeNull());
    expect(called('undoReview')).toEqual([['ses_gallery']]);
    await waitFor(() => expect(row()).toBe('file:src/wick.ts'));
    fireEvent.keyDown(focused(), { key: 'Z', ctrlKey: true, shiftKey: true });
    await waitFor(() => expect(called('redoReview')).toEqual([['ses_gallery']]));
  });

  test('takes no key for the rest of the file on what is left of a hunk, and none that is held down', async () => {
    const { called } = await entered();
    press('ArrowDown', 'ArrowDown');
    fireEvent.keyDown(focused(), { key: 'Delete', repeat: true });
    expect(called('previewRevertLines')).toEqual([]);
    press('Delete');
    await waitFor(() => expect(document.querySelector('[data-tomb]')).toBeTruthy());
    await waitFor(() => expect(row()).toBe('hunk:src/lamp.ts:3'));
    press('Delete', 'k', 'Backspace');
    expect([called('revertLines').length, called('keepLines').length]).toEqual([1, 0]);
  });

  test('keeps with K, comments with C and opens the editor with O', async () => {
    const { called } = await entered();
    press('ArrowDown', 'ArrowDown');
    press('k');
    await waitFor(() => expect(document.querySelector('[data-row="hunk:src/lamp.ts:3"]')?.textContent).toContain('Kept'));
    expect(called('keepLines')).toHaveLength(1);
    await waitFor(() => expect(row()).toBe('hunk:src/lamp.ts:3'));
    press('o');
    expect(called('openInEditor')).toEqual([['ses_gallery', 'src/lamp.ts', 4]]);
    press('ArrowDown', 'c');
    await waitFor(() => expect(focused().dataset.testid).toBe('comment-text'));
    press('k', 'Escape');
    await waitFor(() => expect(screen.queryByTestId('comment-text')).toBeNull());
    expect(called('keepLines')).toHaveLength(1);
  });

  test('goes from file to file with Shift+N and Shift+P', async () => {
    await entered();
    press('ArrowDown');
    expect(row()).toBe('file:src/lamp.ts');
    press('N');
    await waitFor(() => expect(row()).toBe('file:src/wick.ts'));
    press('P');
    await waitFor(() => expect(row()).toBe('file:src/lamp.ts'));
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

  test('handles Ctrl+Z also if the files were gone before the revert had answered', async () => {
    const host = createFakeHost({ pace: 0 });
    let answer = () => {};
    const revert: FakeHost['revert'] = async (id, target) => {
      const outcome = await host.revert(id, target);
      await new Promise<void>((resolve) => (answer = resolve));
      return outcome;
    };
    const { app } = await entered({ ...host, revert });
    const prompt = host.messages.get('ses_gallery')?.[0]?.info.id ?? '';
    press('ArrowDown');
    await app.review.ask({ kind: 'message', messageID: prompt });
    const confirm = await screen.findByTestId('confirm-take-back');
    await waitFor(() => expect(focused()).toBe(confirm));
    fireEvent.click(confirm);
    await screen.findByText('Nothing has been changed.');
    answer();
    await waitFor(() => expect(screen.queryByTestId('review-confirm')).toBeNull());
    expect(focused()).toBe(screen.getByTestId('review'));
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
    expect([called('previewRevertLines'), called('undoReview'), called('unrevert')]).toEqual([[], [], []]);
  });
});

describe('the tree of files', () => {
  const name = (path: string) => document.querySelector<HTMLElement>(`.review-file[data-path="${path}"]`) as HTMLElement;

  test('is one tab stop, and the arrow keys move through folders and files', async () => {
    await entered();
    const items = () => [...document.querySelectorAll<HTMLElement>('[role=treeitem]')];
    expect(items().map((item) => [item.dataset.key, item.tabIndex])).toEqual([
      ['src/', 0],
      ['src/lamp.ts', -1],
      ['src/wick.ts', -1],
      ['package-lock.json', -1],
    ]);
    items()[0]?.focus();
    press('ArrowDown');
    expect(focused()).toBe(name('src/lamp.ts'));
    press('End');
    expect(focused()).toBe(name('package-lock.json'));
    press('Home', 'ArrowLeft');
    expect(items().map((item) => item.dataset.key)).toEqual(['src/', 'package-lock.json']);
  });

  test('shows status and counts, filters, and marks the current file', async () => {
    await entered();
    expect(name('src/wick.ts').textContent).toBe('Awick.ts+1 −0');
    expect(name('src/lamp.ts').getAttribute('aria-current')).toBe('true');
    fireEvent.input(screen.getByTestId('review-filter'), { target: { value: 'WICK' } });
    expect([...document.querySelectorAll<HTMLElement>('.review-file')].map((one) => one.dataset.path)).toEqual(['src/wick.ts']);
    fireEvent.input(screen.getByTestId('review-filter'), { target: { value: 'none' } });
    expect(document.querySelector('.review-files')?.textContent).toBe('No file matches');
  });

  test('scrolls to a file and focuses it', async () => {
    await entered();
    fireEvent.click(name('src/wick.ts'));
    await waitFor(() => expect(row()).toBe('file:src/wick.ts'));
  });

  test('marks a file as viewed, which folds it until it changes', async () => {
    const { called } = await entered();
    name('src/lamp.ts').focus();
    press(' ');
    await waitFor(() => expect(called('setViewed')).toEqual([['ses_gallery', 'src/lamp.ts', 'src/lamp.ts 2']]));
    await waitFor(() => expect(document.querySelector('.review-seen')?.textContent).toBe('1 of 3 viewed'));
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeNull();
  });

  test('reverts a file with Delete', async () => {
    const { called } = await entered();
    name('src/wick.ts').focus();
    press('Delete');
    await waitFor(() => expect(name('src/wick.ts').dataset.gone).toBe(''));
    expect(called('revertLines').at(-1)?.[2]).toEqual({ kind: 'file', path: 'src/wick.ts', version: 'src/wick.ts 1' });
    await waitFor(() => expect(focused().className).toBe('review-file'));
  });
});
