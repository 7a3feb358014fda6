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
  const groups = (menus[0]?.items ?? [])
    .map((item) => (item.kind === 'separator' ? '|' : item.id))
    .join(' ')
    .split(' | ');
  expect(groups).toEqual([
    'newSession newSessionApart openFolder',
    'renameSession archiveSession deleteSession',
    'fork forkWorktree compact snapshot reverted',
    'share unshare exportSession importSession',
    'stop models nextAgent nextMode',
    'settings',
  ]);
});

test('the agent is switched with a key, wherever the focus is', async () => {
  const { app } = await ready();
  expect(app.agents.current()).toBe('build');
  press('A', { ctrlKey: true, shiftKey: true });
  await waitFor(() => expect(app.agents.current()).toBe('plan'));
});
