import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test, vi } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import type { RevertLinesPreview, ReviewDone, ReviewFiles, ReviewSelection } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function reviewed(host?: FakeHost): Promise<TestWindow> {
  const window = openWindow({}, host);
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.click(screen.getByTestId('toggle-review'));
  await screen.findByTestId('review');
  await waitFor(() => expect(document.querySelectorAll('.diff-file').length).toBe(3));
  await waitFor(() => expect(document.querySelectorAll('[data-hunk]').length).toBe(3));
  return window;
}
const byPath = (path: string) => document.querySelector(`.diff-file[data-file="${path}"]`) as HTMLElement;
const hunkAt = (line: number) => document.querySelector(`[data-row="hunk:src/lamp.ts:${line}"]`) as HTMLElement;
const found = (element: Element | null): Element => {
  if (!element) throw new Error('it is not there yet');
  return element;
};
const click = (element: Element | null | undefined) => fireEvent.click(element as Element);
const button = (where: ParentNode, name: string) => where.querySelector(`[data-testid=${name}]`) as HTMLButtonElement;
const rows = () => [...document.querySelectorAll<HTMLElement>('.diff-rows > [data-row]')].map((row) => row.dataset.row);
const first: ReviewSelection = { kind: 'lines', path: 'src/lamp.ts', version: 'src/lamp.ts 2', old: [{ from: 4, to: 4 }], new: [{ from: 4, to: 4 }] };
const SESSION = { kind: 'session' };

describe('the review', () => {
  test('shows the files of the session, with counts, and loads only their lines', async () => {
    const { called } = await reviewed();
    expect(document.querySelector('.review-sum')?.textContent).toContain('3 files changed');
    expect(called('reviewFiles').at(-1)).toEqual(['ses_gallery', SESSION]);
    expect(byPath('src/lamp.ts').querySelector('.counts')?.textContent).toBe('+2 −1');
    await waitFor(() => expect(document.querySelector('.diff-line[data-kind=add]')?.textContent).toContain('60'));
    expect(called('reviewLines')[0]).toEqual(['ses_gallery', SESSION, 'src/lamp.ts', 'src/lamp.ts 2', false, 0, 0, 4]);
  });

  test('shows no lines of a newer version under the name of an older one, and asks for the list again', async () => {
    const host = createFakeHost({ pace: 0 });
    const { reviewFiles } = host;
    let outdated = true;
    const late = async (...given: Parameters<typeof reviewFiles>) => {
      const found = await reviewFiles(...given);
      if (!outdated) return found;
      outdated = false;
      return { ...found, files: found.files.map((file) => ({ ...file, version: 'before' })) };
    };
    await reviewed({ ...host, reviewFiles: late });
    click(button(hunkAt(3), 'keep-hunk'));
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Kept'));
  });

  test('says that it loads until it is loaded, and only then that nothing was changed', async () => {
    const host = createFakeHost({ pace: 0 });
    let answer!: (files: ReviewFiles) => void;
    const waiting = { ...host, reviewFiles: () => new Promise<ReviewFiles>((resolve) => (answer = resolve)) };
    const { app } = openWindow({}, waiting as FakeHost);
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    app.review.open();
    await screen.findByText('Loading changes');
    expect(screen.queryByText('Nothing has been changed.')).toBeNull();
    answer({ sessionID: 'ses_gallery', scope: { kind: 'session' }, files: [], additions: 0, deletions: 0, comments: [] });
    await screen.findByText('Nothing has been changed.');
  });

  test('says why it cannot be shown', async () => {
    const { host, app } = await reviewed();
    host.reviewFiles = () => Promise.reject({ code: 'storage', message: 'The snapshots can’t be read' });
    app.review.setScope({ kind: 'turn', messageID: 'msg_gone' });
    expect((await screen.findByRole('alert')).textContent).toBe('The snapshots can’t be readRetry');
  });

  test('opens for one turn from its row, keeps that choice while changes come, and goes back to the session', async () => {
    const { app, called, host } = openWindow();
    click((await screen.findAllByTestId('turn-summary'))[0]);
    await screen.findByTestId('review');
    const turnID = document.querySelector<HTMLElement>('.session-turn')?.dataset.turnId ?? '';
    const turn = { kind: 'turn', messageID: turnID };
    await waitFor(() => expect(called('reviewFiles').at(-1)).toEqual(['ses_gallery', turn]));
    const count = called('reviewFiles').length;
    host.emit({ kind: 'review', sessionID: 'ses_gallery', files: ['src/lamp.ts'] });
    await waitFor(() => expect(called('reviewFiles').length).toBeGreaterThan(count));
    expect(app.review.scope()).toEqual(turn);
    expect(document.querySelector('.scope-title')?.textContent).toContain('The reading lamp');
    app.review.setScope({ kind: 'session' });
    await waitFor(() => expect(called('reviewFiles').at(-1)).toEqual(['ses_gallery', SESSION]));
  });

  test('remembers its width, and is moved with the arrow keys', async () => {
    const { host } = await reviewed();
    const handle = document.querySelector('.review-handle') as HTMLElement;
    fireEvent.keyDown(handle, { key: 'ArrowLeft' });
    await waitFor(() => expect(host.settings().review.width).toBe(484));
    expect((document.querySelector('.frame-review') as HTMLElement).style.width).toBe('484px');
  });

  test('remembers how lines are shown', async () => {
    const { app } = await reviewed();
    app.review.view.set({ wrap: false });
    expect(document.querySelector('.diff')?.getAttribute('data-wrap')).toBe('off');
    expect(JSON.parse(localStorage.getItem('review.view') ?? '')).toMatchObject({ wrap: false });
  });

  test('asks the core to leave out white space, and loads the files again', async () => {
    const { app, called } = await reviewed();
    app.review.view.set({ ignoreWhitespace: true });
    await waitFor(() => expect(called('reviewFile').at(-1)?.[3]).toBe(true));
  });
});

describe('a review that opens by itself', () => {
  const change = (window: TestWindow, id: string) => {
    const last = window.app.timeline.open()?.messages.at(-1);
    const part = { type: 'patch' as const, id, sessionID: 'ses_long', messageID: last?.info.id ?? '', hash: 'h', files: ['a.rs'] };
    window.host.emit({ kind: 'part', part: { part } });
  };
  async function inLong(): Promise<TestWindow> {
    const window = openWindow();
    await waitFor(() => expect(window.app.selected()).toBe('ses_gallery'));
    await window.app.select('ses_long');
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_long'));
    return window;
  }

  test('does so with the first change of the open session', async () => {
    const window = await inLong();
    expect(screen.queryByTestId('review')).toBeNull();
    change(window, 'prt_ffffffffffff00000000000001');
    await screen.findByTestId('review');
  });

  test('stays closed once a person has closed it, also after a restart', async () => {
    const window = await inLong();
    window.app.review.open();
    click(await screen.findByTestId('close-review'));
    change(window, 'prt_ffffffffffff00000000000001');
    await waitFor(() => expect(window.app.review.dismissed()).toBe(true));
    expect(screen.queryByTestId('review')).toBeNull();
    expect(localStorage.getItem('review.dismissed')).toBe('yes');
  });
});

describe('a hunk', () => {
  test('is reverted with one click, says so at once, and its row stays where it was', async () => {
    const { host, called } = await reviewed();
    let go!: () => void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const revert = host.revertLines;
    host.revertLines = async (...given) => (await gate, revert(...given));
    const before = rows();
    click(button(hunkAt(3), 'revert-hunk'));
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Reverting…'));
    expect(rows()).toEqual(before);
    go();
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Reverted 2 lines'));
    expect(rows()).toEqual(before.filter((row) => !row?.startsWith('src/lamp.ts:3:')));
    expect(called('revertLines')).toEqual([['ses_gallery', SESSION, first]]);
    expect(screen.queryByTestId('lines-confirm')).toBeNull();

    click(button(hunkAt(3), 'undo-here'));
    await waitFor(() => expect(button(hunkAt(3), 'revert-hunk')).toBeTruthy());
    expect(called('undoReview')).toEqual([['ses_gallery']]);
  });

  test('that is kept folds, is shown on request, and is kept no more with the same button', async () => {
    const { called } = await reviewed();
    click(button(hunkAt(3), 'keep-hunk'));
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Kept · 2 lines'));
    expect(called('keepLines')).toEqual([['ses_gallery', SESSION, first]]);
    expect(rows().filter((row) => row?.startsWith('src/lamp.ts:3:'))).toEqual([]);
    click(hunkAt(3).querySelector('.diff-kept'));
    expect(rows().filter((row) => row?.startsWith('src/lamp.ts:3:'))).toHaveLength(4);
    click(await waitFor(() => found(button(hunkAt(3), 'keep-hunk'))));
    await waitFor(() => expect(hunkAt(3).textContent).not.toContain('Kept'));
    expect(called('unkeepLines')).toEqual([['ses_gallery', SESSION, first]]);
  });

  test('is reverted around a person’s edits only after it was shown', async () => {
    const { host, called } = await reviewed();
    const preview: RevertLinesPreview = {
      files: [{ path: 'src/lamp.ts', change: 'restore', merged: true, additions: 1, deletions: 1, hunks: [], conflicts: [] }],
      mustAsk: true,
    };
    host.previewRevertLines = async () => preview;
    click(button(hunkAt(3), 'revert-hunk'));
    const confirm = await screen.findByTestId('lines-confirm');
    expect(confirm.textContent).toContain('your edits elsewhere stay');
    expect(called('revertLines')).toEqual([]);
    click(screen.getByTestId('confirm-revert'));
    await waitFor(() => expect(called('revertLines')).toEqual([['ses_gallery', SESSION, first, { choices: {} }]]));
  });

  test('that overlaps with a person’s edit is shown with both sides, and waits for a choice', async () => {
    const { host, called } = await reviewed();
    const conflict = { line: 4, mine: '  return 50;\n', before: '  return 40;\n', agent: '  return 60;\n' };
    host.previewRevertLines = async () => ({
      files: [{ path: 'src/lamp.ts', change: 'conflict', merged: false, additions: 0, deletions: 0, hunks: [], conflicts: [conflict] }],
      mustAsk: true,
    });
    click(button(hunkAt(3), 'revert-hunk'));
    const confirm = await screen.findByTestId('lines-confirm');
    expect([...confirm.querySelectorAll('pre')].map((side) => side.textContent)).toEqual(Object.values(conflict).slice(1));
    const go = screen.getByTestId('confirm-revert') as HTMLButtonElement;
    expect(go.disabled).toBe(true);
    click(confirm.querySelector('[data-choice=both]'));
    expect(go.disabled).toBe(false);
    click(go);
    await waitFor(() => expect(called('revertLines').at(-1)?.[3]).toEqual({ choices: { 'src/lamp.ts': 'both' } }));
  });
});

describe('a file', () => {
  test('is reverted with one click, keeps its row, and is undone from the notice', async () => {
    const { called } = await reviewed();
    const before = rows();
    click(button(byPath('src/wick.ts'), 'revert-file'));
    await screen.findByText('Reverted 1 file');
    expect(byPath('src/wick.ts').dataset.gone).toBe('');
    expect(rows()).toEqual(before.filter((row) => row === 'file:src/wick.ts' || !row?.includes('src/wick.ts')));
    const selection = { kind: 'file', path: 'src/wick.ts', version: 'src/wick.ts 1' };
    expect(called('revertLines')).toEqual([['ses_gallery', SESSION, selection]]);
    click(within(screen.getByTestId('toast')).getByText('Undo'));
    await waitFor(() => expect(byPath('src/wick.ts').dataset.gone).toBeUndefined());
  });

  test('says how many were left because of a conflict', async () => {
    const { host } = await reviewed();
    const file = { path: 'src/wick.ts', additions: 0, deletions: 1 };
    const done: ReviewDone = { done: [{ ...file, change: 'delete' }, { ...file, path: 'b.ts', change: 'conflict' }], changed: [], comments: [] };
    host.revertLines = async () => done;
    click(button(byPath('src/wick.ts'), 'revert-file'));
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Reverted 1 file');
    expect(toast.textContent).toContain('1 file changed since and stays');
  });

  test('is reverted together with all others only after a question', async () => {
    const { app, called } = await reviewed();
    await app.review.judge.revert({ key: 'all', selection: { kind: 'all' } });
    const confirm = await screen.findByTestId('lines-confirm');
    expect(confirm.querySelectorAll('.review-effect')).toHaveLength(3);
    fireEvent.keyDown(confirm, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('lines-confirm')).toBeNull());
    expect(called('revertLines')).toEqual([]);
  });

  test('opens in the editor, a hunk of it at its first changed line', async () => {
    const { called } = await reviewed();
    click(button(hunkAt(3), 'open-in-editor'));
    await waitFor(() => expect(called('openInEditor')).toEqual([['ses_gallery', 'src/lamp.ts', 4]]));
  });

  test('that a person has edited since says so', async () => {
    const host = createFakeHost({ pace: 0 });
    const { reviewFiles } = host;
    const edited = async (...given: Parameters<typeof reviewFiles>) => {
      const found = await reviewFiles(...given);
      return { ...found, files: found.files.map((file) => ({ ...file, edited: file.path === 'src/lamp.ts' })) };
    };
    await reviewed({ ...host, reviewFiles: edited });
    expect(byPath('src/lamp.ts').querySelector('[data-status=edited]')?.textContent).toBe('edited by you');
    expect(byPath('src/wick.ts').querySelector('[data-status=edited]')).toBeNull();
  });
});

describe('selected lines', () => {
  const numbers = () => [...document.querySelectorAll('[data-row^="src/lamp.ts:3:"] .diff-number:first-child')];
  const down = (element: Element | undefined, shiftKey = false) =>
    element?.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true, button: 0, shiftKey }));

  test('are chosen by their numbers, and kept or reverted alone', async () => {
    const { called } = await reviewed();
    down(numbers()[1]);
    expect((await screen.findByTestId('selection-bar')).textContent).toContain('Line 4');
    down(numbers()[2], true);
    await waitFor(() => expect(document.querySelectorAll('[data-selected]')).toHaveLength(2));
    click(screen.getByTestId('keep-lines'));
    const selection = { kind: 'lines', path: 'src/lamp.ts', version: 'src/lamp.ts 2', old: [{ from: 4, to: 4 }], new: [{ from: 4, to: 4 }] };
    await waitFor(() => expect(called('keepLines')).toEqual([['ses_gallery', SESSION, selection]]));
    expect(screen.queryByTestId('selection-bar')).toBeNull();
  });
});

describe('undo and redo', () => {
  test('are in the head, name what they do, and follow one another', async () => {
    const { called } = await reviewed();
    const [undo, redo] = [screen.getByTestId('review-undo') as HTMLButtonElement, screen.getByTestId('review-redo') as HTMLButtonElement];
    expect([undo.disabled, redo.disabled]).toEqual([true, true]);
    click(button(hunkAt(3), 'keep-hunk'));
    await waitFor(() => expect(undo.title).toContain('Undo: keep lamp.ts'));
    click(button(byPath('src/wick.ts'), 'revert-file'));
    await waitFor(() => expect(undo.title).toContain('Undo: revert wick.ts'));
    click(undo);
    await waitFor(() => expect(redo.title).toContain('Redo: revert wick.ts'));
    click(undo);
    await waitFor(() => expect(undo.disabled).toBe(true));
    click(redo);
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Kept'));
    expect([called('undoReview').length, called('redoReview').length]).toEqual([2, 1]);
  });

  test('revert nothing while a turn runs, but keep and comment', async () => {
    const { host, app } = await reviewed();
    host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } } });
    await waitFor(() => expect(app.busy()).toBe(true));
    expect([button(hunkAt(3), 'revert-hunk').disabled, button(hunkAt(3), 'keep-hunk').disabled]).toEqual([true, false]);
    click(button(hunkAt(3), 'keep-hunk'));
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Kept'));
  });
});

describe('a comment', () => {
  const write = async (text: string) => {
    click(button(hunkAt(3), 'comment-hunk'));
    const area = await screen.findByTestId('comment-text');
    fireEvent.input(area, { target: { value: text } });
    click(screen.getByTestId('save-comment'));
    return waitFor(() => expect(document.querySelector('.comment-text')?.textContent).toBe(text));
  };

  test('is written below its line, edited, resolved, reopened and removed', async () => {
    const { called } = await reviewed();
    await write('Warmer');
    const place = { path: 'src/lamp.ts', version: 'src/lamp.ts 2', side: 'new', from: 4, to: 4 };
    expect(called('addComment')).toEqual([['ses_gallery', SESSION, { ...place, text: 'Warmer' }]]);
    expect(document.querySelector('.diff-extra')?.previousElementSibling?.textContent).toContain('60');
    click(screen.getByTestId('edit-comment'));
    fireEvent.input(await screen.findByTestId('comment-text'), { target: { value: 'Much warmer' } });
    fireEvent.keyDown(screen.getByTestId('comment-text'), { key: 'Enter', ctrlKey: true });
    await waitFor(() => expect(document.querySelector('.comment-text')?.textContent).toBe('Much warmer'));
    click(screen.getByTestId('resolve-comment'));
    await waitFor(() => expect(document.querySelector('.comment')?.getAttribute('data-state')).toBe('resolved'));
    click(screen.getByTestId('resolve-comment'));
    await waitFor(() => expect(document.querySelector('.comment')?.getAttribute('data-state')).toBe('open'));
    click(screen.getByTestId('remove-comment'));
    await waitFor(() => expect(document.querySelector('.comment')).toBeNull());
  });

  test('goes to the agent with all other open ones, and says so', async () => {
    const { called } = await reviewed();
    await write('Warmer');
    const bar = screen.getByTestId('comments-bar');
    expect(bar.textContent).toContain('1 open comment');
    fireEvent.input(within(bar).getByRole('textbox'), { target: { value: 'Please' } });
    click(screen.getByTestId('send-comments'));
    await waitFor(() => expect(called('sendComments')).toEqual([['ses_gallery', 'Please']]));
    await waitFor(() => expect(screen.queryByTestId('comments-bar')).toBeNull());
    expect(document.querySelector('.comment-head')?.textContent).toContain('Sent to the agent');
  });

  test('that could not be stored stays in its field', async () => {
    const { host } = await reviewed();
    host.addComment = () => Promise.reject({ code: 'storage', message: 'The disk is full' });
    click(button(hunkAt(3), 'comment-hunk'));
    const area = (await screen.findByTestId('comment-text')) as HTMLTextAreaElement;
    fireEvent.input(area, { target: { value: 'Warmer' } });
    click(screen.getByTestId('save-comment'));
    await screen.findByText('The disk is full');
    expect((screen.getByTestId('comment-text') as HTMLTextAreaElement).value).toBe('Warmer');
  });
});

describe('the steps of a session', () => {
  test('are gone through with the bar, shown as they were, and left again', async () => {
    const { app, called } = await reviewed();
    const bar = await screen.findByTestId('scrub-bar');
    expect(bar.textContent).toContain('Now');
    fireEvent.input(screen.getByTestId('scrub-range'), { target: { value: '1' } });
    const until = { kind: 'until', messageID: 'msg_step_b', partID: 'prt_step_b' };
    await waitFor(() => expect(called('reviewFiles').at(-1)?.[1]).toEqual(until));
    expect(bar.textContent).toContain('Step 2 of 3');
    // What was is only looked at.
    await waitFor(() => expect(screen.queryAllByTestId('keep-file')).toEqual([]));
    click(screen.getByTestId('to-now'));
    await waitFor(() => expect(app.review.scope()).toEqual(SESSION));
  });

  test('are played from the first to the last', async () => {
    const { app } = await reviewed();
    await screen.findByTestId('scrub-bar');
    vi.useFakeTimers();
    try {
      click(screen.getByTestId('play-steps'));
      expect(app.review.steps.at()).toBe(0);
      vi.advanceTimersByTime(10_000);
      expect([app.review.steps.at(), app.review.steps.playing()]).toEqual([2, false]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('bring the files back after a preview', async () => {
    const { app, called } = await reviewed();
    await app.review.steps.ask({ messageID: 'msg_step_a', partID: 'prt_step_a' });
    const confirm = await screen.findByTestId('restore-confirm');
    expect(confirm.querySelectorAll('.review-effect')).toHaveLength(3);
    expect(called('restoreFiles')).toEqual([]);
    click(screen.getByTestId('confirm-restore'));
    await screen.findByText('Restored 3 files');
    expect(called('restoreFiles')).toEqual([['ses_gallery', { messageID: 'msg_step_a', partID: 'prt_step_a' }]]);
  });
});

describe('git', () => {
  test('shows the branch and what is uncommitted, stages what was kept and commits it with a drafted message', async () => {
    const { app, called } = await reviewed();
    const bar = await screen.findByTestId('git-bar');
    expect(bar.textContent).toContain('main3 uncommitted');
    click(button(hunkAt(3), 'keep-hunk'));
    await waitFor(() => expect(hunkAt(3).textContent).toContain('Kept'));
    await app.git.stageKept();
    expect(called('stageKept')).toEqual([['ses_gallery', SESSION]]);
    click(await screen.findByTestId('git-commit'));
    click(await screen.findByTestId('draft-message'));
    const area = screen.getByTestId('commit-message') as HTMLTextAreaElement;
    await waitFor(() => expect(area.value).toBe('Light the lamp warmer'));
    fireEvent.input(area, { target: { value: 'Light the lamp much warmer' } });
    click(screen.getByTestId('do-commit'));
    await screen.findByText('Committed 5b7799d: Light the lamp much warmer');
    expect(called('commit')).toEqual([['ses_gallery', { message: 'Light the lamp much warmer', amend: false }]]);
    expect(screen.queryByTestId('git-panel')).toBeNull();
  });

  test('brings a worktree back after a preview, and removes it after a question', async () => {
    const { app, called } = await reviewed();
    await app.git.beginBringBack('apply');
    const panel = await screen.findByTestId('git-panel');
    expect(panel.querySelectorAll('.review-effect')).toHaveLength(3);
    click(screen.getByTestId('do-bring-back'));
    await screen.findByText('Changed 1 file of the original');
    expect(called('bringBack')).toEqual([['ses_gallery', 'apply', {}]]);
    app.git.beginRemove();
    click(await screen.findByTestId('do-remove-worktree'));
    await screen.findByText('Removed the worktree. What was not committed is saved on lathe/quiet-lamp.');
  });
});

describe('a session in a worktree of its own', () => {
  test('is begun from the actions, and its branch is in the title bar', async () => {
    const { app, called } = await reviewed();
    expect((await screen.findByTestId('branch')).textContent).toBe('main3');
    const made = await app.createApart();
    expect(called('createSessionInWorktree')).toEqual([[app.project()?.id, null]]);
    await waitFor(() => expect(app.selected()).toBe(made?.id));
  });

  test('shows before a prompt what going back to it would do', async () => {
    const { app, called } = await reviewed();
    const prompt = app.timeline.open()?.messages[0]?.info.id ?? '';
    await app.review.steps.ask({ messageID: prompt });
    expect(called('previewRestore')).toEqual([['ses_gallery', { messageID: prompt }]]);
    await screen.findByTestId('restore-confirm');
  });
});
