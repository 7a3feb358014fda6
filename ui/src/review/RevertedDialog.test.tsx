import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { RevertedItem, RevertFile } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const item = (id: string, files: string[], title = `Prompt ${id}`): RevertedItem => ({
  id,
  sessionID: 'ses_gallery',
  title,
  time: Date.UTC(2026, 10, 18, 12),
  messages: 2,
  files,
});

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}
const dialog = () => screen.findByTestId('reverted-dialog');

describe('the list “Reverted and removed”', () => {
  test('is opened from the menu, says that it is empty, and closes with Escape', async () => {
    const { host } = await ready();
    host.chooseMenu('reverted');
    expect((await screen.findByTestId('reverted-empty')).textContent).toBe('Nothing was removed in this session.');
    fireEvent.keyDown(await dialog(), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('reverted-dialog')).toBeNull());
  });

  test('says that it loads, then why it cannot, and tries again', async () => {
    const { host } = await ready();
    let answer!: (reason: unknown) => void;
    host.listReverted = () => new Promise((_, reject) => (answer = reject));
    host.chooseMenu('reverted');
    expect((await dialog()).textContent).toContain('Loading');
    answer({ code: 'storage', message: 'The list cannot be read' });
    expect((await screen.findByRole('alert')).textContent).toBe('The list cannot be read');
    host.listReverted = async () => [item('1', ['a.ts'])];
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect((await screen.findByTestId('reverted-list')).textContent).toContain('2 messages, 1 file');
  });

  test('shows what a prompt has removed, restores it and says what came back', async () => {
    const { host, app, called } = await ready();
    const count = host.messages.get('ses_gallery')?.length;
    await app.editing.undo();
    await app.host.discardReverted('ses_gallery');
    expect(host.messages.get('ses_gallery')?.length).toBeLessThan(count ?? 0);
    host.chooseMenu('reverted');
    const list = await screen.findByTestId('reverted-list');
    fireEvent.click(within(list).getByTestId('restore-reverted'));
    const result = await screen.findByTestId('reverted-result');
    expect(result.textContent).toMatch(/Restored: \d+ messages? and 3 files\./);
    expect(called('restoreReverted')).toEqual([['ses_gallery', '1']]);
    expect(host.messages.get('ses_gallery')).toHaveLength(count ?? 0);
    await screen.findByTestId('reverted-empty');
  });

  test('says what did not come back, and lets the person decide file by file', async () => {
    const { host, called } = await ready();
    const session = host.sessions.get('ses_gallery')!;
    const left = (path: string): RevertFile => ({
      path,
      change: 'conflict',
      reason: 'it was changed since',
      additions: 0,
      deletions: 0,
      sides: { before: 'removed\n', now: 'mine\n' },
    });
    const answers = [[left('a.ts'), left('b.ts')], []];
    host.listReverted = async () => [item('7', ['a.ts', 'b.ts'])];
    host.restoreReverted = async (sessionID, id, options) => {
      host.calls.push({ name: 'restoreReverted', args: [sessionID, id, options] });
      return { session, files: answers.shift() ?? [], hidesMessages: 0, undoable: 0, complete: false };
    };
    host.chooseMenu('reverted');
    fireEvent.click(await screen.findByTestId('restore-reverted'));
    const result = await screen.findByTestId('reverted-result');
    expect(result.textContent).toContain('2 files were not restored:');
    expect(result.textContent).toContain('it was changed since');
    const apply = () => screen.getByTestId('apply-restored') as HTMLButtonElement;
    expect(apply().disabled).toBe(true);
    fireEvent.click(within(result).getAllByRole('button', { name: 'Compare both' })[0]!);
    expect([...result.querySelectorAll('.left-side pre')].map((one) => one.textContent)).toEqual(['mine\n', 'removed\n']);
    fireEvent.click(result.querySelector('[data-path="a.ts"] [data-choice=before]')!);
    fireEvent.click(result.querySelector('[data-path="b.ts"] [data-choice=mine]')!);
    fireEvent.click(apply());
    const options = { force: false, choices: { 'a.ts': 'before', 'b.ts': 'mine' } };
    await waitFor(() => expect(called('restoreReverted').at(-1)).toEqual(['ses_gallery', '7', options]));
    await waitFor(() => expect(screen.queryByTestId('apply-restored')).toBeNull());
  });

  test('opens with the files that an undone revert could not restore, and lets the person decide', async () => {
    const { host, app, called } = await ready();
    const session = host.sessions.get('ses_gallery')!;
    const sides = { before: 'agent\n', now: 'mine\n' };
    const left: RevertFile = { path: 'a.ts', change: 'conflict', reason: 'changed since', additions: 0, deletions: 0, sides };
    const came: RevertFile = { path: 'b.ts', change: 'restore', additions: 1, deletions: 0 };
    host.unrevert = async () => ({ session, files: [left, came], hidesMessages: 0, undoable: 0, complete: false, leftIn: '3' });
    host.listReverted = async () => [{ ...item('3', ['a.ts'], 'a.ts'), messages: 0 }];
    host.restoreReverted = async (sessionID, id, options) => {
      host.calls.push({ name: 'restoreReverted', args: [sessionID, id, options] });
      return { session, files: [{ ...left, change: 'restore' }], hidesMessages: 0, undoable: 0, complete: true };
    };
    await app.editing.redo();
    const result = await screen.findByTestId('reverted-result');
    expect(result.querySelector('p')?.textContent).toBe('a.tsRestored: 1 file.');
    expect([...result.querySelectorAll('.left-choices label')].map((one) => one.textContent)).toEqual([
      'Keep mine',
      'The agent’s',
      'Both, side by side',
    ]);
    fireEvent.click(result.querySelector('[data-path="a.ts"] [data-choice=both]')!);
    fireEvent.click(screen.getByTestId('apply-restored'));
    const options = { force: false, choices: { 'a.ts': 'both' } };
    await waitFor(() => expect(called('restoreReverted')).toEqual([['ses_gallery', '3', options]]));
  });

  test('shows a long list with long names, and the rest of the files on demand', async () => {
    const { host } = await ready();
    const files = Array.from({ length: 400 }, (_, index) => `src/${'deep/'.repeat(20)}file-${index}.ts`);
    host.listReverted = async () => Array.from({ length: 200 }, (_, index) => item(String(index), files, `A\u202e prompt ${index}`));
    host.chooseMenu('reverted');
    const list = await screen.findByTestId('reverted-list');
    expect(list.querySelectorAll('.reverted-item')).toHaveLength(200);
    const first = list.querySelector('.reverted-item') as HTMLElement;
    expect(first.textContent).not.toContain('\u202e');
    expect(first.querySelectorAll('code')).toHaveLength(3);
    fireEvent.click(within(first).getByRole('button', { name: 'and 397 more' }));
    expect(first.querySelectorAll('code')).toHaveLength(400);
  });

  test('restores nothing while a turn runs', async () => {
    const { host } = await ready();
    host.listReverted = async () => [item('1', ['a.ts'])];
    const properties = { sessionID: 'ses_gallery', status: { type: 'busy' as const } };
    host.emit({ kind: 'event', event: { type: 'session.status', properties } });
    host.chooseMenu('reverted');
    const button = (await screen.findByTestId('restore-reverted')) as HTMLButtonElement;
    expect([button.disabled, button.title]).toEqual([true, 'Not while the session is being worked on']);
  });
});
