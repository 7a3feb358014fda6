import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import type { MessageError, MessageView, Session, UiUpdate } from '../protocol';
import { emptyState, reduce, reduceAll, type UiState } from './reduce';
import { closed, olderLoaded, opened, opening, projectOpened, sessionsListed } from './transitions';

const SESSION: Session = {
  id: 'ses_a',
  projectID: 'prj_a',
  directory: '/a',
  title: 'A',
  version: '1',
  time: { created: 1, updated: 2 },
};
const view = (messages: MessageView[], change = {}) => ({
  session: SESSION,
  messages,
  hasOlder: false,
  hasNewer: false,
  status: { type: 'idle' as const },
  permissions: [],
  questions: [],
  todos: [],
  queued: [],
  undoable: 0,
  context: { used: 0, usable: 0, limit: 0, willCompact: false },
  lastUse: null,
  damaged: [],
  ...change,
});
const shown = (messages: MessageView[]): UiState => opened(opening(emptyState, SESSION.id), view(messages));
const event = (event: Extract<UiUpdate, { kind: 'event' }>['event']): UiUpdate => ({ kind: 'event', event });

function turn() {
  const clock = createClock();
  const write = createWriter(SESSION.id, clock);
  const asked = write.user('Why?');
  const said = write.answer(asked.info.id, {}, (id) => write.part(id, 'text', { text: 'Because.' }));
  return { clock, write, asked, said };
}

describe('messages', () => {
  test('a new message is put in the order of time, not of arrival', () => {
    const { clock, asked, said } = turn();
    const state = shown([said]);
    const next = reduce(state, event({ type: 'message.updated', properties: { info: asked.info } }));
    expect(next.open?.messages.map((message) => message.info.id)).toEqual([asked.info.id, said.info.id]);
    const later = assistant(SESSION.id, asked.info.id, clock);
    const last = reduce(next, event({ type: 'message.updated', properties: { info: later } }));
    expect(last.open?.messages.at(-1)).toEqual({ info: later, parts: [] });
  });

  test('a known message keeps its parts and leaves its neighbours the same objects', () => {
    const { asked, said } = turn();
    const state = shown([asked, said]);
    const info = { ...said.info, time: { created: said.info.time.created, completed: 9 } } as typeof said.info;
    const next = reduce(state, event({ type: 'message.updated', properties: { info } }));
    expect(next.open?.messages[1]).toEqual({ info, parts: said.parts });
    expect(next.open?.messages[0]).toBe(asked);
  });

  test('a change to a message of a page that is not loaded leaves the loaded ones alone', () => {
    const { asked, said } = turn();
    const state = opened(opening(emptyState, SESSION.id), view([said], { hasOlder: true }));
    const next = reduce(state, event({ type: 'message.updated', properties: { info: asked.info } }));
    expect(next.open?.messages).toEqual([said]);
  });

  test('removing a message or a part removes just that', () => {
    const { asked, said } = turn();
    const partID = said.parts[0]?.part.id ?? '';
    const ids = { sessionID: SESSION.id, messageID: said.info.id };
    const without = reduce(
      shown([asked, said]),
      event({ type: 'message.part.removed', properties: { ...ids, partID } }),
    );
    expect(without.open?.messages[1]?.parts).toEqual([]);
    const gone = reduce(without, event({ type: 'message.removed', properties: ids }));
    expect(gone.open?.messages).toEqual([asked]);
  });

  test('what belongs to a session that is not open changes nothing', () => {
    const { asked, said } = turn();
    const state = closed(shown([asked, said]));
    const part = said.parts[0];
    if (!part) throw new Error('no part');
    expect(reduce(state, { kind: 'part', part })).toBe(state);
  });
});

describe('blocks', () => {
  const blocksOf = (state: UiState) => state.open?.messages[1]?.parts[0]?.blocks;

  /** A small generator, so that a failure can be repeated. */
  function* numbers(seed: number) {
    for (let x = seed; ; x = (x * 48271) % 2147483647) yield x;
  }

  test('any run of updates ends with what the sender has', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = numbers(seed);
      const pick = (below: number) => random.next().value! % below;
      const { asked, said } = turn();
      const partID = said.parts[0]?.part.id ?? '';
      let state = shown([asked, { ...said, parts: [{ ...said.parts[0]!, blocks: [] }] }]);
      let truth: string[] = [];
      for (let step = 0; step < 30; step += 1) {
        const keep = pick(truth.length + 1);
        const fresh = Array.from({ length: pick(4) }, (_, index) => `<p>${step}.${index}</p>`);
        truth = [...truth.slice(0, keep), ...fresh];
        const before = blocksOf(state);
        state = reduce(state, {
          kind: 'blocks',
          sessionID: SESSION.id,
          messageID: said.info.id,
          partID,
          keep,
          blocks: fresh,
        });
        expect(blocksOf(state)).toEqual(truth);
        expect(blocksOf(state)?.slice(0, keep)).toEqual(before?.slice(0, keep));
      }
      expect(state.open?.stale).toBe(false);
      expect(state.open?.messages[0]).toBe(asked);
    }
  });

  test('an update that keeps what we never saw asks for the session anew', () => {
    const { asked, said } = turn();
    const update: UiUpdate = {
      kind: 'blocks',
      sessionID: SESSION.id,
      messageID: said.info.id,
      partID: said.parts[0]?.part.id ?? '',
      keep: 7,
      blocks: [],
    };
    expect(reduce(shown([asked, said]), update).open?.stale).toBe(true);
    expect(reduce(shown([asked]), update).open?.stale).toBe(true);
  });

  test('a reset marks the open session stale', () => {
    expect(reduce(shown([]), { kind: 'reset', sessionID: SESSION.id }).open?.stale).toBe(true);
    expect(reduce(shown([]), { kind: 'reset', sessionID: 'ses_b' }).open?.stale).toBe(false);
  });
});

describe('opening', () => {
  test('updates that overtake the tail wait for it and are then applied', () => {
    const { write, asked, said } = turn();
    const fresh = write.part(said.info.id, 'text', { text: 'More.' });
    const waiting = reduce(opening(emptyState, SESSION.id), { kind: 'part', part: fresh });
    const state = opened(waiting, view([asked, said]));
    expect(state.open?.messages[1]?.parts).toEqual([...said.parts, fresh]);
    expect(state.opening).toBeUndefined();
  });

  test('a status that overtakes an older tail stands', () => {
    const busy = event({ type: 'session.status', properties: { sessionID: SESSION.id, status: { type: 'busy' } } });
    const waiting = reduce(opening(emptyState, SESSION.id), busy);
    expect(waiting.statuses).toEqual({ ses_a: { type: 'busy' } });
    expect(opened(waiting, view([])).statuses).toEqual({ ses_a: { type: 'busy' } });
  });

  test('the tail of a session that is no longer wanted is dropped', () => {
    const state = opening(opening(emptyState, SESSION.id), 'ses_b');
    expect(opened(state, view([]))).toBe(state);
  });

  test('older messages of a place that is no longer shown are dropped', () => {
    const { asked, said } = turn();
    const state = shown([said]);
    const page = { messages: [asked], hasOlder: true, hasNewer: false, damaged: [] };
    expect(olderLoaded(state, SESSION.id, 'msg_elsewhere', page)).toBe(state);
  });

  test('older messages go in front, once', () => {
    const { asked, said } = turn();
    const state = shown([said]);
    const page = { messages: [asked, said], hasOlder: true, hasNewer: false, damaged: [{ key: 'part/x', reason: 'cut' }] };
    const next = olderLoaded(state, SESSION.id, said.info.id, page);
    expect(next.open).toEqual({
      sessionID: SESSION.id,
      messages: [asked, said],
      hasOlder: true,
      todos: [],
      hasNewer: false,
      queued: [],
      undoable: 0,
      context: { used: 0, usable: 0, limit: 0, willCompact: false },
      damaged: [{ key: 'part/x', reason: 'cut' }],
      stale: false,
    });
  });
});

describe('sessions', () => {
  test('are put, marked and dropped by their events', () => {
    const state = reduceAll(emptyState, [
      event({ type: 'session.created', properties: { info: SESSION } }),
      event({ type: 'session.status', properties: { sessionID: 'ses_a', status: { type: 'busy' } } }),
      event({
        type: 'session.error',
        properties: { sessionID: 'ses_a', error: { name: 'UnknownError', data: { message: 'x' } } },
      }),
    ]);
    expect(state).toEqual({
      ...emptyState,
      sessions: { ses_a: SESSION },
      statuses: { ses_a: { type: 'busy' } },
      failed: { ses_a: true },
    });
    const dropped = reduce(state, event({ type: 'session.deleted', properties: { info: SESSION } }));
    expect(dropped).toEqual({ ...emptyState, open: undefined });
  });

  test('a turn that goes on without snapshots has not failed', () => {
    const warning = { name: 'NoSnapshotError', data: { message: 'less than 5 GB are free on the disk' } };
    const told = event({
      type: 'session.error',
      properties: { sessionID: 'ses_a', error: warning as unknown as MessageError },
    });
    expect(reduce(emptyState, told)).toBe(emptyState);
  });

  test('a stop by the user is not a failure, and looking at a failure clears it', () => {
    const aborted = event({
      type: 'session.error',
      properties: { sessionID: 'ses_a', error: { name: 'MessageAbortedError', data: { message: '' } } },
    });
    expect(reduce(emptyState, aborted)).toBe(emptyState);
    const failed = { ...emptyState, failed: { ses_a: true as const } };
    expect(opened(opening(failed, 'ses_a'), view([])).failed).toEqual({});
  });

  test('a list is the truth for its project only', () => {
    const other: Session = { ...SESSION, id: 'ses_b', projectID: 'prj_b', directory: '/b' };
    const state = { ...emptyState, sessions: { ses_a: SESSION, ses_b: other } };
    expect(sessionsListed(state, 'prj_a', []).sessions).toEqual({ ses_b: other });
    const project = { id: 'prj_a', worktree: '/a', time: { created: 1 } };
    expect(projectOpened(state, { project, sessions: [SESSION] })).toEqual({
      ...state,
      projects: [project],
      listed: { prj_a: true },
    });
  });
});

test('a store that cannot write is told, and told again when it can', () => {
  const full = reduce(emptyState, { kind: 'store', problem: 'disk full' });
  expect(full.storeProblem).toBe('disk full');
  expect(reduce(full, { kind: 'store', problem: null })).toEqual(emptyState);
});
