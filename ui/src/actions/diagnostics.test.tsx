import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test, vi } from 'vitest';
import type { MenuView } from '../protocol';
import { openWindow } from '../testing/window';
import { watchFaults } from './diagnostics';

test('the Help menu shows the log and copies diagnostics', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.phase().name).toBe('ready'));
  await waitFor(() => expect(window.called('setMenu').length).toBeGreaterThan(0));
  const menus = window.called('setMenu').at(-1)?.[0] as MenuView[];
  const help = menus.find(({ label }) => label === 'Help')?.items.flatMap((item) => (item.kind === 'action' ? [item.label] : []));
  expect(help).toEqual(['Keyboard shortcuts…', 'Show log', 'Copy diagnostics', 'About Lathe']);

  vi.stubGlobal('navigator', { ...navigator, userAgent: 'TestKit' });
  window.host.chooseMenu('showLog');
  window.host.chooseMenu('copyDiagnostics');
  await waitFor(() => expect(window.called('copyDiagnostics')).toMatchObject([[expect.stringContaining('TestKit')]]));
  vi.unstubAllGlobals();
  expect(window.called('showLog')).toEqual([[]]);
  await screen.findByText('Diagnostics copied, without keys or prompts');
});

test('a fault of the core is said, and offers to load the window again', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.phase().name).toBe('ready'));
  let tell!: (message: string) => void;
  const reload = vi.fn();
  const host = { ...window.host, onFault: async (listener: typeof tell) => void (tell = listener) };
  await watchFaults({ ...window.app, host }, reload);
  tell('index out of bounds');
  expect((await screen.findByRole('alert')).textContent).toContain('index out of bounds');
  fireEvent.click(screen.getByRole('button', { name: 'Reload window' }));
  expect(reload).toHaveBeenCalledOnce();
});
