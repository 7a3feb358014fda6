import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { openWindow } from '../testing/window';

async function row(sessionID: string): Promise<HTMLElement> {
  return waitFor(() => {
    const found = document.querySelector<HTMLElement>(`.session-row[data-session-id="${sessionID}"]`);
    if (!found) throw new Error(`no row for ${sessionID}`);
    return found;
  });
}
const opener = async (sessionID: string) => (await row(sessionID)).querySelector('button') as HTMLElement;
const titles = () => [...document.querySelectorAll('.session-title')].map((title) => title.textContent);
const current = () => document.querySelector('.session-row[data-current]')?.getAttribute('data-session-id');

describe('the list', () => {
  test('shows the sessions of the project, newest activity first, and marks the open one', async () => {
    openWindow();
    await row('ses_gallery');
    await waitFor(() => expect(current()).toBe('ses_gallery'));
    expect(titles()).toEqual([
      'Fix the flicker of overlapping timers',
      'A long session about a very long title that will not fit into the sidebar',
      'New session',
      'Write the driver manual',
    ]);
  });

  test('marks busy and failed sessions', async () => {
    const { host } = openWindow();
    await row('ses_docs');
    host.emit(
      {
        kind: 'event',
        event: { type: 'session.status', properties: { sessionID: 'ses_long', status: { type: 'busy' } } },
      },
      {
        kind: 'event',
        event: {
          type: 'session.error',
          properties: { sessionID: 'ses_docs', error: { name: 'UnknownError', data: { message: 'no disk' } } },
        },
      },
    );
    expect((await opener('ses_long')).textContent).toContain('Running');
    expect((await opener('ses_docs')).textContent).toContain('Failed');
    expect((await screen.findByTestId('toast')).textContent).toContain('no disk');
  });

  test('is filtered by title, over all projects, until Escape', async () => {
    openWindow();
    await row('ses_docs');
    const filter = screen.getByTestId('session-filter');
    fireEvent.input(filter, { target: { value: 'SATURN' } });
    await waitFor(() => expect(titles()).toEqual(['Place the moons of Saturn']));
    fireEvent.input(filter, { target: { value: 'nothing like it' } });
    expect(screen.getByText('No sessions match “nothing like it”')).toBeTruthy();
    fireEvent.keyDown(filter, { key: 'Escape' });
    await waitFor(() => expect(titles()).toContain('Write the driver manual'));
  });

  test('is navigated with the arrow keys', async () => {
    openWindow();
    const first = await opener('ses_gallery');
    first.focus();
    fireEvent.keyDown(first, { key: 'ArrowDown' });
    expect(document.activeElement).toBe(await opener('ses_long'));
    fireEvent.keyDown(document.activeElement as Element, { key: 'ArrowUp' });
    expect(document.activeElement).toBe(first);
  });
});

describe('renaming', () => {
  test('F2 edits the title in place and Enter keeps it', async () => {
    const window = openWindow();
    fireEvent.keyDown(await opener('ses_docs'), { key: 'F2' });
    const field = screen.getByRole('textbox', { name: 'Session title' });
    fireEvent.input(field, { target: { value: '  The manual  ' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => expect(window.called('renameSession')).toEqual([['ses_docs', 'The manual']]));
    expect((await opener('ses_docs')).textContent).toContain('The manual');
  });

  test('a double click edits too, and Escape leaves everything as it was', async () => {
    const window = openWindow();
    fireEvent.dblClick(await opener('ses_docs'));
    const field = screen.getByRole('textbox', { name: 'Session title' });
    fireEvent.input(field, { target: { value: 'Something else' } });
    fireEvent.keyDown(field, { key: 'Escape' });
    expect((await opener('ses_docs')).textContent).toContain('Write the driver manual');
    expect(window.called('renameSession')).toEqual([]);
    expect(window.called('abort')).toEqual([]);
  });
});

describe('archiving and deleting', () => {
  test('the menu archives a session into the folded group, and brings it back', async () => {
    const user = userEvent.setup();
    const window = openWindow();
    await user.click(within(await row('ses_docs')).getByRole('button', { name: /^Actions for/ }));
    await user.click(await screen.findByRole('menuitem', { name: /Archive/ }));
    await waitFor(() => expect(titles()).not.toContain('Write the driver manual'));
    expect(window.called('archiveSession')).toEqual([['ses_docs', true]]);
    const folded = screen.getByTestId('archived');
    expect(folded.textContent).toBe('Archived (2)');
    await user.click(within(await screen.findByTestId('toast')).getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(titles()).toContain('Write the driver manual'));
  });

  test('a deleted session is gone at once and back after Undo', async () => {
    const window = openWindow();
    await waitFor(() => expect(current()).toBe('ses_gallery'));
    fireEvent.keyDown(await opener('ses_gallery'), { key: 'Delete' });
    await waitFor(() => expect(titles()).not.toContain('Fix the flicker of overlapping timers'));
    await waitFor(() => expect(current()).toBe('ses_long'));
    const toast = await screen.findByTestId('toast');
    expect(toast.textContent).toContain('Deleted “Fix the flicker of overlapping timers”');
    fireEvent.click(within(toast).getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(current()).toBe('ses_gallery'));
    expect(window.called('restoreSession')).toEqual([['ses_gallery']]);
    expect(screen.queryByTestId('toast')).toBeNull();
  });
});

describe('shortcuts', () => {
  test('Ctrl+B hides and shows the sidebar, and it is remembered', async () => {
    const { host } = openWindow();
    await screen.findByTestId('sidebar');
    fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    await waitFor(() => expect(screen.queryByTestId('sidebar')).toBeNull());
    await waitFor(() => expect(host.settings().sidebarOpen).toBe(false));
    fireEvent.click(screen.getByTestId('show-sidebar'));
    await screen.findByTestId('sidebar');
  });

  test('Ctrl+N makes a session in the current project, but not a second empty one', async () => {
    const window = openWindow();
    await waitFor(() => expect(current()).toBe('ses_gallery'));
    fireEvent.keyDown(document.body, { key: 'n', ctrlKey: true });
    await waitFor(() => expect(window.called('createSession')).toEqual([['prj_lantern']]));
    await waitFor(() => expect(window.app.timeline.open()?.messages).toEqual([]));
    fireEvent.keyDown(document.body, { key: 'n', ctrlKey: true });
    expect(window.called('createSession')).toHaveLength(1);
  });

  test('Ctrl+O opens a folder and its newest session', async () => {
    const window = openWindow();
    await waitFor(() => expect(current()).toBe('ses_gallery'));
    fireEvent.keyDown(document.body, { key: 'o', ctrlKey: true });
    await waitFor(() => expect(current()).toBe('ses_moons'));
    expect(window.app.project()?.id).toBe('prj_orrery');
  });
});

test('the theme goes round and sets the root', async () => {
  const { host } = openWindow();
  const toggle = await screen.findByTestId('theme-toggle');
  const theme = () => document.documentElement.dataset.theme;
  const seen = [theme()];
  for (let click = 0; click < 3; click += 1) {
    fireEvent.click(toggle);
    seen.push(theme());
  }
  expect(seen).toEqual([undefined, 'light', 'dark', undefined]);
  await waitFor(() => expect(host.settings().theme).toBe('system'));
});
