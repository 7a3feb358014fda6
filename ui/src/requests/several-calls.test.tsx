import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { PermissionRequest } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

afterEach(() => vi.useRealTimers());

const bash = (id: string, command: string, more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  id,
  sessionID: 'ses_gallery',
  permission: 'bash',
  patterns: [command],
  metadata: { command },
  always: [],
  ...more,
});

async function asked(...requests: PermissionRequest[]): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  ask(window, ...requests);
  return window;
}

function ask(window: TestWindow, ...requests: PermissionRequest[]): void {
  window.host.emit(...requests.map((properties) => ({ kind: 'event' as const, event: { type: 'permission.asked' as const, properties } })));
}

const prompt = () => document.querySelector<HTMLElement>('[data-permission]') as HTMLElement;
const button = (name: string) => within(prompt()).getByRole('button', { name });
const answers = (window: TestWindow) => window.called('answerPermission');

describe('a command with dangers', () => {
  test('sets them off from the rest', async () => {
    const dangers = [{ text: 'rm -rf /', why: 'deletes folders' }];
    await asked(bash('per_a', 'rm -rf /', { dangers }));
    expect(prompt().dataset.danger).toBe('');
    expect(screen.getByRole('list', { name: 'Warning' }).textContent).toBe('rm -rf /Deletes folders.');
  });

  test('that the sandbox stopped says what it wanted', async () => {
    const metadata = { command: 'npm install', refused: 'it tried to reach registry.npmjs.org' };
    await asked(bash('per_a', '*', { permission: 'network', metadata }));
    expect(prompt().textContent).toContain('Stopped by the sandbox. It tried to reach registry.npmjs.org. If you allow it, the command runs again from the start.');
  });
});

describe('an answer that is remembered', () => {
  const needs = [{ permission: 'bash', patterns: ['ls'], reasons: [], always: ['ls *'] }];

  test('holds for the session', async () => {
    const window = await asked(bash('per_a', 'ls', { needs, always: ['ls *'] }));
    fireEvent.click(button('Allow for session'));
    await waitFor(() => expect(prompt()).toBeNull());
    expect(answers(window)).toEqual([['per_a', 'session', null]]);
  });

  test('is not offered where it is asked every time', async () => {
    const window = await asked(bash('per_a', 'ls'));
    expect(within(prompt()).queryByRole('button', { name: /session|Always/ })).toBeNull();
    for (const code of ['Digit2', 'Digit5']) fireEvent.keyDown(screen.getByTestId('composer'), { code, altKey: true });
    expect(answers(window)).toEqual([]);
  });
});

describe('calls that wait together', () => {
  const three = [bash('per_a', 'ls a'), bash('per_b', 'ls b'), bash('per_c', 'ls c')];
  const showAll = () => fireEvent.click(button('Show all 3'));

  test('are counted, and one is shown', async () => {
    await asked(...three);
    expect(screen.getByTestId('permission-position').textContent).toBe('1 of 3');
    expect(prompt().textContent).not.toContain('ls b');
    expect(within(prompt()).queryByRole('button', { name: /Allow all/ })).toBeNull();
  });

  test('are all shown before all are allowed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true });
    const window = await asked(...three);
    showAll();
    expect([...prompt().querySelectorAll('.permission-call code')].map((one) => one.textContent)).toEqual(['ls a', 'ls b', 'ls c']);
    vi.advanceTimersByTime(400);
    fireEvent.click(button('Allow all 3'));
    await waitFor(() => expect(prompt()).toBeNull());
    expect(answers(window)).toEqual([['per_a', 'once', null], ['per_b', 'once', null], ['per_c', 'once', null]]);
  });

  test('are not allowed together with one that came at the last moment', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true });
    const window = await asked(...three);
    showAll();
    vi.advanceTimersByTime(400);
    ask(window, bash('per_d', 'rm -rf /'));
    fireEvent.click(button('Allow all 4'));
    fireEvent.keyDown(screen.getByTestId('composer'), { code: 'Digit1', altKey: true });
    expect(answers(window)).toEqual([]);
  });

  test('are denied by one no to each session', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true });
    const window = await asked(...three);
    showAll();
    vi.advanceTimersByTime(400);
    fireEvent.click(button('Deny all 3'));
    await waitFor(() => expect(answers(window)).toEqual([['per_a', 'reject', null]]));
  });
});

describe('what was typed', () => {
  test('is still there after a look at another session', async () => {
    const window = await asked(bash('per_a', 'ls'));
    const reason = () => screen.getByRole('textbox', { name: 'Tell the agent why' }) as HTMLInputElement;
    fireEvent.input(reason(), { target: { value: 'not there' } });
    expect(button('Deny with reason')).toBeTruthy();
    await window.app.select('ses_docs');
    await waitFor(() => expect(prompt()).toBeNull());
    await window.app.select('ses_gallery');
    await waitFor(() => expect(reason().value).toBe('not there'));
  });

  test('into a question is still there, and goes with the question', async () => {
    const window = await asked();
    const properties = { id: 'que_a', sessionID: 'ses_gallery', questions: [{ question: 'Which?', header: 'Lamp', options: [{ label: 'The hall', description: '' }] }] };
    window.host.emit({ kind: 'event', event: { type: 'question.asked', properties } });
    const own = () => screen.getByRole('textbox', { name: 'Other answer' }) as HTMLInputElement;
    fireEvent.input(own(), { target: { value: 'both' } });
    await window.app.select('ses_docs');
    await window.app.select('ses_gallery');
    await waitFor(() => expect(own().value).toBe('both'));
    window.host.emit({ kind: 'event', event: { type: 'question.rejected', properties: { sessionID: 'ses_gallery', requestID: 'que_a' } } });
    expect(window.app.typed.answers('que_a')).toEqual({});
  });
});

describe('a limit', () => {
  const limit = (metadata: Record<string, unknown>) => bash('per_l', '*', { permission: 'limit', metadata });
  const shown = () => document.querySelector<HTMLElement>('[data-limit]') as HTMLElement;
  const press = (name: string) => fireEvent.click(within(shown()).getByRole('button', { name }));

  test('that is reached asks whether to continue', async () => {
    const window = await asked(limit({ limit: 'session_cost', used: 5.02, value: 5 }));
    expect(shown().textContent).toContain('This session has cost $5.02. Continue?');
    expect(shown().textContent).toContain('Your limit is $5.00.');
    press('Continue once');
    await waitFor(() => expect(shown()).toBeNull());
    expect(answers(window)).toEqual([['per_l', 'once', null]]);
  });

  test('is raised above what is used, and the turn goes on', async () => {
    const window = await asked(limit({ limit: 'turnSteps', used: 90, value: 40 }));
    press('Raise to 160 steps');
    await waitFor(() => expect(shown()).toBeNull());
    await waitFor(() => expect(window.host.settings().limits).toEqual({ turnSteps: 160 }));
    expect(answers(window)).toEqual([['per_l', 'once', null]]);
  });

  test('stops the turn', async () => {
    const window = await asked(limit({ limit: 'turn_minutes', used: 31.4, value: 30 }));
    expect(shown().textContent).toContain('This turn has run for 31 minutes. Continue?');
    press('Stop');
    await waitFor(() => expect(answers(window)).toEqual([['per_l', 'reject', null]]));
  });

  test('of an unknown kind can still be answered', async () => {
    await asked(limit({ limit: 'noise' }));
    expect(shown().textContent).toContain('A limit was reached. Continue?');
    expect(within(shown()).queryByRole('button', { name: /Raise/ })).toBeNull();
  });
});
