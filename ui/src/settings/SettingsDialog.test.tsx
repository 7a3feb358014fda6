import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

const KEY = 'sk-very-secret-7Q2x';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.called('findLocalModels')).toHaveLength(1));
  return window;
}

async function opened(options: FakeOptions = {}): Promise<TestWindow> {
  const window = await ready(options);
  fireEvent.click(screen.getByTestId('settings-button'));
  await screen.findByTestId('settings');
  return window;
}

const row = (id: string) => screen.getByTestId(`provider-${id}`);
const input = (id: string) => screen.getByTestId(`key-input-${id}`) as HTMLInputElement;
const closed = () => waitFor(() => expect(screen.queryByTestId('settings')).toBeNull());

describe('the settings', () => {
  test('open with a key, close with Escape without stopping the turn, and give the focus back', async () => {
    const window = await ready();
    window.host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    const composer = screen.getByTestId('composer');
    composer.focus();
    fireEvent.keyDown(composer, { key: ',', ctrlKey: true });
    const dialog = await screen.findByTestId('settings');
    await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
    fireEvent.keyDown(document.activeElement as Element, { key: 'Escape' });
    await closed();
    await waitFor(() => expect(document.activeElement).toBe(composer));
    expect(window.called('abort')).toEqual([]);
  });

  test('keep the keys of the window behind them quiet', async () => {
    const window = await opened();
    fireEvent.keyDown(screen.getByTestId('settings'), { key: 'n', ctrlKey: true });
    fireEvent.keyDown(screen.getByTestId('settings'), { key: 'm', ctrlKey: true });
    expect(window.called('createSession')).toEqual([]);
    expect(screen.queryByTestId('model-search')).toBeNull();
  });

  test('choose a theme', async () => {
    const window = await opened();
    fireEvent.click(screen.getByTestId('settings-appearance'));
    fireEvent.click(await screen.findByRole('radio', { name: 'Dark' }));
    await waitFor(() => expect(window.host.settings().theme).toBe('dark'));
    expect(document.documentElement.dataset.theme).toBe('dark');
  });
});

describe('a key', () => {
  test('goes to the core, and is on screen no more', async () => {
    const window = await opened();
    expect(input('anthropic').type).toBe('password');
    fireEvent.input(input('anthropic'), { target: { value: ` ${KEY} ` } });
    fireEvent.click(screen.getByTestId('save-key-anthropic'));
    await waitFor(() => expect(row('anthropic').textContent).toContain('Key …7Q2x from keyring'));
    expect(window.called('setKey')).toEqual([['anthropic', KEY, window.app.project()?.id]]);
    await waitFor(() => expect(input('anthropic').value).toBe(''));
    expect(document.documentElement.outerHTML).not.toContain(KEY);
    expect(JSON.stringify([window.app.models.list(), window.app.settings, { ...localStorage }])).not.toContain(KEY);
  });

  test('that is refused stays in its field, with the reason beside it', async () => {
    await opened();
    fireEvent.input(input('openai'), { target: { value: 'two words' } });
    fireEvent.click(screen.getByTestId('save-key-openai'));
    await within(row('openai')).findByText('A key has no spaces in it');
    expect(input('openai').value).toBe('two words');
    expect(screen.queryByTestId('toast')).toBeNull();
  });

  test('can be removed where we keep it, and only there', async () => {
    const window = await opened({ connected: true });
    expect(row('anthropic').textContent).toContain('Key …9f3c from ANTHROPIC_API_KEY');
    expect(screen.queryByTestId('remove-key-anthropic')).toBeNull();
    await window.app.models.setKey('openai', KEY);
    fireEvent.click(await screen.findByTestId('remove-key-openai'));
    await waitFor(() => expect(row('openai').textContent).toContain('No API key'));
    expect(window.called('removeKey')).toEqual([['openai', window.app.project()?.id]]);
  });

  test('typed but not saved survives a new list of models', async () => {
    const window = await opened();
    fireEvent.input(input('google'), { target: { value: 'half' } });
    await window.app.models.setKey('openai', KEY);
    expect(input('google').value).toBe('half');
  });
});

describe('a provider', () => {
  test('is tested, and what came of it is said', async () => {
    const window = await opened({ connected: true });
    await window.app.models.setKey('openai', KEY);
    expect(screen.queryByTestId('test-connection-google')).toBeNull();
    fireEvent.click(screen.getByTestId('test-connection-anthropic'));
    await within(row('anthropic')).findByText('Connected');
    fireEvent.click(await screen.findByTestId('test-connection-openai'));
    await within(row('openai')).findByText(/rejected the API key \(401\)/);
  });

  test('has a link to its keys, which the system opens, and the names of its variables', async () => {
    const window = await opened();
    expect(row('google').textContent).toContain('GEMINI_API_KEY or GOOGLE_API_KEY');
    fireEvent.click(within(row('google')).getByText('Get an API key'));
    await waitFor(() => expect(window.called('openExternal')).toEqual([['https://aistudio.google.com/apikey']]));
  });

  test('on this machine is looked for again', async () => {
    const window = await opened({ connected: true });
    expect(row('ollama').textContent).toContain('Running, 1 model');
    expect(row('lmstudio').textContent).toContain('Not running');
    fireEvent.click(screen.getByTestId('look-again'));
    await waitFor(() => expect(window.called('findLocalModels')).toHaveLength(2));
  });

  test('that the config got wrong is listed', async () => {
    await opened({ connected: true });
    expect(screen.getByTestId('settings').textContent).toContain('Provider “shed”');
  });
});

describe('the way to a key', () => {
  test('starts at an answer that failed without a key', async () => {
    const window = await ready();
    await waitFor(() => expect(document.querySelector('[data-error="ProviderAuthError"]')).not.toBeNull());
    expect(screen.getByText('Anthropic rejected the API key')).toBeTruthy();
    fireEvent.click(screen.getByTestId('enter-key'));
    await waitFor(() => expect(document.activeElement).toBe(input('anthropic')));
    expect(window.app.overlay()).toEqual({ name: 'settings', section: 'providers', providerID: 'anthropic' });
  });

  test('starts at the empty page while only the demo model answers', async () => {
    const window = await ready();
    await window.app.select('ses_empty');
    fireEvent.click(await screen.findByTestId('connect-model'));
    await screen.findByTestId('settings');
    await window.app.models.setKey('anthropic', KEY);
    expect(screen.queryByTestId('connect-model')).toBeNull();
  });
});
