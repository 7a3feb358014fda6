import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReviewFiles } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const scrolled = vi.fn();
beforeEach(() => {
  scrolled.mockClear();
  Element.prototype.scrollIntoView = function (this: Element) {
    // The tree of files scrolls its rows, too.
    const { row } = (this as HTMLElement).dataset;
    if (row !== undefined) scrolled(row);
  };
});

async function reviewed(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.click(screen.getByTestId('toggle-review'));
  await waitFor(() => expect(document.querySelectorAll('.diff-file').length).toBe(3));
  return window;
}
const element = (selector: string) => document.querySelector(selector) as HTMLElement;
const takeBack = async (path: string) => {
  fireEvent.click(element(`.diff-file[data-file="${path}"] [data-testid=revert-file]`));
  await waitFor(() => expect(element(`.diff-file[data-file="${path}"]`).dataset.gone).toBe(''));
};
const opened = (window: TestWindow, id: string) =>
  waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe(id));

describe('the review of several sessions', () => {
  test('shows nothing of the previous session while the next one loads', async () => {
    const { app, host } = await reviewed();
    let answer!: (files: ReviewFiles) => void;
    host.reviewFiles = () => new Promise((resolve) => (answer = resolve));
    await app.select('ses_long');
    expect(app.review.files.found()).toBeUndefined();
    expect(document.querySelector('.diff-file')).toBeNull();
    await screen.findByText('Loading changes');
    answer({ sessionID: 'ses_long', scope: { kind: 'session' }, files: [], additions: 0, deletions: 0, comments: [] });
    await screen.findByText('Nothing has been changed.');
  });

  test('forgets which files were folded when another session opens', async () => {
    const window = await reviewed();
    fireEvent.click(element('[data-file="src/lamp.ts"] .diff-file-toggle'));
    expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeNull();
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    await waitFor(() => expect(document.querySelector('[data-row^="hunk:src/lamp.ts"]')).toBeTruthy());
  });

  test('offers once to undo the revert of a turn: in its own session', async () => {
    const window = await reviewed();
    await window.app.editing.undo();
    await screen.findByTestId('toast');
    expect(await screen.findAllByRole('button', { name: 'Bring it back' })).toHaveLength(1);
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Bring it back' })).toBeNull());
  });
});

describe('several reverts', () => {
  test('are undone step by step', async () => {
    const { called } = await reviewed();
    for (const path of ['package-lock.json', 'src/lamp.ts', 'src/wick.ts']) await takeBack(path);
    const undo = screen.getByTestId('review-undo') as HTMLButtonElement;
    for (const path of ['src/wick.ts', 'src/lamp.ts', 'package-lock.json']) {
      fireEvent.click(undo);
      await waitFor(() => expect(element(`.diff-file[data-file="${path}"]`)?.dataset.gone).toBeUndefined());
      await waitFor(() => expect(element(`.diff-file[data-file="${path}"]`)).toBeTruthy());
    }
    expect(called('undoReview')).toHaveLength(3);
    await waitFor(() => expect(undo.disabled).toBe(true));
  });

  test('can still be undone after the session was closed, or the program restarted', async () => {
    const window = await reviewed();
    await takeBack('src/wick.ts');
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    await waitFor(() => expect((screen.getByTestId('review-undo') as HTMLButtonElement).disabled).toBe(true));
    await window.app.select('ses_gallery');
    await opened(window, 'ses_gallery');
    await waitFor(() => expect((screen.getByTestId('review-undo') as HTMLButtonElement).disabled).toBe(false));
    expect(screen.getByTestId('review-undo').title).toContain('revert wick.ts');
  });

  test('can revert one hunk of a folded file', async () => {
    const { called } = await reviewed();
    fireEvent.click(element('[data-row="note:package-lock.json"] button'));
    await waitFor(() => expect(element('[data-row="hunk:package-lock.json:40"]')).toBeTruthy());
    fireEvent.click(element('[data-row="hunk:package-lock.json:40"] [data-testid=revert-hunk]'));
    await waitFor(() => expect(called('revertLines')).toHaveLength(1));
    expect(called('revertLines')[0]?.[2]).toMatchObject({ path: 'package-lock.json', old: [{ from: 40, to: 40 }] });
  });
});

describe('a file that was asked for', () => {
  test('is scrolled into view, also if the pane is open and scrolled down', async () => {
    const { app } = await reviewed();
    const turnID = app.timeline.open()?.messages[0]?.info.id ?? '';
    app.review.open({ scope: { kind: 'turn', messageID: turnID }, path: 'src/wick.ts' });
    await waitFor(() => expect(scrolled).toHaveBeenLastCalledWith('file:src/wick.ts'));
    app.review.open({ scope: { kind: 'turn', messageID: turnID }, path: 'src/lamp.ts' });
    await waitFor(() => expect(scrolled).toHaveBeenLastCalledWith('file:src/lamp.ts'));
    expect(scrolled).toHaveBeenCalledTimes(2);
  });

  test('opens from the project’s folder, also where the session lies below it', async () => {
    const { app, host, called } = await reviewed();
    fireEvent.click(element('.diff-file[data-file="src/lamp.ts"] .file-link'));
    const session = host.sessions.get('ses_gallery')!;
    const below = { ...session, directory: `${session.directory}/web` };
    host.emit({ kind: 'event', event: { type: 'session.updated', properties: { info: below } } });
    await waitFor(() => expect(app.session()?.directory).toBe(below.directory));
    fireEvent.click(element('.diff-file[data-file="src/lamp.ts"] .file-link'));
    expect(called('openInEditor').map(([, path]) => path)).toEqual([
      'src/lamp.ts',
      `${session.directory}/src/lamp.ts`,
    ]);
  });

  test('is found where the session lies below the project', async () => {
    const { app } = await reviewed();
    app.review.open({ path: 'lamp.ts' });
    await waitFor(() => expect(scrolled).toHaveBeenLastCalledWith('file:src/lamp.ts'));
  });
});
