import { screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createFakeHost } from '../host/fake';
import { openWindow } from '../testing/window';

const LANTERN = '/home/ada/projects/lantern';
const row = (sessionID: string) => document.querySelector<HTMLElement>(`.session-row[data-session-id="${sessionID}"]`);

describe('the branch of a session', () => {
  test('is named once where all work in the same folder, and in the tooltip of each', async () => {
    openWindow();
    expect((await screen.findByTestId('project-branch')).textContent).toBe('main3 uncommitted3');
    expect(screen.queryByTestId('session-branch')).toBeNull();
    await waitFor(() => expect(row('ses_docs')?.querySelector('button')?.title).toContain('\nBranch main, 3 uncommitted\n'));
  });

  test('is in the row of a session with a worktree of its own', async () => {
    const window = openWindow();
    await screen.findByTestId('project-branch');
    await window.app.fork(null, true);
    await waitFor(() => expect(screen.getByTestId('session-branch').textContent).toBe('lathe/quiet-lamp'));
    expect(screen.getByTestId('session-branch').closest('.session-row')).toBe(row(window.app.selected() ?? ''));
  });

  test('is read again when a turn has ended', async () => {
    const host = createFakeHost({ pace: 0 });
    let uncommitted = 1;
    host.gitFolders = async () => [{ directory: LANTERN, branch: 'main', uncommitted }];
    openWindow({}, host);
    expect((await screen.findByTestId('project-branch')).textContent).toBe('main1 uncommitted1');
    uncommitted = 4;
    host.emit({ kind: 'event', event: { type: 'session.idle', properties: { sessionID: 'ses_docs' } } });
    await waitFor(() => expect(screen.getByTestId('project-branch').textContent).toBe('main4 uncommitted4'));
  });

  test('is not named without git', async () => {
    const host = createFakeHost({ pace: 0 });
    host.gitFolders = async () => [];
    openWindow({}, host);
    await waitFor(() => expect(row('ses_docs')).toBeTruthy());
    expect(screen.queryByTestId('project-branch')).toBeNull();
  });
});
