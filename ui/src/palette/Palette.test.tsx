import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}

async function opened(options: FakeOptions = {}): Promise<TestWindow> {
  const window = await ready(options);
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  const field = await screen.findByTestId('palette-field');
  await waitFor(() => expect(document.activeElement).toBe(field));
  return window;
}

const field = () => screen.getByTestId('palette-field');
const labels = () => [...document.querySelectorAll('.palette-label')].map((row) => row.textContent);
const active = () => document.querySelector('.palette-row[data-active] .palette-label')?.textContent;
const type = (words: string) => fireEvent.input(field(), { target: { value: words } });
const closed = () => waitFor(() => expect(screen.queryByTestId('palette')).toBeNull());

describe('the palette', () => {
  test('goes to the place of a link that is pasted into it', async () => {
    const { app } = await opened();
    const messageID = app.timeline.open()?.messages[0]?.info.id ?? '';
    type(`lathe://session/ses_gallery/${messageID}`);
    expect(labels()).toEqual(['Go to the place in “Fix the flicker of overlapping timers”']);
    fireEvent.keyDown(field(), { key: 'Enter' });
    await closed();
    await waitFor(() => expect(app.target()).toEqual({ sessionID: 'ses_gallery', messageID }));
  });

  test('lists actions with their keys, then sessions and projects', async () => {
    await opened();
    expect(labels()).toContain('New session');
    expect(labels()).toContain('Write the driver manual');
    expect(labels()).toContain('New session in orrery');
    const row = document.querySelector('[data-entry="action-toggleSidebar"]');
    expect(row?.querySelector('kbd')?.textContent).toBe('Ctrl+B');
  });

  test('runs the selected entry with Enter, and returns the focus', async () => {
    const window = await opened();
    type('theme dark');
    expect(active()).toBe('Theme: Dark');
    fireEvent.keyDown(field(), { key: 'Enter' });
    await closed();
    await waitFor(() => expect(window.host.settings().theme).toBe('dark'));
  });

  test('is navigated with the arrow keys, wrapping at the ends', async () => {
    await opened();
    const all = labels();
    fireEvent.keyDown(field(), { key: 'ArrowDown' });
    expect(active()).toBe(all[1]);
    fireEvent.keyDown(field(), { key: 'ArrowUp' });
    fireEvent.keyDown(field(), { key: 'ArrowUp' });
    expect(active()).toBe(all.at(-1));
  });

  test('finds a session of another project and goes there', async () => {
    const window = await opened();
    type('moons of sat');
    await waitFor(() => expect(labels()).toContain('Place the moons of Saturn'));
    await userEvent.setup().click(screen.getByText('Place the moons of Saturn'));
    await waitFor(() => expect(window.app.selected()).toBe('ses_moons'));
  });

  test('says when nothing fits, and Escape closes it without stopping a turn', async () => {
    const window = await opened();
    type('zzzzqqq');
    expect(screen.getByText('No results for “zzzzqqq”')).toBeTruthy();
    fireEvent.keyDown(field(), { key: 'Escape' });
    await closed();
    expect(window.called('abort')).toEqual([]);
  });

  test('leaves the keys of the window alone while it is open', async () => {
    const window = await opened();
    fireEvent.keyDown(field(), { key: 'n', ctrlKey: true });
    expect(window.called('createSession')).toEqual([]);
  });
});

describe('the menu bar', () => {
  test('shows the same actions with the same keys, and runs them', async () => {
    const window = await ready();
    await waitFor(() => expect(window.called('setMenu').length).toBeGreaterThan(0));
    const menus = window.called('setMenu').at(-1)?.[0] as { label: string; items: { id: string; keys: string }[] }[];
    expect(menus.map((menu) => menu.label)).toEqual(['File', 'Edit', 'View', 'Session', 'Go', 'Window', 'Help']);
    const all = menus.flatMap((menu) => menu.items);
    expect(all.find((item) => item.id === 'newSession')?.keys).toBe('CmdOrCtrl+N');
    window.host.chooseMenu('toggleSidebar');
    await waitFor(() => expect(window.host.settings().sidebarOpen).toBe(false));
  });

  test('and the page run an action once if both receive the key', async () => {
    const window = await ready();
    // A busy machine takes longer between the two than any person's key.
    vi.spyOn(performance, 'now').mockReturnValue(1000);
    fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    window.host.chooseMenu('toggleSidebar');
    await waitFor(() => expect(window.host.settings().sidebarOpen).toBe(false));
  });

  test('follows the keys a person chose', async () => {
    const window = await ready({ settings: { shortcuts: { newSession: 'Mod+Shift+Y' } } });
    await waitFor(() => {
      const menus = window.called('setMenu').at(-1)?.[0] as { items: { id: string; keys: string }[] }[];
      const item = menus.flatMap((menu) => menu.items).find((one) => one.id === 'newSession');
      expect(item?.keys).toBe('CmdOrCtrl+Shift+Y');
    });
    fireEvent.keyDown(document.body, { key: 'n', ctrlKey: true });
    expect(window.called('createSession')).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'Y', ctrlKey: true, shiftKey: true });
    await waitFor(() => expect(window.called('createSession')).toHaveLength(1));
  });
});
