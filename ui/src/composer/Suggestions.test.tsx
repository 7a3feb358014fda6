import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { PromptInput } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function typed(text: string): Promise<{ window: TestWindow; area: HTMLTextAreaElement }> {
  const window = openWindow();
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(area.disabled).toBe(false));
  await waitFor(() => expect(window.app.agents.list().length).toBeGreaterThan(1));
  write(area, text);
  return { window, area };
}

function write(area: HTMLTextAreaElement, text: string): void {
  area.value = text;
  area.setSelectionRange(text.length, text.length);
  fireEvent.input(area);
}

const key = (area: HTMLElement, name: string, more: object = {}) => fireEvent.keyDown(area, { key: name, ...more });
const rows = () => [...document.querySelectorAll('.suggest-name')].map((row) => row.textContent);
const marked = () => document.querySelector('.suggest-row[data-active] .suggest-name')?.textContent;

describe('a mention', () => {
  test('is found while typing, selected with the arrow keys and inserted with Enter', async () => {
    const { window, area } = await typed('Look at @lamp');
    await waitFor(() => expect(rows()).toEqual(['src/lamp.ts', 'Lamp']));
    expect(area.getAttribute('role')).toBe('combobox');
    const active = () => document.getElementById(area.getAttribute('aria-activedescendant') ?? '')?.textContent;
    expect(active()).toBe('src/lamp.ts');
    key(area, 'ArrowDown');
    expect(marked()).toBe('Lamp');
    key(area, 'ArrowUp');
    key(area, 'Enter');
    expect(area.value).toBe('Look at @src/lamp.ts ');
    expect(screen.queryByTestId('suggestions')).toBeNull();
    expect(area.getAttribute('role')).toBeNull();
    expect(window.called('prompt')).toEqual([]);
  });

  test('of a symbol is sent with its place', async () => {
    const { window, area } = await typed('Why @trim');
    await waitFor(() => expect(rows()).toEqual(['trimWick']));
    key(area, 'Enter');
    key(area, 'Enter');
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    const input = window.called('prompt')[0]?.[1] as PromptInput;
    expect(input.text).toBe('Why @trimWick');
    expect(input.files?.[0]?.url).toBe('file:///home/ada/projects/lantern/src/wick.ts?start=3&end=18');
  });

  test('goes into a folder with Tab', async () => {
    const { area } = await typed('@src');
    await waitFor(() => expect(rows()[0]).toBe('src/'));
    key(area, 'Tab');
    expect(area.value).toBe('@src/');
  });

  test('is dismissed with Escape, which does not stop the turn', async () => {
    const { window, area } = await typed('@lamp');
    await screen.findByTestId('suggestions');
    key(area, 'Escape');
    await waitFor(() => expect(screen.queryByTestId('suggestions')).toBeNull());
    expect(window.called('abort')).toEqual([]);
    key(area, 'Enter');
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
  });

  test('that nothing matches shows no list, and Enter sends', async () => {
    const { window, area } = await typed('@nowhere-to-be-found');
    await waitFor(() => expect(window.called('findMentions')).toHaveLength(1));
    key(area, 'Enter');
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
  });
});

describe('a command', () => {
  test('of the project is run with its arguments', async () => {
    const { window, area } = await typed('/rel');
    await waitFor(() => expect(rows()).toEqual(['release']));
    key(area, 'Enter');
    write(area, '/release 1.2');
    key(area, 'Enter');
    await waitFor(() => expect(window.called('runCommand')).toHaveLength(1));
    expect(window.called('runCommand')[0]?.slice(0, 3)).toEqual(['ses_gallery', 'release', '1.2']);
    expect(window.called('prompt')).toEqual([]);
  });

  test('of the window does its work there', async () => {
    const { window, area } = await typed('/models');
    key(area, 'Escape');
    key(area, 'Enter');
    await waitFor(() => expect(window.app.overlay()).toEqual({ name: 'models' }));
    expect(area.value).toBe('');
  });

  test('that is unknown is sent as a prompt', async () => {
    const { window, area } = await typed('/etc/hosts is wrong');
    key(area, 'Enter');
    await waitFor(() => expect((window.called('prompt')[0]?.[1] as PromptInput).text).toBe('/etc/hosts is wrong'));
  });
});

describe('the keys of the field', () => {
  test('Tab goes through the agents and Shift+Tab back; the prompt says which', async () => {
    const { window, area } = await typed('think first');
    key(area, 'Tab');
    await waitFor(() => expect(screen.getByTestId('agent-picker').textContent).toContain('plan'));
    key(area, 'Enter');
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect(window.called('prompt')[0]?.[1]).toMatchObject({ agent: 'plan' });
    // As WebKitGTK tells it.
    key(area, 'Unidentified', { code: 'Tab', shiftKey: true });
    expect(window.app.agents.current()).toBe('build');
  });

  test('Escape gives Tab back, once', async () => {
    const { window, area } = await typed('');
    key(area, 'Escape');
    expect(key(area, 'Tab')).toBe(true);
    expect(window.app.agents.current()).toBe('build');
    expect(key(area, 'Tab')).toBe(false);
  });

  test('Up brings back what was sent, Down what was being written', async () => {
    const { window, area } = await typed('first prompt');
    key(area, 'Enter');
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    await waitFor(() => expect(localStorage.getItem('lathe.history')).toContain('first prompt'));
    write(area, 'half');
    area.setSelectionRange(0, 0);
    key(area, 'ArrowUp');
    expect(area.value).toBe('first prompt');
    key(area, 'ArrowDown');
    expect(area.value).toBe('half');
  });
});

describe('the meter', () => {
  test('shows how full the context is and what the whole session cost', async () => {
    const { window } = await typed('');
    const info = {
      ...(window.host.messages.get('ses_gallery')?.at(-1)?.info as object),
      id: 'msg_last',
      time: { created: Date.now(), completed: Date.now() },
      cost: 0.25,
      tokens: { input: 16_000, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    };
    window.host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info: info as never } } });
    const meter = await screen.findByTestId('context-meter');
    await waitFor(() => expect(meter.textContent).toContain('$0.25'));
    expect(meter.getAttribute('aria-label')).toContain('Cost: $0.25');
    fireEvent.pointerDown(meter, { pointerType: 'mouse', button: 0 });
    fireEvent.click(meter);
    await waitFor(() => expect(screen.getByTestId('session-tokens').textContent).toBe('16k in, 0 out'));
  });
});
