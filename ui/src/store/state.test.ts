import { createEffect, createRoot } from 'solid-js';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import type { Activity, MessageError, MessageView, PermissionRequest, QuestionRequest, Session, UiUpdate } from '../protocol';
import { createState, type State } from './state';

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
  todos: [],
  queued: [],
  undoable: 0,
  context: { used: 0, usable: 0, limit: 0, willCompact: false },
  lastUse: null,
  damaged: [],
  ...change,
});
const fresh = (): State => createRoot(() => createState());
const opening = (sessionID = SESSION.id): State => {
  const state = fresh();
  state.timeline.begin(sessionID);
  return state;
};
const shown = (messages: MessageView[], change = {}): State => {
  const state = opening();
  state.show(view(messages, change));
  return state;
};
const event = (event: Extract<UiUpdate, { kind: 'event' }>['event']): UiUpdate => ({ kind: 'event', event });
const messagesOf = (state: State) => state.timeline.open()?.messages;

/** How often a reader of the state runs, the first time included. */
function countRuns(read: () => unknown): () => number {
  let runs = 0;
  createRoot(() =>
    createEffect(() => {
      read();
      runs += 1;
    }),
  );
  return () => runs;
}

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
    state.apply([event({ type: 'message.updated', properties: { info: asked.info } })]);
    expect(messagesOf(state)?.map((message) => message.info.id)).toEqual([asked.info.id, said.info.id]);
    const later = assistant(SESSION.id, asked.info.id, clock);
    state.apply([event({ type: 'message.updated', properties: { info: later } })]);
    expect(messagesOf(state)?.at(-1)).toEqual({ info: later, parts: [] });
  });

  test('a known message keeps its parts, and neither its parts nor its neighbours are read again', () => {
    const { asked, said } = turn();
    const state = shown([asked, said]);
    const neighbour = messagesOf(state)?.[0];
    const others = countRuns(() => [messagesOf(state), neighbour?.info, neighbour?.parts, messagesOf(state)?.[1]?.parts]);
    const info = { ...said.info, time: { created: said.info.time.created, completed: 9 } } as typeof said.info;
    state.apply([event({ type: 'message.updated', properties: { info } })]);
    expect(messagesOf(state)?.[1]).toEqual({ info, parts: said.parts });
    expect(messagesOf(state)?.[0]).toBe(neighbour);
    expect(neighbour).toEqual(asked);
    expect(others()).toBe(1);
  });

  test('a change to a message of a page that is not loaded leaves the loaded ones alone', () => {
    const { asked, said } = turn();
    const state = shown([said], { hasOlder: true });
    state.apply([event({ type: 'message.updated', properties: { info: asked.info } })]);
    expect(messagesOf(state)).toEqual([said]);
  });

  test('removing a message or a part removes just that', () => {
    const { asked, said } = turn();
    const partID = said.parts[0]?.part.id ?? '';
    const ids = { sessionID: SESSION.id, messageID: said.info.id };
    const state = shown([asked, said]);
    state.apply([event({ type: 'message.part.removed', properties: { ...ids, partID } })]);
    expect(messagesOf(state)?.[1]?.parts).toEqual([]);
    state.apply([event({ type: 'message.removed', properties: ids })]);
    expect(messagesOf(state)).toEqual([asked]);
  });

  test('what belongs to a session that is not open changes nothing', () => {
    const { asked, said } = turn();
    const state = shown([asked, said]);
    state.timeline.close();
    const part = said.parts[0];
    if (!part) throw new Error('no part');
    const runs = countRuns(() => [state.timeline.open(), state.timeline.opening(), state.sessions.all()]);
    state.apply([{ kind: 'part', part }]);
    expect(state.timeline.open()).toBeUndefined();
    expect(runs()).toBe(1);
  });
});

describe('blocks', () => {
  const blocksOf = (state: State) => messagesOf(state)?.[1]?.parts[0]?.blocks;

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
      const state = shown([asked, { ...said, parts: [{ ...said.parts[0]!, blocks: [] }] }]);
      const neighbour = messagesOf(state)?.[0];
      let truth: string[] = [];
      for (let step = 0; step < 30; step += 1) {
        const keep = pick(truth.length + 1);
        const fresh = Array.from({ length: pick(4) }, (_, index) => `<p>${step}.${index}</p>`);
        truth = [...truth.slice(0, keep), ...fresh];
        const before = blocksOf(state);
        state.apply([
          {
            kind: 'blocks',
            sessionID: SESSION.id,
            messageID: said.info.id,
            partID,
            keep,
            blocks: fresh,
          },
        ]);
        expect(blocksOf(state)).toEqual(truth);
        expect(blocksOf(state)?.slice(0, keep)).toEqual(before?.slice(0, keep));
      }
      expect(state.timeline.open()?.stale).toBe(false);
      expect(messagesOf(state)?.[0]).toBe(neighbour);
      expect(neighbour).toEqual(asked);
    }
  });

  test('only what reads the blocks of that part is read again', () => {
    const { write, asked, said } = turn();
    const second = write.part(said.info.id, 'text', { text: 'More.' });
    const state = shown([asked, { ...said, parts: [...said.parts, second] }]);
    const message = messagesOf(state)?.[1];
    const grown = countRuns(() => message?.parts[0]?.blocks);
    const others = countRuns(() => [
      { ...state.timeline.open() },
      messagesOf(state)?.map(({ info, parts }) => [info, parts, parts.map(({ part }) => part)]),
      message?.parts[1]?.blocks,
      state.sessions.all(),
      state.activity.status(SESSION.id),
    ]);
    const partID = said.parts[0]?.part.id ?? '';
    for (let count = 1; count <= 5; count += 1) {
      const update = { kind: 'blocks' as const, sessionID: SESSION.id, messageID: said.info.id, partID };
      state.apply([{ ...update, keep: 0, blocks: [`<p>${count}</p>`] }]);
    }
    expect(grown()).toBe(6);
    expect(others()).toBe(1);
  });

  test('an update that keeps blocks that were never received marks the session stale', () => {
    const { asked, said } = turn();
    const update: UiUpdate = {
      kind: 'blocks',
      sessionID: SESSION.id,
      messageID: said.info.id,
      partID: said.parts[0]?.part.id ?? '',
      keep: 7,
      blocks: [],
    };
    for (const state of [shown([asked, said]), shown([asked])]) {
      state.apply([update]);
      expect(state.timeline.open()?.stale).toBe(true);
    }
  });

  test('a reset marks the open session stale', () => {
    const state = shown([]);
    state.apply([{ kind: 'reset', sessionID: 'ses_b' }]);
    expect(state.timeline.open()?.stale).toBe(false);
    state.apply([{ kind: 'reset', sessionID: SESSION.id }]);
    expect(state.timeline.open()?.stale).toBe(true);
  });
});

describe('opening', () => {
  test('updates that arrive before the messages wait for them and are then applied', () => {
    const { write, asked, said } = turn();
    const part = write.part(said.info.id, 'text', { text: 'More.' });
    const state = opening();
    state.apply([{ kind: 'part', part }]);
    state.show(view([asked, said]));
    expect(messagesOf(state)?.[1]?.parts).toEqual([...said.parts, part]);
    expect(state.timeline.opening()).toBeUndefined();
  });

  test('a status that arrives before the older messages is kept', () => {
    const state = opening();
    state.apply([event({ type: 'session.status', properties: { sessionID: SESSION.id, status: { type: 'busy' } } })]);
    expect(state.activity.status('ses_a')).toEqual({ type: 'busy' });
    state.show(view([]));
    expect(state.activity.status('ses_a')).toEqual({ type: 'busy' });
  });

  test('the messages of a session that is no longer wanted are dropped', () => {
    const state = opening();
    state.timeline.begin('ses_b');
    state.show(view([]));
    expect([state.timeline.open(), state.timeline.opening()]).toEqual([undefined, 'ses_b']);
    expect(state.sessions.all()).toEqual([]);
  });

  test('older messages of a place that is no longer shown are dropped', () => {
    const { asked, said } = turn();
    const state = shown([said]);
    const before = { ...state.timeline.open() };
    const page = { messages: [asked], hasOlder: true, hasNewer: false, damaged: [] };
    state.timeline.addOlder(SESSION.id, 'msg_elsewhere', page);
    expect({ ...state.timeline.open() }).toEqual(before);
    expect(messagesOf(state)).toEqual([said]);
  });

  test('updates that arrive while newer messages are read are applied to them', () => {
    const { clock, write, asked, said } = turn();
    const next = write.user('And then?');
    const answered = write.answer(next.info.id, {}, (id) => write.part(id, 'text', { text: 'Half' }));
    const state = shown([asked, said], { hasNewer: true });
    state.timeline.expectNewer(SESSION.id);
    const part = answered.parts[0]!.part;
    const whole = { part: { ...part, text: 'Half and the rest' } as typeof part };
    const later = assistant(SESSION.id, next.info.id, clock);
    const call = write.part(later.id, 'text', { text: 'A step after the page was read' });
    state.apply([
      { kind: 'part', part: whole },
      event({ type: 'message.updated', properties: { info: later } }),
      { kind: 'part', part: call },
    ]);
    expect(messagesOf(state)).toEqual([asked, said]);
    const page = { messages: [next, answered], hasOlder: true, hasNewer: false, damaged: [] };
    state.timeline.addNewer(SESSION.id, said.info.id, page);
    expect(messagesOf(state)?.map(({ info }) => info.id)).toEqual([asked, said, next, answered, { info: later }].map(({ info }) => info.id));
    expect(messagesOf(state)?.slice(-2).map(({ parts }) => parts.map((view) => view.part))).toEqual([[whole.part], [call.part]]);
    expect(state.timeline.open()?.stale).toBe(false);
  });

  test('updates of a newer page that could not be read are not kept', () => {
    const { asked, said, write } = turn();
    const next = write.user('And then?');
    const state = shown([asked, said], { hasNewer: true });
    state.timeline.expectNewer(SESSION.id);
    state.apply([event({ type: 'message.updated', properties: { info: next.info } })]);
    state.timeline.addNewer(SESSION.id, said.info.id, undefined);
    const page = { messages: [next], hasOlder: true, hasNewer: false, damaged: [] };
    state.timeline.addNewer(SESSION.id, said.info.id, page);
    expect(messagesOf(state)).toEqual([asked, said, next]);
  });

  test('older messages go in front, once', () => {
    const { asked, said } = turn();
    const state = shown([said]);
    const page = { messages: [asked, said], hasOlder: true, hasNewer: false, damaged: [{ key: 'part/x', reason: 'cut' }] };
    state.timeline.addOlder(SESSION.id, said.info.id, page);
    expect(state.timeline.open()).toEqual({
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
  /** Everything but the timeline, for the session `ses_a`. */
  const known = (state: State) => ({
    sessions: state.sessions.all(),
    projects: state.sessions.projects(),
    isListed: state.sessions.isListed('prj_a'),
    status: state.activity.status('ses_a').type,
    isFailed: state.activity.isFailed('ses_a'),
    isUnread: state.activity.isUnread('ses_a'),
    permissions: state.activity.permissions(),
    questions: state.activity.questions(),
    storeProblem: state.storeProblem(),
  });
  const nothing = known(fresh());

  test('are put, marked and dropped by their events', () => {
    const state = fresh();
    state.apply([
      event({ type: 'session.created', properties: { info: SESSION } }),
      event({ type: 'session.status', properties: { sessionID: 'ses_a', status: { type: 'busy' } } }),
      event({
        type: 'session.error',
        properties: { sessionID: 'ses_a', error: { name: 'UnknownError', data: { message: 'x' } } },
      }),
    ]);
    expect(known(state)).toEqual({ ...nothing, sessions: [SESSION], status: 'busy', isFailed: true });
    state.apply([event({ type: 'session.deleted', properties: { info: SESSION } })]);
    expect(known(state)).toEqual(nothing);
    expect(state.timeline.open()).toBeUndefined();
  });

  test('a list that was asked for before a session came or went does not undo that', () => {
    const [made, gone]: Session[] = [{ ...SESSION, id: 'ses_made' }, { ...SESSION, id: 'ses_gone' }];
    const state = fresh();
    state.sessions.list('prj_a', [SESSION, gone!]);
    const asked = state.sessions.version();
    state.sessions.put(made!);
    state.sessions.drop('ses_gone');
    state.sessions.list('prj_a', [SESSION, gone!], asked);
    expect(state.sessions.all().map(({ id }) => id).sort()).toEqual(['ses_a', 'ses_made']);
    state.sessions.list('prj_a', [SESSION]);
    expect(state.sessions.all().map(({ id }) => id)).toEqual(['ses_a']);
  });

  test('a change to one of them is read again only by what reads that one', () => {
    const other: Session = { ...SESSION, id: 'ses_b' };
    const state = fresh();
    state.sessions.list('prj_a', [SESSION, other]);
    const changed = countRuns(() => [state.sessions.get('ses_b'), state.activity.status('ses_b')]);
    const others = countRuns(() => [state.sessions.get('ses_a'), state.activity.status('ses_a')]);
    state.apply([
      event({ type: 'session.updated', properties: { info: { ...other, title: 'B' } } }),
      event({ type: 'session.status', properties: { sessionID: 'ses_b', status: { type: 'busy' } } }),
    ]);
    expect([changed(), others()]).toEqual([2, 1]);
  });

  test('a turn that goes on without snapshots has not failed', () => {
    const warning = { name: 'NoSnapshotError', data: { message: 'less than 5 GB are free on the disk' } };
    const state = fresh();
    state.apply([
      event({
        type: 'session.error',
        properties: { sessionID: 'ses_a', error: warning as unknown as MessageError },
      }),
    ]);
    expect(known(state)).toEqual(nothing);
  });

  test('a stop by the user is not a failure, and looking at a failure clears it', () => {
    const state = fresh();
    state.apply([
      event({
        type: 'session.error',
        properties: { sessionID: 'ses_a', error: { name: 'MessageAbortedError', data: { message: '' } } },
      }),
    ]);
    expect(known(state)).toEqual(nothing);
    state.activity.markFailed('ses_a');
    state.timeline.begin('ses_a');
    state.show(view([]));
    expect(state.activity.isFailed('ses_a')).toBe(false);
  });

  test('a list is the truth for its project only', () => {
    const other: Session = { ...SESSION, id: 'ses_b', projectID: 'prj_b', directory: '/b' };
    const state = fresh();
    state.sessions.put(SESSION);
    state.sessions.put(other);
    state.sessions.list('prj_a', []);
    expect(state.sessions.all()).toEqual([other]);
    state.sessions.unlist();
    const project = { id: 'prj_a', worktree: '/a', time: { created: 1 } };
    state.sessions.openProject({ project, sessions: [SESSION] });
    expect(known(state)).toEqual({ ...nothing, sessions: [other, SESSION], projects: [project], isListed: true });
  });

  test('a store problem is shown until it is over', () => {
    const state = fresh();
    state.apply([{ kind: 'store', problem: 'disk full' }]);
    expect(state.storeProblem()).toBe('disk full');
    state.apply([{ kind: 'store', problem: null }]);
    expect(known(state)).toEqual(nothing);
  });
});

describe('the activity of all sessions', () => {
  const permission: PermissionRequest = {
    id: 'per_a',
    sessionID: 'ses_task',
    permission: 'bash',
    patterns: [],
    always: [],
    metadata: {},
  };
  const question: QuestionRequest = { id: 'que_a', sessionID: 'ses_b', questions: [] };
  const task: Session = { ...SESSION, id: 'ses_task', parentID: 'ses_a' };
  const whole = (change: Partial<Activity> = {}): UiUpdate => ({
    kind: 'activity',
    activity: { statuses: {}, permissions: [], questions: [], failed: [], sessions: [], ...change },
  });

  test('is known at once, also of sessions that were not listed, and a task counts for its session', () => {
    const state = fresh();
    state.apply([
      whole({
        statuses: { ses_a: { type: 'busy' }, ses_b: { type: 'retry', attempt: 2, message: 'slow', next: 9 } },
        permissions: [permission],
        questions: [question],
        sessions: [task, SESSION],
      }),
    ]);
    expect(state.activity.status('ses_a')).toEqual({ type: 'busy' });
    expect(state.activity.status('ses_b')).toEqual({ type: 'retry', attempt: 2, message: 'slow', next: 9 });
    expect(state.activity.permissions()).toEqual([permission]);
    expect(state.activity.questions()).toEqual([question]);
    expect(state.activity.waiting()).toEqual(['ses_a', 'ses_b']);
  });

  test('replaces what was known, and marks what ended meanwhile as unread unless it is on screen', () => {
    const state = shown([]);
    const busy = (sessionID: string) =>
      event({ type: 'session.status', properties: { sessionID, status: { type: 'busy' } } });
    state.apply([
      ...['ses_a', 'ses_b', 'ses_c'].map(busy),
      event({ type: 'permission.asked', properties: permission }),
      event({ type: 'question.asked', properties: question }),
      whole({ statuses: { ses_c: { type: 'busy' } } }),
    ]);
    const statuses = ['ses_a', 'ses_b', 'ses_c'].map((id) => state.activity.status(id).type);
    expect(statuses).toEqual(['idle', 'idle', 'busy']);
    expect(['ses_a', 'ses_b', 'ses_c'].map(state.activity.isUnread)).toEqual([false, true, false]);
    expect([state.activity.permissions(), state.activity.questions()]).toEqual([[], []]);
  });

  test('says which of those that ended meanwhile have failed', () => {
    const state = fresh();
    state.apply([whole({ statuses: { ses_a: { type: 'busy' }, ses_b: { type: 'busy' } } })]);
    state.apply([whole({ failed: ['ses_b', 'ses_c'] })]);
    const marks = (id: string) => [state.activity.isUnread(id), state.activity.isFailed(id)];
    // The failure of one that was idle all the time has been seen.
    expect(['ses_a', 'ses_b', 'ses_c'].map(marks)).toEqual([[true, false], [true, true], [false, false]]);
  });

  test('the marks of sessions are there after the page was loaded again, until they are looked at', () => {
    const load = () => createRoot(() => createState(localStorage));
    const state = load();
    state.activity.markFailed('ses_a');
    state.activity.markUnread('ses_b');
    state.activity.markUnread('ses_c');
    state.activity.markSeen('ses_c');
    const again = load();
    const marks = (id: string) => [again.activity.isUnread(id), again.activity.isFailed(id)];
    expect(['ses_a', 'ses_b', 'ses_c'].map(marks)).toEqual([[false, true], [true, false], [false, false]]);
    localStorage.setItem('lathe.failed', '{ no');
    expect(load().activity.isFailed('ses_a')).toBe(false);
  });

  test('does not notify readers of a status that stays the same', () => {
    const state = fresh();
    const status = { type: 'busy' } as const;
    state.apply([whole({ statuses: { ses_a: status } })]);
    const runs = countRuns(() => [state.activity.status('ses_a'), state.activity.status('ses_b')]);
    state.apply([whole({ statuses: { ses_a: status } })]);
    expect(runs()).toBe(1);
  });
});
