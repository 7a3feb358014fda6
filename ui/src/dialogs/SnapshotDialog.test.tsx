import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { RevertTarget, SnapshotPart } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}
async function asked(): Promise<TestWindow & { field: HTMLInputElement }> {
  const window = await ready();
  window.host.chooseMenu('snapshot');
  const field = (await screen.findByTestId('snapshot-name')) as HTMLInputElement;
  await waitFor(() => expect(document.activeElement).toBe(field));
  return { ...window, field };
}
const closed = () => waitFor(() => expect(screen.queryByTestId('snapshot-dialog')).toBeNull());
/** The line of a snapshot, found by its words. */
const line = (words: string) =>
  waitFor(() => {
    const found = [...document.querySelectorAll<HTMLElement>('.snapshot')].find((one) => one.textContent?.includes(words));
    if (!found) throw new Error(`no snapshot says ${words}`);
    return found;
  });

describe('taking a snapshot', () => {
  test('asks for a name, takes a snapshot with Enter and shows it in the timeline', async () => {
    const { field, called } = await asked();
    expect((screen.getByTestId('keep-snapshot') as HTMLButtonElement).disabled).toBe(true);
    fireEvent.input(field, { target: { value: '  Before the rewrite ' } });
    fireEvent.submit(field.form as HTMLFormElement);
    await closed();
    expect(called('checkpoint')).toEqual([['ses_gallery', 'Before the rewrite']]);
    await line('Snapshot “Before the rewrite”');
    expect((await screen.findByTestId('toast')).textContent).toContain('Took snapshot “Before the rewrite”');
  });

  test('stays open with the name if the snapshot fails', async () => {
    const { field, host } = await asked();
    host.checkpoint = () => Promise.reject({ code: 'failed', message: 'The disk is full' });
    fireEvent.input(field, { target: { value: 'Now' } });
    fireEvent.submit(field.form as HTMLFormElement);
    expect((await screen.findByTestId('toast')).textContent).toContain('The disk is full');
    expect(field.value).toBe('Now');
    expect(screen.getByTestId('snapshot-dialog')).toBeTruthy();
  });

  test('is asked for by /snapshot without a name', async () => {
    await ready();
    const area = screen.getByTestId('composer');
    fireEvent.input(area, { target: { value: '/snapshot ' } });
    fireEvent.keyDown(area, { key: 'Enter' });
    await screen.findByTestId('snapshot-dialog');
  });
});

describe('a snapshot in the timeline', () => {
  const put = async ({ host, app }: TestWindow, told: Partial<SnapshotPart>) => {
    const messageID = app.timeline.open()?.messages.at(-1)?.info.id ?? '';
    const ids = { id: 'prt_ffffffffffff00000000000007', sessionID: 'ses_gallery', messageID };
    host.emit({ kind: 'part', part: { part: { type: 'snapshot', ...ids, snapshot: 'c0ffee', ...told } } });
    const target: RevertTarget = { kind: 'snapshot', messageID, partID: ids.id };
    return target;
  };

  test('restores the files after a preview, and can be undone', async () => {
    const window = await ready();
    const target = await put(window, { name: 'Good' });
    fireEvent.click(within(await line('“Good”')).getByRole('button', { name: 'Restore files to this snapshot' }));
    const confirm = await screen.findByTestId('review-confirm');
    expect(confirm.querySelector('h3')?.textContent).toBe('Restore the files to this snapshot?');
    expect(window.called('previewRevert')).toEqual([['ses_gallery', target]]);
    expect(window.called('revert')).toEqual([]);
    fireEvent.click(screen.getByTestId('confirm-take-back'));
    await waitFor(() => expect(window.called('revert')).toEqual([['ses_gallery', target]]));
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Restored 3 files');
    fireEvent.click(within(toast).getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(window.called('unrevert')).toHaveLength(1));
  });

  test('says when there is nothing to restore', async () => {
    const window = await ready();
    window.host.previewRevert = async () => ({ files: [], hidesMessages: 0 });
    await put(window, { name: 'Good' });
    fireEvent.click(within(await line('“Good”')).getByRole('button'));
    expect((await screen.findByTestId('toast')).textContent).toContain('The files are like that already');
    expect(screen.queryByTestId('review')).toBeNull();
  });

  test('of a revert is not shown: the revert itself can be undone', async () => {
    const window = await ready();
    await put(window, { takenBack: { after: 'beef', files: ['a.rs'] } });
    await put(window, {});
    await put(window, { id: 'prt_ffffffffffff00000000000008', name: 'Good' });
    await line('“Good”');
    expect(document.querySelectorAll('.snapshot')).toHaveLength(1);
    expect(screen.getAllByTestId('restore-snapshot')).toHaveLength(1);
  });

  test('says what it does not contain', async () => {
    const window = await ready();
    const skipped = ['video.mp4: larger than 2 MiB'];
    await put(window, { name: 'Good', skipped });
    const shown = await line('“Good”');
    fireEvent.click(within(shown).getByRole('button', { name: '1 file not included' }));
    expect(shown.querySelector('.snapshot-skipped')?.textContent).toBe('video.mp4: larger than 2 MiB');
  });

  test('cannot be restored while a turn runs', async () => {
    const window = await ready();
    await put(window, { name: 'Good' });
    window.host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    const button = within(await line('“Good”')).getByRole('button') as HTMLButtonElement;
    await waitFor(() => expect(button.disabled).toBe(true));
  });
});
