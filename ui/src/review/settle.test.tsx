import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { RevertFile, RevertOutcome, RevertTarget } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const left = (path: string, change: RevertFile['change'] = 'conflict'): RevertFile => ({
  path,
  change,
  reason: 'it was changed since',
  additions: 0,
  deletions: 0,
  sides: { before: 'before\n', now: 'mine\n' },
});
const choice = (path: string, which: string) =>
  document.querySelector(`[data-testid=review-confirm] [data-path="${path}"] [data-choice=${which}]`) as HTMLInputElement;
const apply = () => screen.getByTestId('confirm-take-back') as HTMLButtonElement;

/** A window whose host leaves these files in every revert. */
async function leaving(files: RevertFile[], unknown: string[] = []): Promise<TestWindow & { first: string }> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const { host } = window;
  const first = window.app.timeline.open()?.messages[0]?.info.id ?? '';
  const outcome = (options?: unknown): RevertOutcome => {
    const { revert: _revert, ...session } = host.sessions.get('ses_gallery')!;
    const hides = unknown.length === 0 || JSON.stringify(options ?? '').includes('"force":true');
    const now = hides ? { ...session, revert: { messageID: first } } : session;
    host.sessions.set('ses_gallery', now);
    host.emit({ kind: 'event', event: { type: 'session.updated', properties: { info: now } } });
    return { session: now, files: options ? [] : files, unknown, hidesMessages: 1, undoable: 0 };
  };
  host.revert = async (sessionID, target, options) => {
    host.calls.push({ name: 'revert', args: [sessionID, target, options] });
    return outcome(options);
  };
  host.undoLastTurn = async () => outcome();
  host.previewRevert = async () => ({ files, unknown, hidesMessages: 1 });
  host.lastTurn = async () => first;
  host.pendingRevert = async () => ({ messageID: first, created: 0, left: files.map(({ path }) => path) });
  return { ...window, first };
}

describe('files that a revert leaves', () => {
  test('are shown after an undo with both contents, and settled file by file', async () => {
    const { app, called, first } = await leaving([left('a.ts'), left('b.ts', 'shared'), left('c.ts')]);
    void app.editing.undo();
    const confirm = await screen.findByTestId('review-confirm');
    expect(confirm.querySelector('h3')?.textContent).toBe('3 files were left as they are');
    expect(apply().disabled).toBe(true);
    fireEvent.click(screen.getAllByRole('button', { name: 'Compare both' })[0]!);
    expect([...confirm.querySelectorAll('.left-side pre')].map((one) => one.textContent)).toEqual(['mine\n', 'before\n']);
    fireEvent.click(choice('a.ts', 'mine'));
    fireEvent.click(choice('b.ts', 'before'));
    fireEvent.click(choice('c.ts', 'both'));
    fireEvent.click(apply());
    const target: RevertTarget = { kind: 'message', messageID: first, keepFiles: false };
    const options = { force: false, choices: { 'a.ts': 'mine', 'b.ts': 'before', 'c.ts': 'both' } };
    await waitFor(() => expect(called('revert')).toEqual([['ses_gallery', target, options]]));
    await waitFor(() => expect(screen.queryByTestId('review-confirm')).toBeNull());
  });

  test('get one choice together, and are all there again from the note in the timeline', async () => {
    const { app, called, first } = await leaving([left('a.ts'), left('b.ts')]);
    void app.editing.undo();
    await screen.findByTestId('review-confirm');
    fireEvent.click(screen.getByTestId('cancel-take-back'));
    await waitFor(() => expect(screen.queryByTestId('review-confirm')).toBeNull());
    expect((await screen.findByTestId('reverted')).textContent).toContain('2 files were left as they are.');
    fireEvent.click(await screen.findByTestId('settle-left'));
    await screen.findByTestId('review-confirm');
    fireEvent.click(document.querySelector('[data-all=before]')!);
    fireEvent.click(apply());
    const options = { force: false, choices: { 'a.ts': 'before', 'b.ts': 'before' } };
    await waitFor(() => expect(called('revert')).toEqual([['ses_gallery', { kind: 'message', messageID: first }, options]]));
  });

  test('hold an edited prompt back until the person has decided', async () => {
    const { app, called } = await leaving([left('a.ts')]);
    app.editing.begin(app.timeline.open()?.messages[0] as never);
    await screen.findByTestId('editing');
    void app.submit('Again');
    await screen.findByTestId('review-confirm');
    expect(called('prompt')).toEqual([]);
    fireEvent.click(screen.getByTestId('cancel-take-back'));
    await waitFor(() => expect(called('prompt')).toHaveLength(1));
  });
});

describe('a turn of which something is not known', () => {
  const UNKNOWN = 'What bash (make) did is not known: it was cut short';

  test('is not undone, says why, and is undone when the person insists', async () => {
    const { app, called, first } = await leaving([left('a.ts', 'unknown')], [UNKNOWN]);
    void app.editing.undo();
    const confirm = await screen.findByTestId('review-confirm');
    expect(confirm.querySelector('.review-notes')?.textContent).toBe(UNKNOWN);
    expect(screen.getByTestId('toast').textContent).toContain('Couldn’t revert the last turn');
    expect(screen.queryByTestId('reverted')).toBeNull();
    expect(apply().disabled).toBe(true);
    fireEvent.click(screen.getByTestId('force-take-back'));
    expect(choice('a.ts', 'before').checked).toBe(true);
    fireEvent.click(apply());
    const target: RevertTarget = { kind: 'message', messageID: first, keepFiles: false };
    await waitFor(() => expect(called('revert')).toEqual([['ses_gallery', target, { force: true, choices: { 'a.ts': 'before' } }]]));
    await screen.findByTestId('reverted');
    // What the notice said is no longer so.
    await waitFor(() => expect(screen.queryByText('Couldn’t revert the last turn')).toBeNull());
  });

  test('is not replaced by an edited prompt, which stays in the composer', async () => {
    const { app, called } = await leaving([], [UNKNOWN]);
    app.editing.begin(app.timeline.open()?.messages[0] as never);
    await screen.findByTestId('editing');
    const sent = app.submit('Again');
    await screen.findByTestId('review-confirm');
    fireEvent.click(screen.getByTestId('cancel-take-back'));
    expect(await sent).toBe(false);
    expect(called('prompt')).toEqual([]);
    await screen.findByTestId('editing');
  });
});
