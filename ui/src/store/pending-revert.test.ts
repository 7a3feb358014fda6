import { createRoot, createSignal } from 'solid-js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createClock } from '../host/fake/ids';
import { createWriter } from '../host/fake/parts';
import type { PendingRevert, Session } from '../protocol';
import { createReverted } from './pending-revert';

const write = createWriter('ses_a', createClock());
const [first, second] = [write.user('one'), write.user('two')];
const session: Session = {
  id: 'ses_a',
  projectID: 'prj_a',
  directory: '/a',
  title: 'A',
  version: '1',
  time: { created: 1, updated: 2 },
  revert: { messageID: 'msg_not_loaded' },
} as Session;

/** What is visible of two messages while the revert's own message is not loaded. */
function reverted(pendingRevert: (sessionID: string) => Promise<PendingRevert | null>) {
  const [now] = createSignal<Session | undefined>(session);
  return createRoot(() => createReverted({ pendingRevert }, now));
}

describe('a revert whose first message is not loaded', () => {
  afterEach(() => vi.useRealTimers());

  test('hides what it may have taken back until the core has said where it begins, and asks again', async () => {
    vi.useFakeTimers();
    let fails = true;
    const created = second.info.time.created;
    const one = reverted(async () => {
      if (fails) throw new Error('no');
      return { messageID: 'msg_not_loaded', created, left: ['a.txt'] };
    });
    await vi.advanceTimersByTimeAsync(0);
    expect([one.isKnown(), one.visible([first, second])]).toEqual([false, []]);
    fails = false;
    await vi.advanceTimersByTimeAsync(2000);
    expect([one.isKnown(), one.visible([first, second])]).toEqual([true, [first]]);
    expect(one.left()).toEqual(['a.txt']);
  });

  test('hides nothing if the core knows of none', async () => {
    const one = reverted(async () => null);
    await vi.waitFor(() => expect(one.isKnown()).toBe(true));
    expect(one.visible([first, second])).toEqual([first, second]);
  });
});
