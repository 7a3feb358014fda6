import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant } from '../host/fake/parts';
import type { AssistantMessage, ContextUse, Session } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await screen.findByTestId('context-meter');
  return window;
}
const meter = () => screen.getByTestId('context-meter');
const words = () => meter().textContent;
const look = async () => {
  fireEvent.pointerDown(meter(), { pointerType: 'mouse', button: 0 });
  fireEvent.click(meter());
  await screen.findByTestId('context-note');
};
const note = () => screen.getByTestId('context-note').textContent;
const sumUp = () => screen.getByTestId('compact') as HTMLButtonElement;
const told = ({ host }: TestWindow, use: Partial<ContextUse>) => {
  host.contextUse = async () => ({ used: 0, usable: 168_000, limit: 200_000, willCompact: false, ...use });
};
/** After everything the scripted session says. */
const later = createClock(Date.UTC(2027, 0, 1));
/** A step of the session has ended. */
const step = ({ host }: TestWindow, change: Partial<AssistantMessage> = {}) => {
  const time = { created: later.now(), completed: later.now() };
  const info = assistant('ses_gallery', 'msg_a', later, { time, ...change });
  host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
};

describe('the meter', () => {
  test('tells how full the context is, and again when a step has ended', async () => {
    const window = await ready();
    await waitFor(() => expect(words()).toBe('29%'));
    told(window, { used: 84_000 });
    step(window);
    await waitFor(() => expect(words()).toBe('50%'));
    await look();
    expect(screen.getByTestId('context-used').textContent).toBe('84k of 200,000');
    expect(note()).toBe(
      'Compacts automatically at 168k tokens. Older messages are summarized for the model; nothing is deleted.',
    );
  });

  test.each([
    [{ used: 170_000, willCompact: true }, 'Full. The next step compacts first. Nothing is deleted.'],
    [{ used: 170_000 }, 'Full. Automatic compaction is off in the config.'],
    [{ used: 9_000, usable: 0, limit: 0 }, 'This model’s context size is unknown.'],
  ])('says what happens next: %o', async (use, said) => {
    const window = await ready();
    told(window, use);
    step(window);
    await look();
    await waitFor(() => expect(note()).toBe(said));
  });

  test('compacts, after which nothing is known until the next step', async () => {
    const window = await ready();
    await look();
    fireEvent.click(sumUp());
    await waitFor(() => expect(window.called('compact')).toEqual([['ses_gallery']]));
    await waitFor(() => expect(words()).toBe('0%'));
    await waitFor(() => expect(screen.queryByTestId('context-note')).toBeNull());
    await look();
    expect(screen.getByTestId('context-used').textContent).toBe('after the next step');
    expect(sumUp().disabled).toBe(true);
  });

  test('does not compact while a turn runs', async () => {
    const window = await ready();
    await look();
    expect(sumUp().disabled).toBe(false);
    window.host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
    });
    await waitFor(() => expect(sumUp().disabled).toBe(true));
  });

  test('counts the tasks of the session, and says how much of the cost is theirs', async () => {
    const window = await ready();
    const { host } = window;
    const task: Session = { ...(host.sessions.get('ses_gallery') as Session), id: 'ses_task', parentID: 'ses_gallery' };
    host.sessionUsage = async (sessionID) => ({
      sessionID,
      cost: sessionID === 'ses_task' ? 0.2 : 0.5,
      tokens: { input: 1000, output: 100, reasoning: 0, cache: { read: 3000, write: 0 } },
      steps: 1,
    });
    step(window);
    await waitFor(() => expect(screen.getByTestId('session-cost').textContent).toBe('$0.50'));
    host.emit({ kind: 'event', event: { type: 'session.created', properties: { info: task } } });
    await waitFor(() => expect(screen.getByTestId('session-cost').textContent).toBe('$0.70'));
    await look();
    const facts = [...document.querySelectorAll('.meter-facts > *')].map((one) => one.textContent).slice(4);
    expect(facts).toEqual([
      'Total tokens',
      '8.0k in, 200 out',
      'From cache',
      '6.0k',
      'Total cost with tasks',
      '$0.70',
      '1 task',
      '$0.20',
    ]);
  });

  test('is quiet when it cannot be measured', async () => {
    const window = await ready();
    await waitFor(() => expect(words()).toBe('29%'));
    window.host.contextUse = () => Promise.reject({ code: 'failed', message: 'no such model' });
    step(window, { tokens: { input: 1, output: 0, reasoning: 0, cache: { read: 0, write: 0 } } });
    await waitFor(() => expect(window.called('sessionUsage').length).toBeGreaterThan(1));
    expect(words()).toBe('29%');
    expect(screen.queryByTestId('toast')).toBeNull();
  });
});
