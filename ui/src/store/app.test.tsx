import { screen, waitFor } from '@solidjs/testing-library';
import { createRoot } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import { createFakeHost } from '../host/fake';
import type { Host } from '../host/host';
import { openWindow } from '../testing/window';
import { createApp } from './app';

describe('the start', () => {
  test('goes to the session where the person was', async () => {
    const { app } = openWindow();
    await waitFor(() => expect(app.state().open?.sessionID).toBe('ses_gallery'));
    expect(app.project()?.id).toBe('prj_lantern');
  });

  test('leaves whoever has gone elsewhere meanwhile where they are', async () => {
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
      expect([app.selected(), app.state().open?.sessionID]).toEqual(['ses_docs', 'ses_docs']);
      dispose();
    });
  });

  test('that is wanted again with another folder goes there', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.state().open?.sessionID).toBe('ses_gallery'));
    host.startAgain('prj_orrery');
    await waitFor(() => expect(document.querySelector('.title-bar-place')?.textContent).toBe('orrery'));
    expect(app.selected()).toBeUndefined();
    await screen.findByText('Place the moons of Saturn');
  });

  test('where the person is, is remembered', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.state().open?.sessionID).toBe('ses_gallery'));
    await window.app.select('ses_docs');
    expect(window.called('remember').at(-1)).toEqual(['prj_lantern', 'ses_docs']);
  });

  test('that fails says why and can be tried again', async () => {
    const window = openWindow({ failStart: true });
    await screen.findByText('The core is not there');
    expect(screen.queryByTestId('sidebar')).toBeNull();
    screen.getByText('Try again').click();
    await waitFor(() => expect(window.app.phase().name).toBe('ready'));
  });
});
