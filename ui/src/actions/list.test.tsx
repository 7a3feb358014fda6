import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import type { MenuView } from '../protocol';
import type { App } from '../store/app';
import { openWindow, type TestWindow } from '../testing/window';
import { actionList } from './list';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.app.agents.list().length).toBeGreaterThan(1));
  return window;
}
const press = (key: string, held: object = { ctrlKey: true }) => fireEvent.keyDown(document.body, { key, ...held });
const shown = () => screen.queryByTestId('review') !== null;

test('no two actions have the same keys to begin with', () => {
  const frame = { toggleSidebar: () => {}, showSidebar: () => {}, focus: () => {}, stepPane: () => {} };
  const keys = actionList({} as App, frame).flatMap((action) => action.keys ?? []);
  expect(keys.filter((chord, at) => keys.indexOf(chord) !== at)).toEqual([]);
});

describe('the review', () => {
  test('is shown with Ctrl+D', async () => {
    await ready();
    press('d');
    await waitFor(() => expect(shown()).toBe(true));
  });

  test('is hidden with Ctrl+D', async () => {
    await ready();
    fireEvent.click(screen.getByTestId('toggle-review'));
    await waitFor(() => expect(shown()).toBe(true));
    press('d');
    await waitFor(() => expect(shown()).toBe(false));
  });

  test('goes by the keys that a person chose, which its button names', async () => {
    await ready({ settings: { shortcuts: { toggleReview: 'Mod+Shift+R' } } });
    expect(screen.getByTestId('toggle-review').title).toBe('Show review (Ctrl+Shift+R)');
    press('d');
    expect(shown()).toBe(false);
    press('R', { ctrlKey: true, shiftKey: true });
    await waitFor(() => expect(shown()).toBe(true));
  });

  test('is not there without a session', async () => {
    const { app, host } = await ready();
    app.leave();
    host.chooseMenu('toggleReview');
    expect(app.review.shown()).toBe(false);
  });
});

describe('a session', () => {
  test.each([
    ['fork', 'fork', ['ses_gallery', null, false]],
    ['forkWorktree', 'fork', ['ses_gallery', null, true]],
    ['compact', 'compact', ['ses_gallery']],
    ['exportSession', 'exportSession', ['ses_gallery']],
  ])('does %s from the menu', async (id, call, args) => {
    const { host, called } = await ready();
    host.chooseMenu(id);
    await waitFor(() => expect(called(call)).toEqual([args]));
  });

  test('is not compacted while a turn runs', async () => {
    const { host, called, app } = await ready();
    host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    await waitFor(() => expect(app.busy()).toBe(true));
    host.chooseMenu('compact');
    expect(called('compact')).toEqual([]);
  });
});

test('a menu shows what belongs together together', async () => {
  const { called } = await ready();
  await waitFor(() => expect(called('setMenu').length).toBeGreaterThan(0));
  const menus = called('setMenu').at(-1)?.[0] as MenuView[];
  const groups = Object.fromEntries(
    menus.map(({ label, items }) => [label, items.map((item) => (item.kind === 'separator' ? '|' : item.id)).join(' ').split(' | ')]),
  );
  expect(groups).toEqual({
    File: ['newSession newSessionApart openFolder', 'exportSession importSession', 'settings', 'closeWindow quit'],
    Edit: ['undo redo', 'cut copy paste selectAll', 'find findNext findPrevious'],
    View: ['palette toggleSidebar toggleReview', 'zoomIn zoomOut zoomReset', 'themeSystem themeLight themeDark'],
    Session: [
      'renameSession archiveSession deleteSession',
      'fork forkWorktree compact snapshot reverted',
      'share unshare',
      'stop models nextAgent nextMode',
    ],
    Go: [
      'nextSession previousSession nextWaiting',
      'previousPrompt nextPrompt searchAll',
      'focusPrompt focusTimeline focusReview nextPane previousPane',
    ],
    Window: ['minimize maximize', 'fullScreen'],
    Help: ['shortcuts', 'showLog copyDiagnostics', 'about'],
  });
});

describe('an item of the menu bar', () => {
  const item = ({ called }: TestWindow, id: string) => {
    const menus = (called('setMenu').at(-1)?.[0] ?? []) as MenuView[];
    const found = menus.flatMap(({ items }) => items).find((one) => one.kind === 'action' && one.id === id);
    return found?.kind === 'action' ? found : undefined;
  };

  test('is greyed while it cannot run', async () => {
    const window = await ready();
    await waitFor(() => expect([item(window, 'compact')?.enabled, item(window, 'stop')?.enabled]).toEqual([true, false]));
    window.host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    await waitFor(() => expect([item(window, 'compact')?.enabled, item(window, 'stop')?.enabled]).toEqual([false, true]));
  });

  test('is greyed behind a dialog unless it runs there, too', async () => {
    const window = await ready();
    window.app.show({ name: 'palette' });
    await waitFor(() => expect([item(window, 'fork')?.enabled, item(window, 'quit')?.enabled]).toEqual([false, true]));
  });

  test('of a theme has a check mark', async () => {
    const window = await ready();
    const checked = () => ['themeSystem', 'themeLight', 'themeDark'].map((id) => item(window, id)?.checked);
    await waitFor(() => expect(checked()).toEqual([true, false, false]));
    window.host.chooseMenu('themeDark');
    await waitFor(() => expect(checked()).toEqual([false, false, true]));
    expect(item(window, 'compact')?.checked).toBeNull();
  });

  test('of the clipboard leaves its keys to the webview', async () => {
    const window = await ready();
    await waitFor(() => expect(item(window, 'paste')).toMatchObject({ role: 'paste', keys: null, enabled: true }));
  });
});

test('Ctrl+Q and Ctrl+W are for the system, also while a dialog is open', async () => {
  const { app, called } = await ready();
  app.show({ name: 'palette' });
  press('q');
  press('w');
  await waitFor(() => expect(called('windowAction')).toEqual([['quit'], ['closeWindow']]));
});

test('the badge of the program counts the sessions that wait', async () => {
  const { host, called } = await ready();
  const request = { id: 'que_1', sessionID: 'ses_gallery', questions: [] };
  host.emit({ kind: 'event', event: { type: 'question.asked', properties: request } });
  await waitFor(() => expect(called('setBadge').at(-1)).toEqual([1]));
});

test('the agent is switched with a key, wherever the focus is', async () => {
  const { app } = await ready();
  expect(app.agents.current()).toBe('build');
  press('A', { ctrlKey: true, shiftKey: true });
  await waitFor(() => expect(app.agents.current()).toBe('plan'));
});
