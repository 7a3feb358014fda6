import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sampleRequests } from '../host/fake/samples';
import type { UiUpdate } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

afterEach(() => vi.useRealTimers());

const prompt = () => document.querySelector<HTMLElement>('[data-permission="true"]') as HTMLElement;
const button = (name: string) => within(prompt()).getByRole('button', { name });
const answers = (window: TestWindow) => window.called('answerPermission').map(([id]) => id);
const allow = () => fireEvent.keyDown(screen.getByTestId('composer'), { code: 'Digit1', altKey: true });

/** The named permissions, and a stopped clock. */
async function asked(...ids: string[]): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  for (const id of ids) ask(window, id);
  return window;
}

function ask(window: TestWindow, id: string): void {
  const request = structuredClone(sampleRequests('ses_gallery')[0]) as { event: { properties: { id: string } } };
  request.event.properties.id = id;
  window.host.emit(request as unknown as UiUpdate);
}
/** Runs the pending promises without moving the clock. */
async function shows(id: string | undefined): Promise<void> {
  for (let step = 0; step < 10; step += 1) await Promise.resolve();
  expect(prompt()?.dataset.requestId).toBe(id);
}

describe('a permission that takes the place of another', () => {
  test('is not answered by a second key or click, and is once it could be read', async () => {
    const window = await asked('per_a', 'per_b');
    allow();
    await shows('per_b');
    allow();
    fireEvent.click(button('Allow once'));
    expect(button('Allow once').getAttribute('aria-disabled')).toBe('true');
    expect(button('Allow once')).toMatchObject({ disabled: false, dataset: {} });
    vi.advanceTimersByTime(399);
    allow();
    expect(answers(window)).toEqual(['per_a']);
    vi.advanceTimersByTime(1);
    expect(button('Allow once').dataset.armed).toBe('');
    expect(button('Allow once').hasAttribute('aria-disabled')).toBe(false);
    allow();
    expect(answers(window)).toEqual(['per_a', 'per_b']);
  });

  test('is answered at once if the other one ended long ago', async () => {
    const window = await asked('per_a');
    allow();
    await shows(undefined);
    vi.advanceTimersByTime(1000);
    ask(window, 'per_b');
    await shows('per_b');
    allow();
    expect(answers(window)).toEqual(['per_a', 'per_b']);
  });
});

test('a permission that comes alone is answered at once, but not by the second of two clicks', async () => {
  const window = await asked('per_a');
  expect(button('Allow once').dataset.armed).toBe('');
  fireEvent.click(button('Allow once'), { detail: 2 });
  expect(answers(window)).toEqual([]);
  fireEvent.click(button('Allow once'), { detail: 1 });
  expect(answers(window)).toEqual(['per_a']);
});
