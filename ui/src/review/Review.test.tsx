import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { RevertTarget } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function reviewed(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.click(screen.getByTestId('toggle-review'));
  await screen.findByTestId('review');
  await waitFor(() => expect(document.querySelectorAll('.diff-file').length).toBe(3));
  return window;
}
const byPath = (path: string) => document.querySelector(`.diff-file[data-file="${path}"]`) as HTMLElement;
const click = (element: Element | null | undefined) => fireEvent.click(element as Element);

describe('the review', () => {
  test('shows the files that the session changed, with counts', async () => {
    const { called } = await reviewed();
    expect(document.querySelector('.review-sum')?.textContent).toContain('3 files changed');
    expect(called('sessionDiff').at(-1)).toEqual(['ses_gallery', undefined]);
    expect(byPath('src/lamp.ts').querySelector('.counts')?.textContent).toBe('+2 −1');
  });

  test('reverts one hunk after a preview, and undoes that', async () => {
    const { called, app } = await reviewed();
    click(document.querySelector('[data-hunk="0"] [data-testid=take-back-hunk]'));
    const confirm = await screen.findByTestId('review-confirm');
    expect(confirm.textContent).toContain('src/lamp.ts');
    expect(document.activeElement).toBe(screen.getByTestId('confirm-take-back'));
    const target: RevertTarget = { kind: 'hunk', path: 'src/lamp.ts', hunk: 0, fingerprint: 'a1f0c4d2e6b81735' };
    expect(called('previewRevert')).toEqual([['ses_gallery', target]]);
    expect(called('revert')).toEqual([]);

    click(screen.getByTestId('confirm-take-back'));
    await waitFor(() => expect(byPath('src/lamp.ts')).toBeNull());
    expect(called('revert')).toEqual([['ses_gallery', target]]);
    expect(app.review.canUndo()).toBe(true);
    click(screen.getByTestId('review-undo'));
    await waitFor(() => expect(byPath('src/lamp.ts')).toBeTruthy());
    expect(called('unrevert')).toEqual([['ses_gallery']]);
    expect(app.review.canUndo()).toBe(false);
  });

  test('reverts a file, with an undo in the notice', async () => {
    const { called } = await reviewed();
    click(byPath('src/wick.ts').querySelector('[data-testid=take-back-file]'));
    click(await screen.findByTestId('confirm-take-back'));
    await screen.findByText('Took back the changes of 1 file');
    expect(called('revert')[0]?.[1]).toEqual({ kind: 'file', path: 'src/wick.ts' });
  });

  test('names a conflict and then reverts nothing', async () => {
    const { host, called } = await reviewed();
    host.previewRevert = async () => ({
      files: [{ path: 'src/wick.ts', change: 'conflict', reason: 'You changed it since', additions: 0, deletions: 0 }],
      hidesMessages: 0,
    });
    click(byPath('src/wick.ts').querySelector('[data-testid=take-back-file]'));
    const confirm = await screen.findByTestId('review-confirm');
    expect(confirm.textContent).toContain('This cannot be taken back');
    expect(confirm.textContent).toContain('You changed it since');
    expect((screen.getByTestId('confirm-take-back') as HTMLButtonElement).disabled).toBe(true);
    fireEvent.keyDown(confirm, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('review-confirm')).toBeNull());
    expect(called('revert')).toEqual([]);
  });

  test('says how many files were not reverted because of a conflict', async () => {
    const { host } = await reviewed();
    const session = host.sessions.get('ses_gallery')!;
    const file = { path: 'src/wick.ts', additions: 0, deletions: 1 };
    host.revert = async () => ({
      session,
      files: [
        { ...file, change: 'delete' },
        { ...file, path: 'src/lamp.ts', change: 'conflict' },
      ],
      hidesMessages: 0,
      undoable: 1,
    });
    click(byPath('src/wick.ts').querySelector('[data-testid=take-back-file]'));
    click(await screen.findByTestId('confirm-take-back'));
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Took back the changes of 1 file');
    expect(toast.textContent).toContain('One file was changed since and stays as it is');
  });

  test('says why it cannot be shown', async () => {
    const { host, app } = await reviewed();
    host.sessionDiff = () => Promise.reject({ code: 'storage', message: 'The snapshots cannot be read' });
    app.review.open({ turnID: 'msg_gone' });
    expect((await screen.findByRole('alert')).textContent).toBe('The snapshots cannot be read');
  });

  test('opens for one turn from a step’s changes, and goes back to the session', async () => {
    const { called } = openWindow();
    click(await screen.findByTestId('open-review'));
    await screen.findByTestId('review');
    await waitFor(() => expect(called('sessionDiff').at(-1)?.[1]).toMatch(/^msg_/));
    click(await screen.findByTestId('review-session'));
    await waitFor(() => expect(called('sessionDiff').at(-1)?.[1]).toBeUndefined());
  });

  test('remembers its width, and is moved with the arrow keys', async () => {
    const { host } = await reviewed();
    const handle = document.querySelector('.review-handle') as HTMLElement;
    fireEvent.keyDown(handle, { key: 'ArrowLeft' });
    await waitFor(() => expect(host.settings().review.width).toBe(484));
    expect((document.querySelector('.frame-review') as HTMLElement).style.width).toBe('484px');
  });

  test('opens by itself with the first change of the open session', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.selected()).toBe('ses_gallery'));
    await app.select('ses_long');
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_long'));
    expect(screen.queryByTestId('review')).toBeNull();
    const last = app.timeline.open()?.messages.at(-1);
    const part = {
      type: 'patch' as const,
      id: 'prt_ffffffffffff00000000000001',
      sessionID: 'ses_long',
      messageID: last?.info.id ?? '',
      hash: 'h',
      files: ['a.rs'],
    };
    host.emit({ kind: 'part', part: { part } });
    await screen.findByTestId('review');
  });
});
