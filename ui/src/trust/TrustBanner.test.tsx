import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}

test('an untrusted project says what it would run, and is trusted with a click', async () => {
  const window = await ready({ trust: 'untrusted' });
  const banner = await screen.findByTestId('trust-banner');
  expect(banner.textContent).toContain('Run the MCP server "docs": npx docs-server');
  expect(banner.textContent).toContain('lathe.json');
  fireEvent.click(screen.getByTestId('trust-yes'));
  await waitFor(() => expect(screen.queryByTestId('trust-banner')).toBeNull());
  expect(window.called('setTrust')).toEqual([['prj_lantern', 'as-shown']]);
});

test('a project that was just trusted brings its models', async () => {
  const window = await ready({ trust: 'untrusted' });
  await waitFor(() => expect(window.called('listModels')).toHaveLength(2));
  fireEvent.click(await screen.findByTestId('trust-yes'));
  await waitFor(() => expect(window.called('listModels')).toHaveLength(3));
});

test('not now hides it without trusting, and each project is asked about by itself', async () => {
  const window = await ready({ trust: 'changed' });
  expect((await screen.findByTestId('trust-banner')).textContent).toContain('settings of lantern have changed');
  fireEvent.click(screen.getByTestId('trust-later'));
  await waitFor(() => expect(screen.queryByTestId('trust-banner')).toBeNull());
  expect(window.called('setTrust')).toEqual([]);
  await window.app.listProject('prj_orrery');
  await window.app.select('ses_moons');
  await screen.findByTestId('trust-banner');
});

test('a project that wants nothing is not asked about', async () => {
  const window = await ready();
  await waitFor(() => expect(window.called('trust')).toHaveLength(1));
  expect(screen.queryByTestId('trust-banner')).toBeNull();
});
