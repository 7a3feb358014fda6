/** Nothing acts on the wrong thing, nothing is lost, nothing is tried without a pause. */
import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import { sampleRequests } from '../host/fake/samples';
import { createFakeHost, type FakeHost } from '../host/fake';
import type { MessageView, PromptInput, UiUpdate } from '../protocol';
import { openWindow, type TestWindow } from './window';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const area = () => screen.getByTestId('composer') as HTMLTextAreaElement;
const enter = (text: string) => {
  fireEvent.input(area(), { target: { value: text } });
  fireEvent.keyDown(area(), { key: 'Enter' });
};
const userIDs = (host: FakeHost, id: string) =>
  (host.messages.get(id) ?? []).filter(({ info }) => info.role === 'user').map(({ info }) => info.id);
const drawn = () => [...document.querySelectorAll('.user-message')].map((one) => one.getAttribute('data-message-id'));

/** A window as wide as given. */
function narrow(width: number): void {
  const matches = (query: string) => width <= Number(/max-width: (\d+)px/.exec(query)?.[1] ?? 0);
  vi.stubGlobal('matchMedia', (query: string) => ({
    matches: matches(query),
    addEventListener: () => {},
    removeEventListener: () => {},
  }));
}

async function opened(options = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}

describe('the newest turn', () => {
  test('is what /undo means, also where an older place is on screen', async () => {
    const { app, host, called } = await opened();
    const prompts = userIDs(host, 'ses_long');
    await app.select('ses_long', { messageID: prompts[20] ?? '' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(true));
    void app.editing.undo();
    await waitFor(() => expect(host.sessions.get('ses_long')?.revert).toEqual({ messageID: prompts.at(-1) }));
    expect(called('revert')).toEqual([]);
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(false));
  });

  test('is not where a reader at an older place is thrown after lost updates', async () => {
    const { app, host, called } = await opened();
    const prompts = userIDs(host, 'ses_long');
    await app.select('ses_long', { messageID: prompts[20] ?? '' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(true));
    await waitFor(() => expect(drawn().length).toBeGreaterThan(0));
    const before = called('openSession').length;
    host.emit({ kind: 'reset', sessionID: 'ses_long' });
    await waitFor(() => expect(called('openSessionAt')).toHaveLength(2));
    await waitFor(() => expect(app.timeline.open()?.stale).toBe(false));
    expect([called('openSession').length, app.timeline.open()?.hasNewer]).toEqual([before, true]);
  });

  test('is shown after lost updates if the place of the reader is gone', async () => {
    const host = createFakeHost({ pace: 0 });
    let gone = false;
    const openSessionAt: FakeHost['openSessionAt'] = async (id, messageID, limit) => {
      if (gone) throw { code: 'not-found', message: 'There is no such message' };
      return host.openSessionAt(id, messageID, limit);
    };
    const { app } = openWindow({}, { ...host, openSessionAt });
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    await app.select('ses_long', { messageID: userIDs(host, 'ses_long')[20] ?? '' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(true));
    gone = true;
    host.emit({ kind: 'reset', sessionID: 'ses_long' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(false));
    expect(app.selected()).toBe('ses_long');
  });

  test('alone can be tried again', async () => {
    const { app, host } = await opened();
    const clock = createClock();
    const write = createWriter('ses_docs', clock);
    const error = { name: 'UnknownError' as const, data: { message: 'No' } };
    const turn = (text: string): MessageView[] => {
      const asked = write.user(text);
      return [asked, { info: assistant('ses_docs', asked.info.id, clock, { error }), parts: [] }];
    };
    const all = Array.from({ length: 40 }, (_, index) => turn(`Prompt ${index}`)).flat();
    host.messages.set('ses_docs', all);
    await app.select('ses_docs', { messageID: all[10]?.info.id ?? '' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(true));
    await screen.findAllByText('Something went wrong');
    expect(screen.queryByTestId('try-again')).toBeNull();
    const last = app.timeline.open()?.messages.at(-1)?.info.id ?? '';
    await app.tryAgain(last);
    expect(host.calls.filter(({ name }) => name === 'revert')).toEqual([]);
  });
});

describe('a pending revert', () => {
  /** The first of these prompts and everything after it is reverted; the newest page is open. */
  async function reverted(from: number): Promise<TestWindow & { prompts: string[] }> {
    const window = await opened();
    const prompts = userIDs(window.host, 'ses_long');
    await window.host.revert('ses_long', { kind: 'message', messageID: prompts[from] ?? '' });
    await window.app.select('ses_long');
    return { ...window, prompts };
  }

  test('that begins before the loaded page hides all of it, and what is before it is shown', async () => {
    const { app, prompts } = await reverted(40);
    const visible = () => app.reverted.visible(app.timeline.open()?.messages ?? []);
    const last = () => visible().findLast(({ info }) => info.role === 'user')?.info.id;
    await waitFor(() => expect(last()).toBe(prompts[39]));
    await waitFor(() => expect(drawn().length).toBeGreaterThan(0));
    expect(drawn().filter((id) => prompts.indexOf(id ?? '') >= 40)).toEqual([]);
    expect(screen.getByTestId('reverted')).toBeTruthy();
  });

  test('that begins behind what is on screen hides nothing of it', async () => {
    const { app, prompts } = await reverted(100);
    await app.select('ses_docs');
    await app.select('ses_long', { messageID: prompts[10] ?? '' });
    await waitFor(() => expect(app.timeline.open()?.hasNewer).toBe(true));
    await waitFor(() => expect(drawn().length).toBeGreaterThan(0));
    const messages = app.timeline.open()?.messages ?? [];
    expect(app.reverted.visible(messages)).toEqual(messages);
    expect(screen.queryByTestId('reverted')).toBeNull();
  });

  test('of more than one turn becomes final only after a question', async () => {
    const { app, called } = await reverted(100);
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_long'));
    enter('Go on');
    expect((await screen.findByTestId('make-final-dialog')).textContent).toContain('This deletes 20 reverted turns.');
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(area().value).toBe('Go on'));
    expect(called('discardReverted')).toEqual([]);
    fireEvent.keyDown(area(), { key: 'Enter' });
    fireEvent.click(await screen.findByTestId('make-final'));
    await waitFor(() => expect(called('prompt')).toHaveLength(3));
    // With the prompt, which may use a file of a turn that is deleted.
    const consents = called('prompt').map(([, input]) => (input as PromptInput).discardReverted ?? false);
    expect([consents, called('discardReverted')]).toEqual([[false, false, true], []]);
    await waitFor(() => expect(area().value).toBe(''));
  });

  test('of the last turn becomes final with the next prompt', async () => {
    const { app, called } = await reverted(119);
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_long'));
    enter('Go on');
    await waitFor(() => expect(called('prompt')).toHaveLength(1));
  });
});

describe('under the review of a narrow window', () => {
  const busy: UiUpdate = { kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } } };

  test('a permission cannot be answered unseen, and is pointed out', async () => {
    narrow(900);
    const { app, host, called } = await opened();
    app.review.open();
    host.emit(...sampleRequests('ses_gallery'));
    await waitFor(() => expect(document.querySelector('main')?.inert).toBe(true));
    for (const code of ['Digit1', 'Digit3', 'Digit0']) fireEvent.keyDown(document.body, { code, altKey: true });
    expect([called('answerPermission'), called('dismissQuestion')]).toEqual([[], []]);
    fireEvent.click(screen.getByTestId('review-waiting'));
    await waitFor(() => expect(document.querySelector('main')?.inert).toBe(false));
    fireEvent.keyDown(document.body, { code: 'Digit1', altKey: true });
    await waitFor(() => expect(called('answerPermission')).toEqual([['per_sample', 'once', null]]));
  });

  test('Escape closes the review first, then stops the turn', async () => {
    narrow(900);
    const { app, host, called } = await opened();
    host.emit(busy);
    app.review.open();
    await screen.findByTestId('review');
    fireEvent.keyDown(document.body, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('review')).toBeNull());
    expect(called('abort')).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'Escape' });
    await waitFor(() => expect(called('abort')).toEqual([['ses_gallery']]));
  });

  test('Escape closes the find bar first, wherever the focus is', async () => {
    const { app, host, called } = await opened();
    host.emit(busy);
    app.finder.show();
    await screen.findByTestId('find-bar');
    screen.getByTestId('timeline').focus();
    fireEvent.keyDown(screen.getByTestId('timeline'), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('find-bar')).toBeNull());
    expect(called('abort')).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'Escape' });
    await waitFor(() => expect(called('abort')).toEqual([['ses_gallery']]));
  });

  test('nothing is inert where both fit', async () => {
    narrow(1200);
    const { app } = await opened();
    app.review.open();
    await screen.findByTestId('review');
    expect(document.querySelector('main')?.inert).toBeFalsy();
  });
});

describe('a permission under something else', () => {
  const over = {
    palette: { name: 'palette' },
    settings: { name: 'settings', section: 'appearance' },
    share: { name: 'share', sessionID: 'ses_gallery' },
    picture: { name: 'lightbox', alone: { url: 'data:,', name: 'a' } },
  } as const;

  test.each(Object.entries(over))('is not answered by keys and Escape does not stop the turn: %s', async (_, overlay) => {
    const { app, host, called } = await opened();
    host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } } });
    host.emit(...sampleRequests('ses_gallery'));
    await waitFor(() => expect(app.requests().permissions).toHaveLength(1));
    app.show(overlay);
    await screen.findByRole('dialog');
    for (const code of ['Digit1', 'Digit2', 'Digit3', 'Digit5', 'Digit0']) fireEvent.keyDown(document.body, { code, altKey: true });
    expect([called('answerPermission'), called('dismissQuestion')]).toEqual([[], []]);
    await new Promise((drawn) => setTimeout(drawn));
    expect(app.overlay()).toEqual(overlay);
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
    await waitFor(() => expect(app.overlay()).toBeUndefined());
    expect(called('abort')).toEqual([]);
  });

  test('is not answered by keys while the narrow sidebar lies over it', async () => {
    narrow(600);
    const { host, called } = await opened();
    host.emit(...sampleRequests('ses_gallery'));
    fireEvent.click(await screen.findByTestId('show-sidebar'));
    await waitFor(() => expect(document.querySelector('main')?.inert).toBe(true));
    fireEvent.keyDown(document.body, { code: 'Digit1', altKey: true });
    expect(called('answerPermission')).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'Escape' });
    await waitFor(() => expect(document.querySelector('main')?.inert).toBe(false));
    expect(called('abort')).toEqual([]);
  });
});

describe('queued prompts', () => {
  async function queued(): Promise<TestWindow> {
    const window = await opened({ pace: 60_000 });
    await window.app.create();
    await window.app.send('Show me around');
    await waitFor(() => expect(window.app.busy()).toBe(true));
    for (const text of ['And hurry', 'And be kind']) await window.app.send(text);
    await waitFor(() => expect(screen.getAllByText('Queued')).toHaveLength(2));
    return window;
  }

  test('come back to the composer when the turn is stopped, above what is typed there', async () => {
    const { app } = await queued();
    fireEvent.input(area(), { target: { value: 'Wait' } });
    await app.stop();
    await waitFor(() => expect(area().value).toBe('And hurry\n\nAnd be kind\n\nWait'));
    expect(document.querySelectorAll('.user-message')).toHaveLength(1);
    expect(screen.queryByText('Not sent')).toBeNull();
  });

  test('are marked as not sent when the turn ends without them, and are sent or removed by a click', async () => {
    const { app, host, called } = await queued();
    const id = app.selected() ?? '';
    await host.abort(id);
    const marks = await screen.findAllByText('Not sent');
    expect(marks).toHaveLength(2);
    fireEvent.click(screen.getAllByRole('button', { name: 'Remove' })[0] as HTMLElement);
    await waitFor(() => expect(screen.getAllByText('Not sent')).toHaveLength(1));
    fireEvent.click(within(document.querySelector('.unsent') as HTMLElement).getByRole('button', { name: 'Send' }));
    await waitFor(() => expect(screen.queryByText('Not sent')).toBeNull());
    expect([called('removeQueued').length, called('sendUnsent').length]).toEqual([1, 1]);
  });
});

describe('a session of another project', () => {
  test('that is not listed yet takes the window to its project', async () => {
    const { app, host } = await opened();
    expect(app.sessions.get('ses_moons')).toBeUndefined();
    host.clickNotification('ses_moons');
    await waitFor(() => expect(app.project()?.id).toBe('prj_orrery'));
    expect(document.querySelector('.title-bar-place')?.textContent).toBe('orrery');
  });

  test('that is a fork in its own worktree shows that folder', async () => {
    const { app } = await opened();
    await app.fork(null, true);
    await waitFor(() => expect(document.querySelector('.title-bar-place')?.textContent).toBe('lantern-quiet-lamp'));
  });

  test('that another process made appears when the window gets the focus', async () => {
    const { app, host } = await opened();
    const made = { ...host.sessions.get('ses_docs')!, id: 'ses_other', title: 'Made elsewhere' };
    host.sessions.set(made.id, made);
    fireEvent.focus(window);
    await waitFor(() => expect(app.sessions.get('ses_other')?.title).toBe('Made elsewhere'));
    await screen.findByText('Made elsewhere');
  });
});

describe('what fails', () => {
  test('while a project is listed is tried again after growing pauses, and said once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: false });
    const host = createFakeHost({ pace: 0 });
    let tries = 0;
    const listSessions = async () => {
      tries += 1;
      throw { code: 'storage', message: 'The disk is gone' };
    };
    const window = openWindow({}, { ...host, listSessions } as FakeHost);
    for (let turn = 0; turn < 200 && tries === 0; turn += 1) await Promise.resolve();
    for (const [pause, count] of [[999, 1], [1, 2], [1999, 2], [1, 3], [4000, 4]] as const) {
      await vi.advanceTimersByTimeAsync(pause);
      host.emit({ kind: 'event', event: { type: 'session.updated', properties: { info: host.sessions.get('ses_docs')! } } });
      expect(tries).toBe(count);
    }
    expect(window.app.toasts.list().map(({ text }) => text)).toEqual(['The disk is gone']);
  });

  test('while a session is opened again is tried again after a pause, until it works', async () => {
    const host = createFakeHost({ pace: 0 });
    let failing = false;
    let tries = 0;
    const openSession: FakeHost['openSession'] = async (id, limit) => {
      tries += 1;
      if (failing) throw { code: 'storage', message: 'The disk is gone' };
      return host.openSession(id, limit);
    };
    const { app } = openWindow({}, { ...host, openSession });
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    [failing, tries] = [true, 0];
    host.emit({ kind: 'reset', sessionID: 'ses_gallery' });
    for (const [pause, count] of [[0, 1], [999, 1], [1, 2], [1999, 2]] as const) {
      await vi.advanceTimersByTimeAsync(pause);
      expect(tries).toBe(count);
    }
    failing = false;
    await vi.advanceTimersByTimeAsync(1);
    expect([tries, app.openError(), app.timeline.open()?.stale]).toEqual([3, undefined, false]);
  });

  test('of a first prompt leaves its text in the composer', async () => {
    const host = createFakeHost({ pace: 0 });
    const prompt = async () => {
      throw { code: 'failed', message: 'No model' };
    };
    const { app } = openWindow({}, { ...host, prompt } as FakeHost);
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    app.leave();
    await waitFor(() => expect(app.selected()).toBeUndefined());
    enter('Write a manual');
    await waitFor(() => expect(app.toasts.list()).toHaveLength(1));
    await waitFor(() => expect(area().value).toBe('Write a manual'));
    expect(app.selected()).toBeDefined();
  });
});

describe('the review', () => {
  test('does not open itself because an older page with changes is loaded', async () => {
    const { app, host } = await opened();
    const write = createWriter('ses_docs', createClock());
    const asked = write.user('Change it');
    const time = { created: 1, completed: 2 };
    const changed = write.answer(asked.info.id, { time, finish: 'stop' }, (id) =>
      write.part(id, 'patch', { hash: 'a', files: ['src/lamp.ts'] }),
    );
    const talk = Array.from({ length: 40 }, (_, index) => write.user(`Question ${index}`));
    host.messages.set('ses_docs', [asked, changed, ...talk]);
    await app.select('ses_docs');
    await app.loadOlder();
    await waitFor(() => expect(app.timeline.open()?.hasOlder).toBe(false));
    expect(app.review.shown()).toBe(false);
  });
});

describe('what is typed', () => {
  test('right after a new session was asked for belongs to it', async () => {
    const host = createFakeHost({ pace: 0 });
    let answer = () => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const createSession: FakeHost['createSession'] = async (id) => {
      await asked;
      return host.createSession(id);
    };
    const { app } = openWindow({}, { ...host, createSession });
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const made = app.create();
    fireEvent.input(area(), { target: { value: 'Begin' } });
    answer();
    const id = (await made)?.id ?? '';
    expect([app.drafts.get('ses_gallery').text, app.drafts.get(id).text]).toEqual(['', 'Begin']);
    await waitFor(() => expect(area().value).toBe('Begin'));
  });

  test('after a mention list was shown decides what Enter picks', async () => {
    const host = createFakeHost({ pace: 0 });
    let answer = () => {};
    const findMentions: FakeHost['findMentions'] = async (project, session, query, limit) => {
      if (query === 'src/wick') await new Promise<void>((resolve) => (answer = resolve));
      return host.findMentions(project, session, query, limit);
    };
    const { called } = openWindow({}, { ...host, findMentions });
    await waitFor(() => expect(area().disabled).toBe(false));
    const type = (text: string) => {
      area().value = text;
      area().setSelectionRange(text.length, text.length);
      fireEvent.input(area());
    };
    type('@src');
    await waitFor(() => expect(screen.getAllByRole('option').length).toBeGreaterThan(1));
    type('@src/wick');
    fireEvent.keyDown(area(), { key: 'Enter' });
    expect(area().value).toBe('@src/wick');
    answer();
    await waitFor(() => expect(area().value).toBe('@src/wick.ts '));
    expect(called('prompt')).toEqual([]);
  });

  test('in a menu is not taken by a composer that gets ready late', async () => {
    const { app } = await opened();
    const menu = document.createElement('div');
    menu.setAttribute('role', 'menu');
    menu.tabIndex = 0;
    document.body.append(menu);
    menu.focus();
    await app.select('ses_docs');
    expect(document.activeElement).toBe(menu);
    menu.remove();
    await app.select('ses_gallery');
    expect(document.activeElement).toBe(area());
  });
});
