import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test, vi } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

/** The window once its session is there, and a way to send a line. */
async function ready(): Promise<TestWindow & { say(line: string): void; area: HTMLTextAreaElement }> {
  const window = openWindow();
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.app.agents.list().length).toBeGreaterThan(1));
  const say = (line: string) => {
    // Without a token under the caret, so that Enter sends instead of picking.
    fireEvent.input(area, { target: { value: `${line} ` } });
    fireEvent.keyDown(area, { key: 'Enter' });
  };
  return { ...window, area, say };
}
const toast = async () => (await screen.findByTestId('toast')).textContent;

describe('a command of the window', () => {
  test('compacts the session', async () => {
    const { say, called } = await ready();
    say('/compact');
    await waitFor(() => expect(called('compact')).toEqual([['ses_gallery']]));
    expect(called('prompt')).toEqual([]);
  });

  test.each(['/snapshot before the rewrite', '/checkpoint before the rewrite'])(
    'keeps the files under the words that follow it: %s',
    async (line) => {
      const { say, called } = await ready();
      say(line);
      await waitFor(() => expect(called('checkpoint')).toEqual([['ses_gallery', 'before the rewrite']]));
      expect(await toast()).toContain('Took snapshot “before the rewrite”');
    },
  );

  test('unshares the session, and reports if it was not shared', async () => {
    const { say, called, host, app } = await ready();
    say('/unshare');
    expect(await toast()).toContain('Session isn’t shared');
    expect(called('unshareSession')).toEqual([]);
    await host.shareSession('ses_gallery');
    expect(app.session()?.share).toBeDefined();
    say('/unshare');
    await waitFor(() => expect(app.session()?.share).toBeUndefined());
    expect(called('unshareSession')).toEqual([['ses_gallery']]);
  });

  test('saves the session and says where', async () => {
    const { say, called } = await ready();
    say('/export');
    expect(await toast()).toContain('/home/you/lantern.json');
    fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    expect(called('openInEditor')).toEqual([['ses_gallery', '/home/you/lantern.json', null]]);
  });

  test('says nothing when the dialog is dismissed', async () => {
    const { say, called, host } = await ready();
    const dismissed = vi.fn(async () => null);
    host.exportSession = dismissed;
    host.importSession = dismissed;
    say('/export');
    say('/import');
    await waitFor(() => expect(dismissed).toHaveBeenCalledTimes(2));
    expect(called('start')).toHaveLength(1);
    expect(screen.queryByTestId('toast')).toBeNull();
  });

  test('imports a session, lists it, links to it and names what could not be read', async () => {
    const { say, host, app } = await ready();
    host.importSession = async () => {
      const source = host.sessions.get('ses_docs');
      if (source) host.sessions.set('ses_brought', { ...source, id: 'ses_brought', title: 'Brought along' });
      const broken = ['a', 'b', 'c', 'd'].map((name) => ({ what: `part ${name}`, why: 'cut short' }));
      return { added: 1, already: 0, grown: 0, left_out: [], stopped: false, unreadable: broken };
    };
    say('/import');
    expect(await toast()).toContain(
      'Couldn’t read part a (cut short); part b (cut short); part c (cut short) and 1 more',
    );
    fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    await waitFor(() => expect(app.session()?.title).toBe('Brought along'));
  });

  test('begins a session, or a copy, with the words that follow it', async () => {
    const { say, called, app, area } = await ready();
    say('/fork try it the other way');
    await waitFor(() => expect(app.session()?.forkedFrom?.sessionID).toBe('ses_gallery'));
    await waitFor(() => expect(area.value).toBe('try it the other way'));
    say('/new something else');
    await waitFor(() => expect(area.value).toBe('something else'));
    expect(app.session()?.forkedFrom).toBeUndefined();
    expect(called('prompt')).toEqual([]);
  });

  test('picks an agent by its name', async () => {
    const { say, app } = await ready();
    say('/agents plan');
    await waitFor(() => expect(app.agents.current()).toBe('plan'));
  });

  test('shows the shortcuts for /help', async () => {
    const { say, app } = await ready();
    say('/help');
    await waitFor(() => expect(app.overlay()).toEqual({ name: 'settings', section: 'shortcuts' }));
  });

  test('leaves the attachments for the next prompt', async () => {
    const { say, app, host, area } = await ready();
    host.attachments.next = { added: [host.attachments.make('notes.txt')], refused: [] };
    await app.attachments.pick(false);
    say('/compact');
    await waitFor(() => expect(area.value).toBe(''));
    expect(app.attachments.list().map(({ name }) => name)).toEqual(['notes.txt']);
  });
});
