import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}
async function opened(): Promise<TestWindow> {
  const window = await ready();
  window.app.show({ name: 'share', sessionID: 'ses_gallery' });
  await screen.findByTestId('share-dialog');
  return window;
}
const dialog = () => screen.getByTestId('share-dialog');
const closed = () => waitFor(() => expect(screen.queryByTestId('share-dialog')).toBeNull());
const place = async () => (await screen.findByTestId('share-place')).querySelector('code')?.textContent;

describe('sharing', () => {
  test('first shows what is redacted and where it goes, and shares nothing yet', async () => {
    const { called } = await opened();
    const share = await screen.findByTestId('share-now');
    const rows = [...screen.getByTestId('left-out').querySelectorAll('li')].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    );
    expect(rows).toEqual([
      ['API key', 'sk-a…', '2 times'],
      ['home folder', '~', '14 times'],
    ]);
    expect(dialog().textContent).toContain('Save 9 messages as an HTML page');
    expect(share.textContent).toBe('Save page…');
    await waitFor(() => expect(document.activeElement).toBe(share));
    expect(called('shareSession')).toEqual([]);
  });

  test('then shows the address, to copy and to open, and unshares', async () => {
    const { called, app } = await opened();
    fireEvent.click(await screen.findByTestId('share-now'));
    expect(await place()).toBe('/home/you/lantern.html');
    fireEvent.click(within(dialog()).getByRole('button', { name: 'Open' }));
    expect(called('openShared')).toEqual([['ses_gallery']]);
    expect(within(dialog()).getByRole('button', { name: 'Copy path' })).toBeTruthy();
    expect(screen.getByTestId('shared')).toBeTruthy();

    fireEvent.click(screen.getByTestId('unshare'));
    await closed();
    expect(called('unshareSession')).toEqual([['ses_gallery']]);
    expect(app.session()?.share).toBeUndefined();
    expect(screen.queryByTestId('shared')).toBeNull();
  });

  test('to a server names it, and the address is opened in the browser', async () => {
    const window = await ready();
    const { host, app, called } = window;
    host.sharePreview = async () => ({ messages: 1, redacted: [], endpoint: 'https://share.example' });
    const session = { ...host.sessions.get('ses_gallery')!, share: { url: 'https://share.example/s/42' } };
    host.shareSession = async () => session;
    app.show({ name: 'share', sessionID: 'ses_gallery' });
    const share = await screen.findByTestId('share-now');
    expect(share.textContent).toBe('Share');
    expect(dialog().textContent).toContain('Upload 1 message to https://share.example.');
    expect(dialog().textContent).toContain('No keys, passwords or home folder found.');
    fireEvent.click(share);
    expect(await place()).toBe('https://share.example/s/42');
    fireEvent.click(within(dialog()).getByRole('button', { name: 'Open' }));
    expect(called('openShared')).toEqual([['ses_gallery']]);
  });

  test('can be repeated for a shared session, after another preview', async () => {
    const { called } = await opened();
    fireEvent.click(await screen.findByTestId('share-now'));
    await place();
    fireEvent.click(within(dialog()).getByRole('button', { name: 'Update…' }));
    fireEvent.click(await screen.findByTestId('share-now'));
    expect(await place()).toBe('/home/you/lantern.html');
    expect(called('shareSession')).toHaveLength(2);
    expect(called('sharePreview')).toHaveLength(2);
  });

  test('stays where it was when the file dialog is dismissed', async () => {
    const { host, app } = await opened();
    host.shareSession = async () => null;
    const share = (await screen.findByTestId('share-now')) as HTMLButtonElement;
    fireEvent.click(share);
    await waitFor(() => expect(share.disabled).toBe(false));
    expect(screen.queryByTestId('share-place')).toBeNull();
    expect(app.session()?.share).toBeUndefined();
  });

  test('that is switched off says so', async () => {
    const { host, app } = await ready();
    host.sharePreview = () => Promise.reject({ code: 'failed', message: 'Sharing is turned off in the config' });
    app.show({ name: 'share', sessionID: 'ses_gallery' });
    expect((await screen.findByRole('alert')).textContent).toBe('Sharing is turned off in the config');
    expect(screen.queryByTestId('share-now')).toBeNull();
  });

  test('is closed with Escape, which does not stop the turn and returns the focus', async () => {
    const { app, called } = await ready();
    const field = screen.getByTestId('composer');
    field.focus();
    app.show({ name: 'share', sessionID: 'ses_gallery' });
    const share = await screen.findByTestId('share-now');
    await waitFor(() => expect(document.activeElement).toBe(share));
    fireEvent.keyDown(share, { key: 'Escape' });
    await closed();
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(called('abort')).toEqual([]);
  });
});

describe('the ways to it', () => {
  test('the menu of a row shares and exports that session, not the open one', async () => {
    const user = userEvent.setup();
    const { app, called } = await ready();
    const row = () => document.querySelector<HTMLElement>('.session-row[data-session-id="ses_docs"]') as HTMLElement;
    await user.click(within(row()).getByRole('button', { name: /^Actions for/ }));
    await user.click(await screen.findByRole('menuitem', { name: 'Share…' }));
    const share = await screen.findByTestId('share-now');
    expect(app.overlay()).toEqual({ name: 'share', sessionID: 'ses_docs' });
    await waitFor(() => expect(document.activeElement).toBe(share));
    fireEvent.keyDown(share, { key: 'Escape' });
    await closed();
    await user.click(within(row()).getByRole('button', { name: /^Actions for/ }));
    await user.click(await screen.findByRole('menuitem', { name: 'Export…' }));
    await waitFor(() => expect(called('exportSession')).toEqual([['ses_docs']]));
  });

  test('the menu bar shares, exports and imports; only a shared session can be unshared', async () => {
    const { host, app, called } = await ready();
    host.chooseMenu('unshare');
    host.chooseMenu('exportSession');
    host.chooseMenu('importSession');
    await waitFor(() => expect(called('importSession')).toHaveLength(1));
    expect(called('exportSession')).toEqual([['ses_gallery']]);
    expect(called('unshareSession')).toEqual([]);
    host.chooseMenu('share');
    expect(app.overlay()).toEqual({ name: 'share', sessionID: 'ses_gallery' });
  });
});
