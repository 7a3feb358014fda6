import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

const shown = () => document.querySelector<HTMLElement>('.empty')?.dataset;
const step = () => shown()?.['step'];
const press = (name: string) => fireEvent.click(screen.getByTestId(name));

async function firstStart(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow({ empty: true, settings: { welcomed: false, importOffered: false }, ...options });
  await waitFor(() => expect(step()).toBe('model'));
  return window;
}

describe('the welcome', () => {
  test('is three steps, each of which can be skipped, and is not shown again', async () => {
    const window = await firstStart();
    press('welcome-next');
    expect(step()).toBe('sessions');
    expect(document.activeElement?.textContent).toBe('Bring your sessions');
    expect(screen.queryByTestId('import-offer')).toBeNull();
    press('welcome-next');
    expect(step()).toBe('project');
    press('welcome-back');
    expect(step()).toBe('sessions');
    press('welcome-next');
    press('welcome-done');
    await waitFor(() => expect(shown()?.['state']).toBe('no-project'));
    expect([window.host.settings().welcomed, window.host.settings().importOffered]).toEqual([true, true]);
  });

  test('takes the key of a provider and then goes on with it', async () => {
    const window = await firstStart();
    const select = (await screen.findByTestId('welcome-provider')) as HTMLSelectElement;
    await waitFor(() => expect(select.options.length).toBeGreaterThan(1));
    fireEvent.change(select, { target: { value: 'openai' } });
    fireEvent.input(await screen.findByTestId('key-input-openai'), { target: { value: 'sk-1234' } });
    press('save-key-openai');
    await waitFor(() => expect(screen.getByTestId('welcome-found').textContent).toContain('OpenAI'));
    expect(screen.getByTestId('welcome-next').textContent).toBe('Continue');
    expect(window.called('setKey').map(([id]) => id)).toEqual(['openai']);
  });

  test('names what was found on this machine', async () => {
    await firstStart({ connected: true });
    const found = await screen.findByTestId('welcome-found');
    expect(found.textContent).toContain('Anthropic · Key …9f3c from ANTHROPIC_API_KEY');
    expect(found.textContent).not.toContain('Demo');
  });

  test('ends with the folder that is opened', async () => {
    const window = await firstStart();
    press('welcome-next');
    press('welcome-next');
    press('welcome-open');
    await waitFor(() => expect(shown()?.['state']).toBe('empty-session'));
    expect(window.host.settings().welcomed).toBe(true);
  });

  test('leaves the prompt below it to be used, and ends with it', async () => {
    const window = await firstStart();
    await window.app.pickProject();
    const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
    expect(step()).toBe('model');
    fireEvent.input(area, { target: { value: 'Count the beds' } });
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.host.settings().welcomed).toBe(true));
    expect(document.querySelector('.welcome')).toBeNull();
  });

  test('is not for one who has a session', async () => {
    const window = openWindow({ settings: { welcomed: false } });
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    await waitFor(() => expect(window.host.settings().welcomed).toBe(true));
  });
});
