import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import type { ConfigProblem } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const SHELL: ConfigProblem = { file: 'lathe.json', line: 3, key: 'shell', message: 'there is no program "fisch"' };
const AGENT: ConfigProblem = { file: '/home/k/lathe.json', key: 'default_agent', message: 'there is no agent named "bulid"' };

async function ready(configProblems: readonly ConfigProblem[]): Promise<TestWindow> {
  const window = openWindow({ configProblems });
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}
const lines = () => [...screen.getByTestId('config-problems').querySelectorAll('li')].map((line) => line.textContent);

test('what is wrong in a config file is shown with its file and line, which open in the editor', async () => {
  const { called } = await ready([SHELL, AGENT]);
  await screen.findByTestId('config-problems');
  expect(lines()).toEqual([
    'shell there is no program "fisch" lathe.json:3',
    'default_agent there is no agent named "bulid" /home/k/lathe.json',
  ]);
  fireEvent.click(screen.getByRole('button', { name: 'Open lathe.json:3' }));
  fireEvent.click(screen.getByRole('button', { name: 'Open /home/k/lathe.json' }));
  await waitFor(() =>
    expect(called('openConfigFile')).toEqual([
      ['prj_lantern', 'lathe.json', 3],
      ['prj_lantern', '/home/k/lathe.json', null],
    ]),
  );
});

test('what is hidden stays so until there is another problem, and goes once it is mended', async () => {
  const problems = [SHELL];
  await ready(problems);
  fireEvent.click(await screen.findByTestId('hide-config-problems'));
  await waitFor(() => expect(screen.queryByTestId('config-problems')).toBeNull());
  problems.push(AGENT);
  fireEvent.focus(window);
  await screen.findByTestId('config-problems');
  expect(lines()).toHaveLength(2);
  problems.length = 0;
  fireEvent.focus(window);
  await waitFor(() => expect(screen.queryByTestId('config-problems')).toBeNull());
});

test('many problems do not fill the window, and a name cannot hide what it is', async () => {
  const many = Array.from({ length: 9 }, (_, at) => ({ ...SHELL, key: `k${at}\u202e` }));
  await ready(many);
  await screen.findByTestId('config-problems');
  expect(lines()).toHaveLength(6);
  expect(lines().at(-1)).toBe('4 more');
  expect(lines().join('')).not.toContain('\u202e');
});

test('a mistake made while the window is open is shown when a turn of the project begins', async () => {
  const problems: ConfigProblem[] = [];
  const { host } = await ready(problems);
  problems.push(SHELL);
  const status = { type: 'busy' as const };
  host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_docs', status } } });
  await screen.findByTestId('config-problems');
  expect(lines()).toEqual(['shell there is no program "fisch" lathe.json:3']);
});
