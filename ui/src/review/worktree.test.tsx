import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { createFakeHost } from '../host/fake';
import { openWindow } from '../testing/window';

const TREE = {
  folder: '/home/ada/projects/lantern-quiet-lamp',
  branch: 'lathe/quiet-lamp',
  original: '/home/ada/projects/lantern',
  originalBranch: 'main',
  commits: 2,
  uncommitted: 1,
};

test('a worktree is compared with its original, and brought back from there', async () => {
  const host = createFakeHost({ pace: 0 });
  const status = host.gitStatus;
  host.gitStatus = async (id) => ({ ...((await status(id)) as NonNullable<Awaited<ReturnType<typeof status>>>), branch: TREE.branch, worktree: TREE });
  const window = openWindow({}, host);
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  window.app.review.open();
  expect((await screen.findByTestId('git-bar')).textContent).toContain('lathe/quiet-lamp3 uncommitted · Worktree of lantern');
  await window.app.git.beginCompare();
  const panel = await screen.findByTestId('git-panel');
  expect(panel.querySelector('h3')?.textContent).toBe('Changes against main');
  expect(panel.textContent).toContain('2 commits, 1 uncommitted');
  const files = [...screen.getByTestId('compared').querySelectorAll('li')].map((file) => file.textContent);
  expect(files).toEqual([
    'package-lock.jsonchanged+412 −398',
    'src/lamp.tschanged+2 −1',
    'src/wick.tsnew+1 −0',
  ]);
  fireEvent.click(screen.getByRole('button', { name: 'Apply as uncommitted changes…' }));
  fireEvent.click(await screen.findByTestId('do-bring-back'));
  await screen.findByText('Changed 1 file of the original');
});

test('a file of which one change was reverted is not crossed out in the list', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  window.app.review.open();
  const lamp = () => document.querySelector<HTMLElement>('.review-file[data-path="src/lamp.ts"]');
  const wick = () => document.querySelector<HTMLElement>('.review-file[data-path="src/wick.ts"]');
  fireEvent.click((await screen.findAllByTestId('revert-hunk'))[0] as HTMLElement);
  await waitFor(() => expect(document.querySelector('[data-tomb]')).toBeTruthy());
  expect(lamp()?.dataset.gone).toBeUndefined();
  fireEvent.click(screen.getByRole('button', { name: 'Revert the changes of src/wick.ts' }));
  await waitFor(() => expect(wick()?.dataset.gone).toBe(''));
});
