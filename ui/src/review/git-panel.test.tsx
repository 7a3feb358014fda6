import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import type { BringBackPreview } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

/** An answer that the test gives. */
function later<T>() {
  let give!: (answer: T) => void;
  const answer = new Promise<T>((resolve) => (give = resolve));
  return { answer, give };
}

async function opened(change: (host: FakeHost) => Partial<FakeHost>): Promise<TestWindow> {
  const host = createFakeHost({ pace: 0 });
  const window = openWindow({}, { ...host, ...change(host) } as FakeHost);
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.click(screen.getByTestId('toggle-review'));
  await screen.findByTestId('git-bar');
  return window;
}

const conflict: BringBackPreview = {
  files: [
    { path: 'a.txt', change: 'conflict', additions: 0, deletions: 0, reason: 'both sides have changed it', sides: { before: 'theirs', now: 'mine' } },
  ],
  commits: 1,
};

async function toAnotherSession({ app }: TestWindow): Promise<void> {
  const other = app.timeline.open()?.sessionID === 'ses_long' ? 'ses_gallery' : 'ses_long';
  await app.select(other);
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe(other));
}

test('a preview that was loading for one session is not shown in the next one', async () => {
  const preview = later<BringBackPreview>();
  const window = await opened(() => ({ previewBringBack: () => preview.answer }));
  const asked = window.app.git.beginBringBack('apply');
  await toAnotherSession(window);
  preview.give(conflict);
  await asked;
  expect(window.app.git.task()).toBeUndefined();
});

test('a drafted message and the end of a commit leave the next session alone', async () => {
  const draft = later<string>();
  const commit = later<{ hash: string; summary: string }>();
  const window = await opened(() => ({ draftCommitMessage: () => draft.answer, commit: () => commit.answer }));
  const { git } = window.app;
  await git.beginCommit(false);
  const drafted = git.draft();
  await toAnotherSession(window);
  git.setMessage('Mine');
  draft.give('Theirs');
  await drafted;
  expect(git.message()).toBe('Mine');

  await git.beginCommit(false);
  const committed = git.commit();
  await waitFor(() => expect(git.working()).toBeDefined());
  await toAnotherSession(window);
  git.setMessage('Typed since');
  commit.give({ hash: '1234567890', summary: 'Mine' });
  await committed;
  expect(git.message()).toBe('Typed since');
});

test('a conflict is decided between the original and the worktree, and a new one is shown', async () => {
  const asked: unknown[] = [];
  const window = await opened(() => ({
    previewBringBack: async () => conflict,
    bringBack: async (...given) => {
      asked.push(given);
      throw new Error('b.txt conflicts, and isn’t decided yet. Refresh');
    },
  }));
  await window.app.git.beginBringBack('apply');
  const panel = await screen.findByTestId('git-panel');
  const choices = [...panel.querySelectorAll('label')].map((label) => label.textContent?.trim());
  expect(choices).toEqual(['Keep the original’s', 'Use the worktree’s']);
  const button = screen.getByTestId('do-bring-back') as HTMLButtonElement;
  expect(button.disabled).toBe(true);
  fireEvent.click(panel.querySelector('[data-choice=worktree]') as Element);
  await waitFor(() => expect(button.disabled).toBe(false));
  fireEvent.click(button);
  await waitFor(() => expect(asked).toEqual([['ses_gallery', 'apply', { 'a.txt': 'worktree' }]]));
  await screen.findByText(/b.txt conflicts/);
  expect(screen.getByTestId('git-panel')).toBeTruthy();
});

test('before a commit it is said that the hooks of the repository are off', async () => {
  const window = await opened((host) => ({
    gitStatus: async (id) => {
      const status = await host.gitStatus(id);
      return status && { ...status, staged: 1, untrusted: true };
    },
  }));
  await window.app.git.beginCommit(false);
  const panel = await screen.findByTestId('git-panel');
  expect(panel.textContent).toContain('Hooks and filters of this repository are off until you trust the project.');
});

test('files that are only named are listed in the review and in a comparison', async () => {
  const note = 'disk.img is not shown: it is larger than 16 MB';
  const window = await opened((host) => ({
    reviewFiles: async (id, scope) => ({ ...(await host.reviewFiles(id, scope)), files: [], notShown: [note] }),
    worktreeFiles: async () => ({ files: [], notShown: [note] }),
  }));
  const notes = () => [...document.querySelectorAll('.review-notes')].map((list) => list.textContent);
  await waitFor(() => expect(notes()).toEqual([note]));
  expect(document.querySelector('.review-note')?.textContent).toBe('Nothing of what has been changed can be shown.');
  await window.app.git.beginCompare();
  const panel = await screen.findByTestId('git-panel');
  expect(notes()).toEqual([note, note]);
  expect(panel.textContent).not.toContain('Nothing differs');
});

test('after a half done bring back, the panel has the files that were left, with the reason', async () => {
  const done: BringBackPreview = {
    files: [
      { path: 'a.txt', change: 'restore', additions: 1, deletions: 1 },
      { path: 'd/b.txt', change: 'conflict', additions: 1, deletions: 0, reason: 'another program has it open for writing' },
    ],
    commits: 0,
  };
  const window = await opened(() => ({ previewBringBack: async () => ({ ...conflict, files: [] }), bringBack: async () => done }));
  await window.app.git.beginBringBack('apply');
  fireEvent.click(await screen.findByTestId('do-bring-back'));
  await screen.findByText('1 file was not changed in the original');
  expect(screen.getByText('Changed 1 file of the original')).toBeTruthy();
  const rows = () => [...screen.getByTestId('git-panel').querySelectorAll('.review-effect > code, .review-reason')];
  await waitFor(() => expect(rows().map((one) => one.textContent)).toEqual(['d/b.txt', 'another program has it open for writing']));
});
