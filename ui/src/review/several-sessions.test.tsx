import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
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

  test('is not held up by one whose list takes long', async () => {
    const { app, host } = await reviewed();
    const list = host.reviewFiles;
    host.reviewFiles = (id, scope) => (id === 'ses_long' ? new Promise(() => {}) : list(id, scope));
    await app.select('ses_long');
    await screen.findByText('Loading changes');
    await app.select('ses_docs');
    await waitFor(() => expect(app.review.files.found()?.sessionID).toBe('ses_docs'));
  });

  test('says why one cannot be listed, and tries again on request', async () => {
    const { app, host } = await reviewed();
    const list = host.reviewFiles;
    host.reviewFiles = () => Promise.reject({ code: 'failed', message: 'The disk is full' });
    await app.select('ses_long');
    await screen.findByText('The disk is full');
    host.reviewFiles = list;
    fireEvent.click(screen.getByTestId('review-again'));
    await waitFor(() => expect(app.review.files.found()?.sessionID).toBe('ses_long'));
    expect(screen.queryByText('The disk is full')).toBeNull();
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
    expect(await screen.findAllByRole('button', { name: 'Restore' })).toHaveLength(1);
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Restore' })).toBeNull());
  });
});

describe('what was begun in one session', () => {
  test('is not asked in another one: to revert everything', async () => {
    const window = await reviewed();
    const { judge } = window.app.review;
    await judge.revert({ key: 'all', selection: { kind: 'all' } });
    await screen.findByTestId('lines-confirm');
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    expect(screen.queryByTestId('lines-confirm')).toBeNull();
    await judge.confirm();
    expect(window.called('revertLines')).toEqual([]);
  });

  test('is undone there, also from another one', async () => {
    const window = await reviewed();
    await takeBack('src/wick.ts');
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    const toast = await screen.findByTestId('toast');
    fireEvent.click(within(toast).getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(window.called('undoReview')).toEqual([['ses_gallery']]));
  });

  test('is still there when one comes back: a comment', async () => {
    const window = await reviewed();
    fireEvent.click(element('[data-testid=comment-hunk]'));
    fireEvent.input(await screen.findByTestId('comment-text'), { target: { value: 'Half a thought' } });
    await window.app.select('ses_long');
    await opened(window, 'ses_long');
    expect(screen.queryByTestId('comment-text')).toBeNull();
    expect(window.app.review.comments.draft()).toBeUndefined();
    await window.app.select('ses_gallery');
    await opened(window, 'ses_gallery');
    expect(((await screen.findByTestId('comment-text')) as HTMLTextAreaElement).value).toBe('Half a thought');
  });
});

describe('an undo that meets a file which was changed since', () => {
  const changed = { path: 'src/wick.ts', change: 'conflict', reason: 'you have changed the same lines since', additions: 0, deletions: 0 } as const;

  test('asks what becomes of it, and goes on with the answer', async () => {
    const window = await reviewed();
    await takeBack('src/wick.ts');
    const { host } = window;
    const undone = host.undoReview;
    const calls: unknown[] = [];
    host.undoReview = async (id, options) => {
      calls.push([id, options]);
      if (!options) return { done: [changed], changed: [], comments: [] };
      return undone(id, options);
    };
    await window.app.review.judge.undo();
    const dialog = await screen.findByTestId('halted-confirm');
    expect(dialog.textContent).toContain('These files have changed since');
    const apply = screen.getByTestId('settle-halted') as HTMLButtonElement;
    expect(apply.disabled).toBe(true);
    fireEvent.click(within(dialog).getByLabelText('Keep as it is now'));
    expect(apply.disabled).toBe(false);
    fireEvent.click(apply);
    await waitFor(() => expect(screen.queryByTestId('halted-confirm')).toBeNull());
    expect(calls).toEqual([
      ['ses_gallery', undefined],
      ['ses_gallery', { choices: { 'src/wick.ts': 'mine' } }],
    ]);
  });
});

describe('what is uncommitted', () => {
  test('is reverted only after a question, since it may be the own work of the person', async () => {
    const window = await reviewed();
    window.app.review.setScope({ kind: 'uncommitted' });
    await window.app.review.judge.revert({ key: 'file:src/wick.ts', selection: { kind: 'file', path: 'src/wick.ts', version: 'src/wick.ts 1' } });
    await screen.findByTestId('lines-confirm');
    expect(window.called('revertLines')).toEqual([]);
  });
});

describe('comments that would make reverted messages final', () => {
  test('are sent once the person has agreed', async () => {
    const { app, host, called } = await reviewed();
    const send = host.sendComments;
    let refused = 0;
    host.sendComments = (id, text) => {
      refused += 1;
      return refused === 1 ? Promise.reject({ code: 'confirm', message: 'This deletes 2 turns.' }) : send(id, text);
    };
    const sent = app.review.comments.send();
    await screen.findByText('This deletes 2 turns.');
    fireEvent.click(screen.getByTestId('make-final'));
    expect(await sent).toBe(true);
    expect(called('discardReverted')).toEqual([['ses_gallery']]);
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
