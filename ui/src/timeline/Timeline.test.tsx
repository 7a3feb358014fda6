import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { TOUR } from '../host/fake/answer';
import type { MessageError, UiUpdate } from '../protocol';
import { openWindow, show } from '../testing/window';
import { MessageFailure } from './MessageFailure';

const turns = () => [...document.querySelectorAll<HTMLElement>('.session-turn')];

describe('the timeline', () => {
  test('draws the open session turn by turn, with the hooks of its elements', async () => {
    openWindow();
    await waitFor(() => expect(turns().length).toBeGreaterThan(0));
    const timeline = screen.getByTestId('timeline');
    expect(timeline.dataset.sessionId).toBe('ses_gallery');
    expect(turns()[0]?.querySelector('.user-message')?.getAttribute('data-message-id')).toMatch(/^msg_/);
    expect(turns()[0]?.querySelectorAll('.assistant-message')).toHaveLength(3);
    expect(turns()[0]?.querySelector('[data-tool="grep"][data-status="completed"]')).toBeTruthy();
  });

  test('holds only the rows near the viewport', async () => {
    const { app } = openWindow();
    await waitFor(() => expect(app.selected()).toBe('ses_gallery'));
    await app.select('ses_long');
    await waitFor(() => expect(turns().length).toBeGreaterThan(0));
    expect(turns().length).toBeLessThan(app.timeline.open()?.messages.length ?? 0);
  });

  test('streams an answer into view and says when it is finished', async () => {
    const { app } = openWindow();
    await waitFor(() => expect(app.selected()).toBe('ses_gallery'));
    await app.create();
    await app.send('Show me around');
    await waitFor(() => expect(app.busy()).toBe(true));
    await waitFor(() => expect(app.busy()).toBe(false));
    const answer = document.querySelector('.assistant-message');
    expect(answer?.querySelector('[data-part="text"]')?.textContent).toContain('Here is how a turn looks.');
    expect(answer?.querySelector('[data-part="reasoning"]')?.textContent).toContain('Planning the tour');
    expect(screen.getByRole('status').textContent).toBe('Finished');
    const said = app.timeline
      .open()
      ?.messages.at(-1)
      ?.parts.find((view) => view.part.type === 'text')?.part;
    expect(said).toMatchObject({ text: TOUR });
  });

  test('a stopped answer says so quietly', async () => {
    const { app } = openWindow({ pace: 5 });
    await waitFor(() => expect(app.selected()).toBe('ses_gallery'));
    await app.create();
    await app.send('Show me around');
    await waitFor(() => expect(document.querySelector('.assistant-message')).toBeTruthy());
    fireEvent.keyDown(document.body, { key: 'Escape' });
    await waitFor(() => expect(document.querySelector('.answer-stopped')?.textContent).toBe('Stopped'));
    expect(app.busy()).toBe(false);
    expect(screen.queryByTestId('toast')).toBeNull();
  });

  test('a session that missed updates is opened again', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
    const before = window.called('openSession').length;
    window.host.emit({ kind: 'reset', sessionID: 'ses_gallery' });
    await waitFor(() => expect(window.called('openSession')).toHaveLength(before + 1));
    await waitFor(() => expect(window.app.timeline.open()?.stale).toBe(false));
  });

  test('a waiting retry counts down', async () => {
    const { host, app } = openWindow();
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    const status = { type: 'retry' as const, attempt: 2, message: 'Overloaded', next: Date.now() + 9500 };
    host.emit({
      kind: 'event',
      event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status } },
    });
    await screen.findByText('Attempt 2 failed. Retrying in 10 s');
  });
});

describe('failures of an answer', () => {
  const cases: [MessageError, string][] = [
    [
      { name: 'ProviderAuthError', data: { providerID: 'anthropic', message: 'Bad key' } },
      'anthropic rejected the API keyBad keyEnter API key…',
    ],
    [
      { name: 'APIError', data: { message: 'Broken', statusCode: 500, isRetryable: true } },
      'Provider error 500Broken',
    ],
    [
      { name: 'MessageOutputLengthError', data: {} },
      'Reached the model’s output limitAsk it to continue or to be brief.',
    ],
    [{ name: 'UnknownError', data: { message: 'Odd' } }, 'Something went wrongOdd'],
    [{ name: 'NewerError', data: {} } as never, 'Something went wrongNewerError'],
  ];
  test.each(cases)('%o is drawn where it happened', (error, text) => {
    show(() => <MessageFailure error={error} />);
    expect(screen.getByRole('note').textContent).toBe(text);
  });

  test('a stop by the user is not one of them', () => {
    show(() => <MessageFailure error={{ name: 'MessageAbortedError', data: { message: 'x' } }} />);
    expect(screen.queryByRole('note')).toBeNull();
  });
});

describe('the centre', () => {
  const state = () => document.querySelector('.empty')?.getAttribute('data-state');

  test('without a project: how to open one', async () => {
    const window = openWindow({ empty: true });
    fireEvent.click(await screen.findByTestId('welcome-open-folder'));
    await waitFor(() => expect(state()).toBe('empty-session'));
    expect(window.called('pickProject')).toHaveLength(1);
  });

  test('in an empty session: suggestions that are sent with a click', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.selected()).toBe('ses_gallery'));
    await window.app.select('ses_empty');
    fireEvent.click(await screen.findByText('Take the tour'));
    await waitFor(() => expect(window.called('prompt')[0]?.[0]).toBe('ses_empty'));
  });

  test('in an empty session with a real model: no tour, which only the demo knows', async () => {
    const window = openWindow({ connected: true });
    await waitFor(() => expect(window.app.models.connected()).toBe(true));
    await window.app.select('ses_empty');
    await screen.findByText('Explain this project');
    await waitFor(() => expect(screen.queryByText('Take the tour')).toBeNull());
  });

  test('when a session cannot be opened: why, and a second try', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
    const { openSession } = window.host;
    window.host.openSession = () => Promise.reject({ code: 'busy', message: 'Another program holds it' });
    await window.app.select('ses_docs');
    expect(state()).toBe('open-failed');
    expect(screen.getByRole('alert').textContent).toBe('Another program holds it');
    window.host.openSession = openSession;
    fireEvent.click(screen.getByText('Retry'));
    await waitFor(() => expect(state()).toBe('empty-session'));
  });

  test('a banner for a store that cannot write, while it cannot', async () => {
    const { host } = openWindow();
    await waitFor(() => expect(turns().length).toBeGreaterThan(0));
    const full: UiUpdate = { kind: 'store', problem: 'No space left on the disk' };
    host.emit(full);
    expect(screen.getByRole('alert').textContent).toContain('No space left on the disk');
    host.emit({ kind: 'store', problem: null });
    expect(screen.queryByText(/No space left/)).toBeNull();
  });

  test('a banner for stored files that could not be read', async () => {
    const window = openWindow();
    await waitFor(() => expect(turns().length).toBeGreaterThan(0));
    const { openSession } = window.host;
    window.host.openSession = async (id, limit) => ({
      ...(await openSession(id, limit)),
      damaged: [{ key: 'part/msg_1/prt_1', reason: 'cut off' }],
    });
    await window.app.select('ses_long');
    expect(screen.getByText(/1 damaged file in this session isn’t shown/)).toBeTruthy();
  });
});
