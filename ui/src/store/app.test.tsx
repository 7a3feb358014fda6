import { screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { openWindow } from '../testing/window';

describe('the start', () => {
  test('goes to the session where the person was', async () => {
    const { app } = openWindow();
    await waitFor(() => expect(app.state().open?.sessionID).toBe('ses_gallery'));
    expect(app.project()?.id).toBe('prj_lantern');
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
