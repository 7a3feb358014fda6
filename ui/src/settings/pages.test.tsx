import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import type { SettingsSection } from '../store/app';
import { openWindow, type TestWindow } from '../testing/window';

async function page(section: SettingsSection, options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  window.app.show({ name: 'settings', section });
  await screen.findByTestId('settings');
  return window;
}

describe('permissions', () => {
  test('what is always allowed is listed by project and can be revoked', async () => {
    const window = await page('permissions');
    const revoke = await screen.findByRole('button', { name: 'Revoke bash: cargo test *' });
    fireEvent.click(revoke);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Revoke bash: cargo test *' })).toBeNull());
    const rule = { permission: 'bash', pattern: 'cargo test *', action: 'allow' };
    expect(window.called('revokeRule')).toEqual([['prj_lantern', rule]]);
    expect(screen.getByText('docs.rs')).toBeTruthy();
    expect(screen.getByText('No saved rules')).toBeTruthy();
  });

  test('edits of one project can be allowed, and asked about again', async () => {
    const window = await page('permissions');
    const box = (await screen.findByTestId('edits-prj_lantern')) as HTMLInputElement;
    await waitFor(() => expect(box.checked).toBe(false));
    fireEvent.click(box);
    await waitFor(() => expect(window.called('projectEdits').length).toBeGreaterThan(2));
    expect(box.checked).toBe(true);
    fireEvent.click(box);
    await waitFor(() => expect(window.called('setProjectEdits').length).toBe(2));
    expect(window.called('setProjectEdits')).toEqual([['prj_lantern', true], ['prj_lantern', false]]);
  });

  test('limits are off until they are entered, and a wrong one is not saved', async () => {
    const window = await page('permissions');
    const field = (name: string) => screen.getByLabelText(name) as HTMLInputElement;
    const enter = (name: string, value: string) => {
      fireEvent.input(field(name), { target: { value } });
      fireEvent.change(field(name));
    };
    await waitFor(() => expect(window.host.settings().limits).toEqual({}));
    enter('Cost of a session, in dollars', '2,50');
    enter('Steps in a turn', '40');
    await waitFor(() => expect(window.host.settings().limits).toEqual({ sessionCost: 2.5, turnSteps: 40 }));
    enter('Steps in a turn', '4.5');
    expect(screen.getByRole('alert').textContent).toBe('Enter a whole number above 0.');
    await waitFor(() => expect(window.host.settings().limits).toEqual({ sessionCost: 2.5, turnSteps: 40 }));
    enter('Cost of a session, in dollars', ' ');
    await waitFor(() => expect(window.host.settings().limits).toEqual({ turnSteps: 40 }));
  });

  test('a limit does not hold while it is typed', async () => {
    const window = await page('permissions');
    fireEvent.input(screen.getByLabelText('Minutes in a turn'), { target: { value: '5' } });
    expect(window.called('saveSettings')).toEqual([]);
  });

  test('the sandbox is named, with what it does not cover', async () => {
    await page('permissions');
    const sandbox = await screen.findByTestId('sandbox');
    expect(sandbox.textContent).toContain('In Auto, commands run in bubblewrap.');
    expect(sandbox.textContent).toContain('The size of what a command writes to the disk is not limited.');
  });
});

describe('appearance', () => {
  test('zoom, motion, menu bar and notifications are settings', async () => {
    const window = await page('appearance');
    fireEvent.change(screen.getByTestId('zoom'), { target: { value: '125' } });
    for (const name of ['reducedMotion', 'menuBar', 'notify', 'notifySound']) fireEvent.click(screen.getByTestId(`setting-${name}`));
    await waitFor(() => {
      const { zoom, reducedMotion, menuBar, notify, notifySound } = window.host.settings();
      expect({ zoom, reducedMotion, menuBar, notify, notifySound }).toEqual({
        zoom: 125,
        reducedMotion: true,
        menuBar: false,
        notify: false,
        notifySound: true,
      });
    });
    expect(document.documentElement.hasAttribute('data-reduced-motion')).toBe(true);
  });

  test('keys zoom in, out and back, also behind an open page', async () => {
    const window = await page('appearance');
    const zoom = () => window.host.settings().zoom;
    const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ctrlKey: true });
    press('=');
    await waitFor(() => expect(zoom()).toBe(110));
    press('-');
    await waitFor(() => expect(zoom()).toBe(100));
    press('=');
    press('0');
    await waitFor(() => expect(window.called('saveSettings').length).toBe(4));
    expect(zoom()).toBe(100);
  });
});

describe('shell and editor', () => {
  test('the editor is chosen, and another program takes a command', async () => {
    const window = await page('tools');
    fireEvent.click(screen.getByRole('radio', { name: 'Zed' }));
    await waitFor(() => expect(window.host.settings().editor.kind).toBe('zed'));
    fireEvent.click(screen.getByRole('radio', { name: 'Custom command' }));
    fireEvent.change(await screen.findByTestId('editor-command'), { target: { value: ' subl {path}:{line} ' } });
    await waitFor(() => expect(window.host.settings().editor).toEqual({ kind: 'custom', command: 'subl {path}:{line}' }));
    fireEvent.change(screen.getByTestId('shell'), { target: { value: '/bin/zsh' } });
    await waitFor(() => expect(window.host.settings().shell).toBe('/bin/zsh'));
  });
});

describe('private hosts', () => {
  const named = () => [...document.querySelectorAll('[data-testid="private-hosts"] code')].map((one) => one.textContent);
  const add = (host: string) => {
    fireEvent.input(screen.getByLabelText('Host'), { target: { value: host } });
    fireEvent.click(screen.getByRole('button', { name: 'Add' }));
  };

  test('are added one by one, normalised, and removed', async () => {
    const window = await page('tools', { settings: { privateHosts: ['localhost'] } });
    add('http://Wiki.lan:8080/start');
    expect(named()).toEqual(['localhost', 'wiki.lan']);
    expect((screen.getByLabelText('Host') as HTMLInputElement).value).toBe('');
    fireEvent.click(screen.getByRole('button', { name: 'Remove localhost' }));
    await waitFor(() => expect(window.host.settings().privateHosts).toEqual(['wiki.lan']));
  });

  test('are refused with a reason if they are not a single host, or are already listed', async () => {
    const window = await page('tools', { settings: { privateHosts: ['wiki.lan'] } });
    add('10.0.0.0/8');
    expect(screen.getByRole('alert').textContent).toContain('Enter one host');
    add('WIKI.lan');
    expect(screen.getByRole('alert').textContent).toBe('wiki.lan is already in the list.');
    await waitFor(() => expect(window.host.settings().privateHosts).toEqual(['wiki.lan']));
  });
});

describe('data', () => {
  test('says where it is and how much, and cleans up what can be spared', async () => {
    const window = await page('data');
    await screen.findByText('/home/ada/.local/share/lathe');
    const trash = () => document.querySelector<HTMLElement>('[data-kind="trash"]') as HTMLElement;
    expect(trash().textContent).toContain('859 KB');
    expect(document.querySelector('[data-kind="sessions"] button')).toBeNull();
    const snapshots = document.querySelector<HTMLElement>('[data-kind="snapshots"]') as HTMLElement;
    fireEvent.click(within(snapshots).getByRole('button', { name: /^Clean up/ }));
    await waitFor(() => expect(window.called('cleanData')).toEqual([['snapshots']]));
  });

  test('deletes sessions for good only when asked twice', async () => {
    const window = await page('data');
    await window.host.deleteSession('ses_docs');
    const trash = () => document.querySelector<HTMLElement>('[data-kind="trash"]') as HTMLElement;
    const press = async () => fireEvent.click(await waitFor(() => within(trash()).getByRole('button')));
    await press();
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(window.called('cleanData')).toEqual([]);
    await press();
    const ask = screen.getByRole('group', { name: /Permanently delete/ });
    fireEvent.click(within(ask).getByRole('button', { name: 'Delete permanently' }));
    await waitFor(() => expect(trash().textContent).toContain('0 B'));
    expect(window.called('cleanData')).toEqual([['trash']]);
  });

  test('lists deleted sessions, and restores one after its notice has disappeared', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
    await window.host.deleteSession('ses_docs');
    await waitFor(() => expect(window.app.sessions.get('ses_docs')).toBeUndefined());
    window.app.show({ name: 'settings', section: 'data' });
    const list = await screen.findByTestId('trash');
    expect(list.textContent).toContain('Write the driver manual');
    expect(list.textContent).toContain('lantern');
    fireEvent.click(within(list).getByRole('button', { name: 'Restore Write the driver manual' }));
    await waitFor(() => expect(window.app.sessions.get('ses_docs')).toBeTruthy());
    expect(window.called('restoreSession')).toEqual([['ses_docs']]);
    await waitFor(() => expect(screen.queryByTestId('trash')).toBeNull());
  });

  test('of another program is imported, and unreadable sessions are reported', async () => {
    const window = await page('data');
    const [source] = await window.host.findImports();
    fireEvent.click(await screen.findByRole('button', { name: `Import from ${source?.path}` }));
    await waitFor(() => expect(screen.getByTestId('import-said').textContent).toMatch(/\d+ added, \d+ already imported/));
    expect(window.called('importFrom')).toEqual([[source?.path, expect.any(Function)]]);
    expect(screen.getByText('progress').parentElement?.textContent).toBe('3 × progress: it is not part of the session');
    // What came takes room, and the list says so.
    await waitFor(() => expect(window.called('dataUse')).toHaveLength(2));
    await waitFor(() => expect(window.host.settings().importOffered).toBe(true));
  });

  test('of another program is stopped while it is imported', async () => {
    const window = await page('data');
    const [source] = await window.host.findImports();
    let end = (): void => undefined;
    window.host.importFrom = (_, onProgress) => {
      onProgress({ files: 10, done: 4, sessions: 4, messages: 90 });
      return new Promise((resolve) => {
        end = () => resolve({ added: 4, already: 0, grown: 1, unreadable: [], left_out: [], stopped: true });
      });
    };
    fireEvent.click(await screen.findByRole('button', { name: `Import from ${source?.path}` }));
    await waitFor(() => expect(screen.getByTestId('import-said').textContent).toBe('4 of 10, 90 messages'));
    fireEvent.click(screen.getByTestId('import-stop'));
    await waitFor(() => expect(window.called('stopImport')).toHaveLength(1));
    end();
    await waitFor(() =>
      expect(screen.getByTestId('import-said').textContent).toBe(
        '4 added, 0 already imported. 1 updated. Stopped. Import again to continue.',
      ),
    );
  });

  test('of another program is offered once, at the first start that finds some', async () => {
    const window = openWindow({ settings: { importOffered: false } });
    const offer = await screen.findByTestId('import-offer');
    fireEvent.click(within(offer).getByRole('button', { name: 'Not now' }));
    await waitFor(() => expect(screen.queryByTestId('import-offer')).toBeNull());
    await waitFor(() => expect(window.host.settings().importOffered).toBe(true));
  });

  test('is checked, and repaired when something is wrong', async () => {
    const window = await page('data');
    const said = () => screen.getByTestId('check-said').textContent;
    fireEvent.click(screen.getByTestId('check-data'));
    await waitFor(() => expect(said()).toBe('1 damaged, 0 stray'));
    expect(screen.getByText('part/msg_1/prt_1')).toBeTruthy();
    fireEvent.click(screen.getByTestId('repair-data'));
    await waitFor(() => expect(said()).toContain('Moved damaged and stray files'));
    fireEvent.click(screen.getByTestId('check-data'));
    await waitFor(() => expect(said()).toBe('No problems in 21,399 records'));
    expect(window.called('checkData')).toEqual([[false], [true], [false]]);
  });
});

describe('shortcuts', () => {
  const row = (id: string) => document.querySelector<HTMLElement>(`[data-action="${id}"]`) as HTMLElement;
  const keys = (id: string) => row(id).querySelector<HTMLElement>('.shortcut-keys') as HTMLElement;
  const rebind = (id: string, key: string, held: KeyboardEventInit = {}) => {
    fireEvent.click(keys(id));
    fireEvent.keyDown(keys(id), { key, ...held });
  };

  test('are changed by pressing them, and work', async () => {
    const window = await page('shortcuts');
    expect(keys('toggleSidebar').textContent).toBe('Ctrl+B');
    rebind('toggleSidebar', 'e', { ctrlKey: true });
    expect(keys('toggleSidebar').textContent).toBe('Ctrl+E');
    await waitFor(() => expect(window.host.settings().shortcuts).toEqual({ toggleSidebar: 'Mod+E' }));
    window.app.dismiss('settings');
    await waitFor(() => expect(screen.queryByTestId('settings')).toBeNull());
    fireEvent.keyDown(document.body, { key: 'e', ctrlKey: true });
    await waitFor(() => expect(window.host.settings().sidebarOpen).toBe(false));
  });

  test('that two actions share are said', async () => {
    await page('shortcuts');
    rebind('toggleSidebar', 'n', { ctrlKey: true });
    expect(row('toggleSidebar').textContent).toContain('Also used by: New session');
    expect(row('newSession').textContent).toContain('Also used by: Toggle sidebar');
  });

  test('can be none, and reset, one or all', async () => {
    const window = await page('shortcuts');
    rebind('newSession', 'Backspace');
    expect(keys('newSession').textContent).toBe('None');
    rebind('find', 'h', { altKey: true });
    fireEvent.click(screen.getByRole('button', { name: 'Reset shortcut for New session' }));
    expect(keys('newSession').textContent).toBe('Ctrl+N');
    fireEvent.click(screen.getByTestId('reset-shortcuts'));
    await waitFor(() => expect(window.host.settings().shortcuts).toEqual({}));
  });

  test('that would be text are refused, and Escape leaves everything as it was', async () => {
    const window = await page('shortcuts');
    rebind('find', 'x');
    expect(row('find').textContent).toContain('Use Ctrl, Alt or ⌘');
    fireEvent.keyDown(keys('find'), { key: 'Escape' });
    expect(keys('find').textContent).toBe('Ctrl+F');
    expect(screen.getByTestId('settings')).toBeTruthy();
    await waitFor(() => expect(window.host.settings().shortcuts).toEqual({}));
  });
});
