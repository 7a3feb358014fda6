import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { en } from '../i18n/en';
import type { ModelRef } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const SONNET: ModelRef = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' };
const HAIKU: ModelRef = { providerID: 'anthropic', modelID: 'claude-haiku-4-5' };
const DEMO: ModelRef = { providerID: 'demo', modelID: 'demo' };

async function ready(options: FakeOptions = { connected: true }): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.called('findLocalModels')).toHaveLength(1));
  await waitFor(() => expect(window.app.agents.list()).not.toEqual([]));
  return window;
}

const button = () => screen.getByTestId('model-picker');
const field = () => screen.findByTestId('model-search') as Promise<HTMLInputElement>;
const active = () => document.querySelector('.model-row[data-active]')?.getAttribute('data-model');

async function pick(words: string): Promise<void> {
  fireEvent.click(button());
  const search = await field();
  fireEvent.input(search, { target: { value: words } });
  fireEvent.keyDown(search, { key: 'Enter' });
  await waitFor(() => expect(screen.queryByTestId('model-search')).toBeNull());
}

async function send(window: TestWindow, text: string): Promise<unknown> {
  const sent = window.called('prompt').length;
  const area = screen.getByTestId('composer');
  fireEvent.input(area, { target: { value: text } });
  fireEvent.keyDown(area, { key: 'Enter' });
  await waitFor(() => expect(window.called('prompt')).toHaveLength(sent + 1));
  return window.called('prompt').at(-1)?.[1];
}

async function pickVariant(name: string): Promise<void> {
  const user = userEvent.setup();
  await user.click(screen.getByTestId('variant-picker'));
  await user.click(await screen.findByRole('menuitemradio', { name }));
  await waitFor(() => expect(screen.queryByRole('menuitemradio', { name })).toBeNull());
}

describe('the model picker', () => {
  test('says plainly that the demo model answers while nothing is connected', async () => {
    await ready({});
    await waitFor(() => expect(button().textContent).toBe('Demo model'));
    expect(button()).toHaveProperty('dataset.demo', '');
  });

  test('takes the focus also where its list comes after it was opened', async () => {
    const window = openWindow({ connected: true });
    const { listModels } = window.host;
    let answer!: () => void;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    window.host.listModels = async (project) => {
      await asked;
      return listModels(project);
    };
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    fireEvent.click(button());
    await screen.findByText(en.models.loading);
    await waitFor(() => expect(document.activeElement?.closest('.model-popover')).toBeTruthy());
    answer();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId('model-search')));
  });

  test('shows the default of the list if no model was chosen', async () => {
    await ready();
    await waitFor(() => expect(button().textContent).toBe('Claude Sonnet 4.5'));
  });

  test('lists the models of the current project, also after a key was entered', async () => {
    const window = await ready();
    const brought = () => window.app.models.find({ providerID: 'observatory', modelID: 'sky' })?.model.name;
    expect(window.called('listModels')[0]).toEqual(['prj_lantern']);
    expect(brought()).toBeUndefined();
    await window.app.listProject('prj_orrery');
    await window.app.select('ses_moons');
    await waitFor(() => expect(brought()).toBe('Sky model'));
    await window.app.models.setKey('openai', 'sk-1');
    await window.app.models.lookForLocal();
    expect(brought()).toBe('Sky model');
    await window.app.select('ses_gallery');
    await waitFor(() => expect(brought()).toBeUndefined());
  });

  test('does not go back to the list of a project that was left before it came', async () => {
    const window = await ready();
    const listed = window.host.listModels;
    let late = () => {};
    window.host.listModels = (id) =>
      id === 'prj_orrery' ? new Promise((done) => (late = () => done(listed(id)))) : listed(id);
    await window.app.listProject('prj_orrery');
    await window.app.select('ses_moons');
    await window.app.select('ses_gallery');
    late();
    await window.app.models.refresh();
    expect(window.app.models.find({ providerID: 'observatory', modelID: 'sky' })).toBeUndefined();
  });

  test('opens with a key, filters while typing, and picks with Enter', async () => {
    const window = await ready();
    fireEvent.keyDown(document.body, { key: 'm', ctrlKey: true });
    const search = await field();
    await waitFor(() => expect(document.activeElement).toBe(search));
    expect(active()).toBe('anthropic/claude-sonnet-4-5');
    fireEvent.input(search, { target: { value: 'haik' } });
    expect(active()).toBe('anthropic/claude-haiku-4-5');
    fireEvent.keyDown(search, { key: 'Enter' });
    await waitFor(() => expect(button().textContent).toBe('Claude Haiku 4.5'));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId('composer')));
    expect(await send(window, 'go')).toEqual({ text: 'go', model: HAIKU, agent: 'build' });
  });

  test('moves with the arrows, round the ends, and names the row for a screen reader', async () => {
    await ready();
    fireEvent.click(button());
    const search = await field();
    fireEvent.keyDown(search, { key: 'ArrowUp' });
    expect(active()).toBe('anthropic/claude-opus-4-5');
    fireEvent.keyDown(search, { key: 'ArrowUp' });
    expect(active()).toBe('workshop/house-model');
    fireEvent.keyDown(search, { key: 'ArrowDown' });
    expect(active()).toBe('anthropic/claude-opus-4-5');
    const named = document.getElementById(search.getAttribute('aria-activedescendant') ?? '');
    expect(named?.getAttribute('data-model')).toBe('anthropic/claude-opus-4-5');
  });

  test('closes with Escape, which does not stop the turn', async () => {
    const window = await ready();
    window.host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    fireEvent.click(button());
    fireEvent.keyDown(await field(), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('model-search')).toBeNull());
    expect(window.called('abort')).toEqual([]);
    expect(window.called('saveSettings')).toEqual([]);
  });

  test('shows size, price and abilities of a model', async () => {
    await ready();
    fireEvent.click(button());
    await field();
    const row = (key: string) => document.querySelector(`[data-model="${key}"]`)?.textContent;
    expect(row('anthropic/claude-sonnet-4-5')).toBe('Claude Sonnet 4.5supports imagessupports reasoning1M$3 / $15');
    expect(row('ollama/qwen3:8b')).toBe('qwen3:8b41kprice unknown');
    expect(row('openai/gpt-5.1')).toBe('GPT-5.1supports imagessupports reasoning400kAdd API key…');
  });

  test('sends a model without a key to the settings instead of choosing it', async () => {
    const window = await ready();
    await pick('gpt mini');
    await screen.findByTestId('settings');
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId('key-input-openai')));
    expect(window.app.models.current()?.model).toEqual(SONNET);
  });

  test('keeps favourites, with a key and with the star', async () => {
    const window = await ready();
    fireEvent.click(button());
    const search = await field();
    fireEvent.input(search, { target: { value: 'haiku' } });
    fireEvent.keyDown(search, { key: 'd', ctrlKey: true });
    await waitFor(() => expect(window.host.settings().favouriteModels).toEqual([HAIKU]));
    fireEvent.input(search, { target: { value: '' } });
    expect(document.querySelector('.filter-section')?.textContent).toContain('Claude Haiku 4.5Anthropic');
    fireEvent.click(document.querySelector('.model-star[data-on]') as Element);
    await waitFor(() => expect(window.host.settings().favouriteModels).toEqual([]));
  });

  test('keeps the last eight choices, newest first', async () => {
    const old = Array.from({ length: 8 }, (_, index) => ({ providerID: 'old', modelID: String(index) }));
    const window = await ready({ connected: true, settings: { recentModels: old } });
    await pick('haiku');
    await waitFor(() => expect(window.host.settings().recentModels).toEqual([HAIKU, ...old.slice(0, 7)]));
  });
});

describe('a session', () => {
  test('continues with its own model, whatever is picked in another session', async () => {
    const window = await ready();
    await pick('haiku');
    await send(window, 'with haiku');
    await window.app.select('ses_docs');
    await waitFor(() => expect(button().textContent).toBe('Claude Haiku 4.5'));
    await pick('opus');
    expect(await send(window, 'with opus')).toHaveProperty('model.modelID', 'claude-opus-4-5');
    await window.app.select('ses_gallery');
    expect(await send(window, 'again')).toEqual({ text: 'again', model: HAIKU, agent: 'build' });
  });

  test('that is new begins with the latest choice that can still answer', async () => {
    const gone = { providerID: 'openai', modelID: 'gpt-5.1' };
    const window = await ready({ connected: true, settings: { recentModels: [gone, HAIKU] } });
    window.app.leave();
    expect(await send(window, 'begin')).toEqual({ text: 'begin', model: HAIKU, agent: 'build' });
  });

  test('of the demo model continues with a real one once that is connected', async () => {
    const window = await ready({});
    expect(await send(window, 'one')).toEqual({ text: 'one', model: DEMO, agent: 'build' });
    await window.app.models.setKey('anthropic', 'sk-1');
    expect(await send(window, 'two')).toEqual({ text: 'two', model: SONNET, agent: 'build' });
  });
});

describe('the reasoning variant', () => {
  test('is offered only by models that have one', async () => {
    await ready();
    await waitFor(() => expect(screen.getByTestId('variant-picker').textContent).toBe('Default'));
    await pick('haiku');
    expect(screen.queryByTestId('variant-picker')).toBeNull();
  });

  test('is sent, and remembered for its model', async () => {
    const window = await ready();
    await pickVariant('High');
    expect(await send(window, 'think')).toEqual({ text: 'think', model: SONNET, variant: 'high', agent: 'build' });
    await pick('opus');
    expect(screen.getByTestId('variant-picker').textContent).toBe('Default');
    await pick('sonnet');
    expect(screen.getByTestId('variant-picker').textContent).toBe('High');
    await waitFor(() => expect(window.host.settings().variants).toEqual({ 'anthropic/claude-sonnet-4-5': 'high' }));
  });

  test('goes back to the default, which is nothing', async () => {
    const window = await ready({ connected: true, settings: { variants: { 'anthropic/claude-sonnet-4-5': 'low' } } });
    await waitFor(() => expect(screen.getByTestId('variant-picker').textContent).toBe('Low'));
    await pickVariant('Default');
    expect(await send(window, 'quick')).toEqual({ text: 'quick', model: SONNET, agent: 'build' });
    await waitFor(() => expect(window.host.settings().variants).toEqual({}));
  });
});
