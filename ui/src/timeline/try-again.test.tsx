import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import type { MessageView } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const error = { name: 'ProviderAuthError' as const, data: { providerID: 'anthropic', message: 'No API key' } };

/** A session whose only prompt was refused, after as many answers as given. */
async function refused(answers: number): Promise<{ window: TestWindow; prompt: MessageView }> {
  const window = openWindow();
  await waitFor(() => expect(window.app.selected()).toBe('ses_gallery'));
  const clock = createClock();
  const prompt = createWriter('ses_docs', clock).user('Write the manual');
  const done = Array.from({ length: answers }, () => ({
    info: assistant('ses_docs', prompt.info.id, clock, { finish: 'tool-calls' }),
    parts: [],
  }));
  const failed = { info: assistant('ses_docs', prompt.info.id, clock, { error }), parts: [] };
  window.host.messages.set('ses_docs', [prompt, ...done, failed]);
  await window.app.select('ses_docs');
  return { window, prompt };
}

test('a session whose model is gone offers another one, and continues with it', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.models.list()).toBeDefined());
  const clock = createClock();
  const prompt = createWriter('ses_docs', clock, { providerID: 'elsewhere', modelID: 'm' }).user('Write the manual');
  const gone = { name: 'UnknownError' as const, data: { message: 'Unknown provider: elsewhere' } };
  const failed = { info: assistant('ses_docs', prompt.info.id, clock, { error: gone }), parts: [] };
  window.host.messages.set('ses_docs', [prompt, failed]);
  await window.app.select('ses_docs');
  fireEvent.click(await screen.findByTestId('choose-model'));
  expect(window.app.overlay()).toEqual({ name: 'models' });
  const demo = { providerID: 'demo', modelID: window.app.models.list()?.default.modelID ?? '' };
  window.app.models.choose(demo);
  window.app.dismiss('models');
  await waitFor(() => expect(screen.queryByTestId('choose-model')).toBeNull());
  fireEvent.click(screen.getByTestId('try-again'));
  await waitFor(() => expect(window.called('prompt')[0]?.[1]).toMatchObject({ text: 'Write the manual', model: demo }));
});

describe('a refused key', () => {
  test('is entered from where it was missed, and the prompt is sent again', async () => {
    const { window, prompt } = await refused(0);
    fireEvent.click(await screen.findByTestId('enter-key'));
    expect(window.app.overlay()).toEqual({ name: 'settings', section: 'providers', providerID: 'anthropic' });
    await window.app.models.setKey('anthropic', 'sk-1');
    window.app.dismiss('settings');
    const again = await screen.findByTestId('try-again');
    await waitFor(() => expect(again.dataset.tone).toBe('primary'));
    fireEvent.click(again);
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    const target = { kind: 'message', messageID: prompt.info.id, keepFiles: true };
    expect(window.called('revert')).toEqual([['ses_docs', target]]);
    expect(window.called('prompt')[0]?.[1]).toMatchObject({ text: 'Write the manual' });
    expect(screen.queryByTestId('editing')).toBeNull();
  });

  test('in the middle of a turn lets it go on instead', async () => {
    const { window } = await refused(2);
    fireEvent.click(await screen.findByTestId('try-again'));
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect(window.called('prompt')[0]?.[1]).toMatchObject({ text: 'Continue' });
    expect(window.called('revert')).toEqual([]);
  });
});
