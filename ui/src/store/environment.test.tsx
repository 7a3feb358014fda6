import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import type { AgentView } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.app.environment.trust()).toBeDefined());
  await waitFor(() => expect(window.app.environment.commands()).not.toEqual([]));
  return window;
}

const write = (value: string) => fireEvent.input(screen.getByTestId('composer'), { target: { value } });
const enter = () => fireEvent.keyDown(screen.getByTestId('composer'), { key: 'Enter' });

/** A command file and an agent file were written, and the config was changed. */
function pulled({ host }: TestWindow): void {
  const { listCommands, listAgents, trust } = host;
  const fresh: AgentView = { name: 'fresh', description: '', mode: 'primary', builtIn: false, default: false };
  host.listCommands = async (id) => [...(await listCommands(id)), { name: 'deploy', description: '', builtIn: false }];
  host.listAgents = async (id) => [...(await listAgents(id)), fresh];
  host.trust = async (id) => ({ ...(await trust(id)), state: 'changed' });
}

describe('what was changed while another window had the focus', () => {
  test('is loaded when the window gets the focus', async () => {
    const window = await ready();
    pulled(window);
    const listed = window.called('listModels').length;
    fireEvent.focus(globalThis.window);
    await waitFor(() => expect(window.app.agents.list().some(({ name }) => name === 'fresh')).toBe(true));
    expect(window.app.environment.commands().at(-1)?.name).toBe('deploy');
    // A config that stops counting says so, and takes its models along.
    await screen.findByTestId('trust-banner');
    await waitFor(() => expect(window.called('listModels').length).toBeGreaterThan(listed));
  });

  test('asks again if "not now" was said to another config', async () => {
    const window = await ready({ trust: 'untrusted' });
    fireEvent.click(await screen.findByTestId('trust-later'));
    await waitFor(() => expect(screen.queryByTestId('trust-banner')).toBeNull());
    fireEvent.focus(globalThis.window);
    await waitFor(() => expect(window.called('trust')).toHaveLength(2));
    expect(screen.queryByTestId('trust-banner')).toBeNull();
    pulled(window);
    fireEvent.focus(globalThis.window);
    await screen.findByTestId('trust-banner');
  });

  test('is ignored if it cannot be loaded, and the last values stay', async () => {
    const window = await ready();
    const gone = () => Promise.reject({ code: 'failed', message: 'The folder is gone' });
    Object.assign(window.host, { listAgents: gone, listCommands: gone, trust: gone });
    await window.app.environment.refresh();
    expect(window.app.agents.list().length).toBeGreaterThan(1);
    expect(screen.queryByTestId('toast')).toBeNull();
  });
});

test('a project that was just trusted brings its agents and its commands', async () => {
  const window = await ready({ trust: 'untrusted' });
  const { setTrust } = window.host;
  window.host.setTrust = async (id, trusted) => {
    pulled(window);
    return setTrust(id, trusted);
  };
  fireEvent.click(await screen.findByTestId('trust-yes'));
  await waitFor(() => expect(window.app.agents.list().some(({ name }) => name === 'fresh')).toBe(true));
  await waitFor(() => expect(window.app.environment.commands().at(-1)?.name).toBe('deploy'));
});

describe('a command', () => {
  test('is asked for once when its / is typed', async () => {
    const window = await ready();
    pulled(window);
    const before = window.called('listCommands').length;
    for (const text of ['/', '/d', '/de']) write(text);
    await screen.findByText('deploy');
    // Our own list replaced the recorded one; what it calls is still counted.
    expect(window.called('listCommands').length).toBe(before + 1);
    write('');
    write('/');
    await waitFor(() => expect(window.called('listCommands').length).toBe(before + 2));
  });

  test('that is new is run and not sent as text, however fast it is typed', async () => {
    const window = await ready();
    pulled(window);
    write('/deploy now');
    enter();
    await waitFor(() => expect(window.called('runCommand')).toHaveLength(1));
    expect(window.called('runCommand')[0]?.slice(1, 3)).toEqual(['deploy', 'now']);
  });
});
