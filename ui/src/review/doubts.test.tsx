import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import type { ReviewSelection } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function reviewed(host?: FakeHost): Promise<TestWindow> {
  const window = openWindow({}, host);
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  fireEvent.click(screen.getByTestId('toggle-review'));
  await screen.findByTestId('review');
  await waitFor(() => expect(document.querySelectorAll('.diff-file').length).toBe(3));
  return window;
}
const byPath = (path: string) => document.querySelector(`.diff-file[data-file="${path}"]`) as HTMLElement;
const click = (element: Element | null | undefined) => fireEvent.click(element as Element);
const button = (where: ParentNode, name: string) => where.querySelector(`[data-testid=${name}]`) as HTMLButtonElement;

describe('a file that is perhaps not the agent’s alone', () => {
  test('says so, and is reverted only as the person decides', async () => {
    const host = createFakeHost({ pace: 0 });
    const { reviewFiles } = host;
    const doubted = async (...given: Parameters<typeof reviewFiles>) => {
      const found = await reviewFiles(...given);
      return { ...found, files: found.files.map((file) => (file.path === 'src/wick.ts' ? { ...file, doubt: 'shared' as const } : file)) };
    };
    const { called, app } = await reviewed({ ...host, reviewFiles: doubted });
    expect(byPath('src/wick.ts').querySelector('[data-status=doubt]')?.textContent).toBe('perhaps not only the agent');
    expect(byPath('src/lamp.ts').querySelector('[data-status=doubt]')).toBeNull();
    expect(called('revertLines')).toEqual([]);
    expect(app.review.judge.asked()).toBeUndefined();
  });

  test('is asked about, all of several at once', async () => {
    const { called, host } = await reviewed();
    const file = { merged: false, additions: 0, deletions: 0, hunks: [], conflicts: [], reason: 'perhaps you' };
    host.previewRevertLines = async () => ({
      files: [{ ...file, path: 'src/wick.ts', change: 'shared' }, { ...file, path: 'src/lamp.ts', change: 'unknown' }],
      mustAsk: true,
    });
    click(button(byPath('src/wick.ts'), 'revert-file'));
    const confirm = await screen.findByTestId('lines-confirm');
    const go = screen.getByTestId('confirm-revert') as HTMLButtonElement;
    expect([confirm.querySelector('h3')?.textContent, go.disabled]).toEqual(['Revert changes?', true]);
    click(confirm.querySelector('[data-all=before]'));
    expect(go.disabled).toBe(false);
    click(go);
    const choices = { 'src/wick.ts': 'before', 'src/lamp.ts': 'before' };
    await waitFor(() => expect(called('revertLines').at(-1)?.[3]).toEqual({ choices }));
  });
});

describe('what no snapshot tells', () => {
  test('is named where there is nothing else to show', async () => {
    const host = createFakeHost({ pace: 0 });
    const unknown = ['What bash (make) did is not known: it was cut short'];
    const { reviewFiles } = host;
    const none = async (...given: Parameters<typeof reviewFiles>) => ({ ...(await reviewFiles(...given)), files: [], unknown });
    const { app } = openWindow({}, { ...host, reviewFiles: none } as FakeHost);
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    app.review.open();
    await screen.findByText(unknown[0] ?? '');
    expect(screen.queryByText('Nothing has been changed.')).toBeNull();
  });
});

describe('keeping all', () => {
  test('is about the files as they are on screen', async () => {
    const { called } = await reviewed();
    fireEvent.keyDown(screen.getByRole('button', { name: 'View options' }), { key: 'Enter' });
    fireEvent.keyDown(await screen.findByText('Keep all'), { key: 'Enter' });
    await waitFor(() => expect(called('keepLines')).toHaveLength(1));
    const { files } = called('keepLines')[0]?.[2] as Extract<ReviewSelection, { kind: 'files' }>;
    expect(files.find(({ path }) => path === 'src/lamp.ts')).toEqual({ path: 'src/lamp.ts', version: 'src/lamp.ts 2' });
    expect(files).toHaveLength(3);
  });
});
