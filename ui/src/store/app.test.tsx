import { cleanup, screen, waitFor } from '@solidjs/testing-library';
import { createRoot } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import { createFakeHost } from '../host/fake';
import { sampleRequests } from '../host/fake/samples';
import type { Host } from '../host/host';
import type { Project } from '../protocol';
import { openWindow } from '../testing/window';
import { createApp } from './app';

describe('the start', () => {
  test('goes to the session where the person was', async () => {
    const { app } = openWindow();
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    expect(app.project()?.id).toBe('prj_lantern');
  });

  test('does not move a person who has gone elsewhere in the meantime', async () => {
    const host = createFakeHost();
    let answer!: () => void;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const listSessions: Host['listSessions'] = (id) => asked.then(() => host.listSessions(id));
    await createRoot(async (dispose) => {
      const app = createApp({ ...host, listSessions });
      const started = app.start();
      await vi.waitFor(() => expect(app.phase().name).toBe('ready'));
      await app.select('ses_docs');
      answer();
      await started;
      expect([app.selected(), app.timeline.open()?.sessionID]).toEqual(['ses_docs', 'ses_docs']);
      dispose();
    });
  });

  test('that is repeated with another folder opens it', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    host.startAgain('prj_orrery');
    await waitFor(() => expect(document.querySelector('.title-bar-place')?.textContent).toBe('orrery'));
    expect(app.selected()).toBeUndefined();
    await screen.findByText('Place the moons of Saturn');
  });

  test('where the person is, is remembered', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    await window.app.select('ses_docs');
    expect(window.called('remember').at(-1)).toEqual(['prj_lantern', 'ses_docs']);
  });

  test('says where the settings are that could not all be read', async () => {
    openWindow({ damagedSettings: '/data/settings.json.damaged' });
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Couldn’t read all settings. The others hold.');
    expect(toast.textContent).toContain('The file as it was: /data/settings.json.damaged');
  });

  test('that fails says why and can be tried again', async () => {
    const window = openWindow({ failStart: true });
    await screen.findByText('The core is not there');
    expect(screen.queryByTestId('sidebar')).toBeNull();
    screen.getByText('Retry').click();
    await waitFor(() => expect(window.app.phase().name).toBe('ready'));
  });
});

describe('background sessions', () => {
  const busy = (sessionID: string) => ({
    kind: 'event' as const,
    event: { type: 'session.status' as const, properties: { sessionID, status: { type: 'busy' as const } } },
  });
  const row = (sessionID: string) => document.querySelector(`.session-row[data-session-id="${sessionID}"]`);

  test('keep their status and their requests when the page is loaded again', async () => {
    const { host } = openWindow();
    await waitFor(() => expect(row('ses_docs')).not.toBeNull());
    host.emit(busy('ses_long'), ...sampleRequests('ses_docs'));
    cleanup();
    openWindow({}, host);
    await waitFor(() => expect(row('ses_long')?.textContent).toContain('Running'));
    expect(row('ses_docs')?.textContent).toContain('Waiting for you');
    expect(screen.getByTestId('waiting-badge').textContent).toBe('1');
  });

  test('have their new status, requests and titles after updates were lost', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    host.emit(busy('ses_long'));
    const idle = { type: 'session.idle' as const, properties: { sessionID: 'ses_long' } };
    const renamed = { ...host.sessions.get('ses_empty')!, title: 'Named elsewhere' };
    host.sessions.set(renamed.id, renamed);
    host.lose({ kind: 'event', event: idle }, busy('ses_empty'), ...sampleRequests('ses_docs'));
    await waitFor(() => expect(row('ses_empty')?.textContent).toContain('Named elsewhere'));
    expect(row('ses_empty')?.textContent).toContain('Running');
    expect(row('ses_docs')?.textContent).toContain('Waiting for you');
    expect(row('ses_long')?.hasAttribute('data-unread')).toBe(true);
  });

  test('of a project that another process opened bring their project along', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(row('ses_docs')).not.toBeNull());
    const fresh: Project = { ...app.project()!, id: 'prj_elsewhere', worktree: '/home/k/elsewhere', name: 'elsewhere' };
    const { listProjects } = host;
    host.listProjects = async () => [...(await listProjects()), fresh];
    const info = { ...host.sessions.get('ses_docs')!, id: 'ses_elsewhere', projectID: fresh.id, directory: fresh.worktree };
    host.emit({ kind: 'event', event: { type: 'session.created', properties: { info } } });
    await waitFor(() => expect(app.sessions.projects().map(({ id }) => id)).toContain('prj_elsewhere'));
    expect(app.project()?.id).toBe('prj_lantern');
    expect(screen.getByTestId('sidebar').textContent).toContain('elsewhere');
  });

  test('of a project that is not listed are listed again only when it is opened', async () => {
    const { host, called } = openWindow();
    await waitFor(() => expect(row('ses_docs')).not.toBeNull());
    const before = called('listSessions').length;
    host.lose();
    await waitFor(() => expect(called('listSessions').length).toBe(before + 1));
    expect(called('listSessions').at(-1)).toEqual(['prj_lantern']);
  });
});
