import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openWindow } from '../testing/window';

// The same action twice within a moment counts as one key press, received by the menu bar and the page.
beforeEach(() => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
});
afterEach(() => vi.restoreAllMocks());

const f6 = (held: object = {}) => fireEvent.keyDown(document.activeElement as Element, { key: 'F6', ...held });
const pane = () => document.activeElement?.closest('.composer-dock, .centre, .review, .sidebar')?.className;

test('F6 goes round the panes, also while a turn runs, and stops nothing', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await screen.findByTestId('timeline');
  window.app.review.open();
  await screen.findByTestId('review');
  const status = { type: 'busy' as const };
  window.host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status } } });
  screen.getByTestId('composer').focus();
  const seen = Array.from({ length: 4 }, () => {
    f6();
    return pane();
  });
  expect(seen).toEqual(['centre', 'review', 'sidebar', 'composer-dock']);
  expect(window.called('abort')).toEqual([]);
});

test('Shift+F6 goes back, and past a pane that is not there', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await screen.findByTestId('timeline');
  screen.getByTestId('composer').focus();
  f6({ shiftKey: true });
  expect(document.activeElement?.closest('.session-row')?.getAttribute('data-session-id')).toBe('ses_gallery');
  f6({ shiftKey: true });
  expect(pane()).toBe('centre');
});

test('the composer describes how to leave it', async () => {
  const window = openWindow();
  await waitFor(() => expect(window.app.agents.list().length).toBeGreaterThan(1));
  const said = screen.getByTestId('composer').getAttribute('aria-description');
  expect(said).toBe('Tab switches agents. F6 leaves the field.');
});
