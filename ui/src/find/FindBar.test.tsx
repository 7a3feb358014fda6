import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';
import { rangesIn } from './marks';

async function opened(sessionID: string): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  if (sessionID !== 'ses_gallery') await window.app.select(sessionID);
  await screen.findByTestId('timeline');
  fireEvent.keyDown(document.body, { key: 'f', ctrlKey: true });
  await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId('find-field')));
  return window;
}

const field = () => screen.getByTestId('find-field');
const type = (words: string) => fireEvent.input(field(), { target: { value: words } });
const says = (text: string) => waitFor(() => expect(screen.getByTestId('find-count').textContent).toBe(text));

describe('find in session', () => {
  test('counts all matches, also in messages that are not loaded, and starts at the newest', async () => {
    const window = await opened('ses_long');
    const loaded = window.app.timeline.open()?.messages.length ?? 0;
    type('module');
    await says('120 of 120');
    expect(loaded).toBeLessThan(120);
    expect(window.app.target()?.sessionID).toBe('ses_long');
  });

  test('moves with Enter and Shift+Enter, wrapping at the ends, and loads what it needs', async () => {
    const window = await opened('ses_long');
    type('module');
    await says('120 of 120');
    fireEvent.keyDown(field(), { key: 'Enter' });
    await says('1 of 120');
    const first = window.host.messages.get('ses_long')?.[0]?.info.id;
    await waitFor(() => expect(window.app.timeline.open()?.messages[0]?.info.id).toBe(first));
    expect(window.app.target()?.messageID).toBe(first);
    fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true });
    await says('120 of 120');
  });

  test('expands the card with the match', async () => {
    const window = await opened('ses_gallery');
    const folded = document.querySelector('[data-part=tool][data-status=completed]');
    expect(folded?.querySelector('.card-body')).toBeNull();
    const partID = folded?.getAttribute('data-part-id') ?? '';
    const messageID = folded?.closest('[data-message-id]')?.getAttribute('data-message-id') ?? '';
    await window.app.reveal({ messageID, partID });
    expect(folded?.querySelector('.card-body')).toBeTruthy();
  });

  test('a match that was overtaken by another one is not scrolled to', async () => {
    const window = await opened('ses_long');
    const all = window.host.messages.get('ses_long') ?? [];
    const places = [all[0], all[40]].map((message) => message?.info.id ?? '');
    const { openSessionAt } = window.host;
    const answers: (() => void)[] = [];
    window.host.openSessionAt = async (...asked) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return openSessionAt(...asked);
    };
    const led = places.map((messageID) => window.app.reveal({ messageID }));
    for (const answer of answers.reverse()) answer();
    await Promise.all(led);
    expect(window.app.target()?.messageID).toBe(places[1]);
    expect(window.app.timeline.open()?.messages.some(({ info }) => info.id === places[1])).toBe(true);
  });

  test('says when there is nothing', async () => {
    await opened('ses_long');
    type('no such thing');
    await says('No matches');
  });

  test('Escape closes it, gives the focus back and stops no turn', async () => {
    const window = await opened('ses_long');
    fireEvent.keyDown(field(), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('find-bar')).toBeNull());
    expect(window.called('abort')).toEqual([]);
  });

  test('closes with its session', async () => {
    const window = await opened('ses_long');
    type('module');
    await says('120 of 120');
    await window.app.select('ses_docs');
    await waitFor(() => expect(screen.queryByTestId('find-bar')).toBeNull());
  });
});

describe('a session opened somewhere inside', () => {
  test('ignores updates of later messages, and goes back to the end', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const all = window.host.messages.get('ses_long') ?? [];
    const place = all[10]?.info.id ?? '';
    await window.app.select('ses_long', { messageID: place });
    expect(window.app.timeline.open()?.messages.some((message) => message.info.id === place)).toBe(true);
    const before = window.app.timeline.open()?.messages.length;
    const later = { ...all.at(-1)?.info, id: 'msg_later', time: { created: Date.now() + 1e6 } };
    window.host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info: later as never } } });
    expect(window.app.timeline.open()?.messages.length).toBe(before);
    await window.app.toLatest();
    expect(window.app.timeline.open()?.hasNewer).toBe(false);
    expect(window.app.timeline.open()?.messages.at(-1)?.info.id).toBe('msg_later');
  });

  test('loads newer pages until it has met the end', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const all = window.host.messages.get('ses_long') ?? [];
    await window.app.select('ses_long', { messageID: all[200]?.info.id ?? '' });
    while (window.app.timeline.open()?.hasNewer) await window.app.loadNewer();
    const ids = window.app.timeline.open()?.messages.map((message) => message.info.id) ?? [];
    expect(ids).toEqual(all.slice(-ids.length).map((message) => message.info.id));
  });
});

test('marks span inline elements, whatever the case, and leave buttons out', () => {
  const root = document.createElement('div');
  root.innerHTML = '<p>The <b>Tim</b>er and <i>TIMER</i>s</p><button>timer</button>';
  const found = rangesIn(root, 'timer').map((range) => range.toString());
  expect(found).toEqual(['Timer', 'TIMER']);
  expect(rangesIn(root, '')).toEqual([]);
});
