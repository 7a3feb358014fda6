import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { Session } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';
import { forkTree } from './forks';

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}

const permission = (sessionID: string, id = 'per_1') => ({
  kind: 'event' as const,
  event: {
    type: 'permission.asked' as const,
    properties: { id, sessionID, permission: 'bash', patterns: ['ls'], always: [], metadata: {} },
  },
});

describe('searching all sessions', () => {
  test('shows highlighted matches, and opens them', async () => {
    const window = await ready();
    fireEvent.keyDown(document.body, { key: 'F', ctrlKey: true, shiftKey: true });
    const field = await screen.findByTestId('session-filter');
    await waitFor(() => expect(document.activeElement).toBe(field));
    fireEvent.input(field, { target: { value: 'answer 7.' } });
    const results = await screen.findByTestId('search-results');
    const hit = await within(results).findByRole('button', { name: /answer 7\./ });
    expect(hit.querySelector('mark')?.textContent).toBe('answer');
    fireEvent.click(hit);
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_long'));
    expect(window.app.target()?.messageID).toBe(hit.getAttribute('data-message-id'));
    expect(window.called('openSessionAt')).toHaveLength(1);
  });

  test('says when there are more places than are shown', async () => {
    const { host } = await ready();
    const { search } = host;
    host.search = async (query, limit) => {
      const { hits } = await search('answer 7.', 1);
      const places = Array.from({ length: Number(query.split(' ')[1]) }, (_, n) => ({ ...hits[0]!, partID: `prt_${n}` }));
      return { hits: places.slice(0, limit), indexing: false };
    };
    const field = screen.getByTestId('session-filter');
    fireEvent.input(field, { target: { value: 'all 500' } });
    await screen.findByText('Showing the top 100 results. Add words to narrow them.');
    await screen.findByText('97 more matches');
    fireEvent.input(field, { target: { value: 'all 100' } });
    await waitFor(() => expect(screen.queryByText(/Showing the top/)).toBeNull());
  });

  test('draws what was said as text, never as markup', async () => {
    const window = await ready();
    const all = window.host.messages.get('ses_long') ?? [];
    const part = all[0]?.parts[0]?.part;
    if (part?.type === 'text') part.text = 'wicked <img src=x onerror=alert(1)> thing';
    fireEvent.input(screen.getByTestId('session-filter'), { target: { value: 'wicked' } });
    const results = await screen.findByTestId('search-results');
    await within(results).findByText(/onerror/);
    expect(results.querySelector('img')).toBeNull();
  });

  test('says when there is nothing, and does not ask for a single letter', async () => {
    const window = await ready();
    const field = screen.getByTestId('session-filter');
    fireEvent.input(field, { target: { value: 'q' } });
    expect(screen.queryByTestId('search-results')).toBeNull();
    fireEvent.input(field, { target: { value: 'qqqq' } });
    await screen.findByText('No messages found');
    expect(window.called('search')).toEqual([['qqqq', 101]]);
  });
});

describe('a waiting request', () => {
  test('is in the title, in the badge and on the row, and a shortcut opens it', async () => {
    const window = await ready();
    window.host.emit(permission('ses_docs'));
    await waitFor(() => expect(document.title).toBe('(1) Lathe – Waiting for you'));
    expect(screen.getByTestId('waiting-badge').textContent).toBe('1');
    const row = document.querySelector('[data-session-id="ses_docs"] .session-open');
    expect(row?.textContent).toContain('Waiting for you');
    fireEvent.keyDown(document.body, { key: 'j', ctrlKey: true });
    await waitFor(() => expect(window.app.selected()).toBe('ses_docs'));
    await window.host.answerPermission('per_1', 'once', null);
    await waitFor(() => expect(document.title).toBe('Write the driver manual – Lathe'));
    expect(screen.queryByTestId('waiting-badge')).toBeNull();
  });

  test('in a task counts for the session that started it', async () => {
    const window = await ready();
    const parent = window.host.sessions.get('ses_docs') as Session;
    const info = { ...parent, id: 'ses_child', parentID: 'ses_docs', title: 'A task' };
    window.host.emit({ kind: 'event', event: { type: 'session.created', properties: { info } } }, permission('ses_child'));
    await waitFor(() => expect(window.app.activity.waiting()).toEqual(['ses_docs']));
    expect(document.querySelector('[data-session-id="ses_child"]')).toBeNull();
  });

  test('a click on the notification opens the session', async () => {
    const window = await ready();
    window.host.clickNotification('ses_docs');
    await waitFor(() => expect(window.app.selected()).toBe('ses_docs'));
  });
});

describe('the list', () => {
  test('marks a session that answered in the background, until it is opened', async () => {
    const window = await ready();
    window.host.emit({ kind: 'event', event: { type: 'session.idle', properties: { sessionID: 'ses_docs' } } });
    const row = () => document.querySelector('[data-session-id="ses_docs"]');
    await waitFor(() => expect(row()?.textContent).toContain('Unread'));
    await window.app.select('ses_docs');
    await waitFor(() => expect(row()?.hasAttribute('data-unread')).toBe(false));
  });

  test('holds sessions of the folder whose project has another id by now', async () => {
    const window = await ready();
    const known = window.host.sessions.get('ses_docs') as Session;
    const info = { ...known, id: 'ses_before', projectID: 'prj_of_the_path', title: 'Before the first commit' };
    window.host.emit({ kind: 'event', event: { type: 'session.created', properties: { info } } });
    await waitFor(() => expect(document.querySelector('[data-session-id="ses_before"]')).not.toBeNull());
    await window.app.select('ses_before').catch(() => {});
    expect(window.app.project()?.id).toBe('prj_lantern');
  });
});

describe('forks', () => {
  const session = (id: string, from?: string): Session =>
    ({ id, title: id, ...(from ? { forkedFrom: { sessionID: from } } : {}) }) as unknown as Session;
  const outline = (sessions: Session[]) => forkTree(sessions).map((row) => `${'-'.repeat(row.depth)}${row.session.id}`);

  test('are below their origin, and the tree is placed by its newest session', () => {
    const list = [session('c', 'a'), session('x'), session('a'), session('d', 'c'), session('lone', 'gone')];
    expect(outline(list)).toEqual(['a', '-c', '--d', 'x', 'lone']);
  });

  test('that claim each other are all still listed once', () => {
    expect(outline([session('a', 'b'), session('b', 'a'), session('c', 'c')]).map((row) => row.replace(/-/g, '')).sort()).toEqual(['a', 'b', 'c']);
  });
});
