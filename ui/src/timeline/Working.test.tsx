import { waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { openWindow } from '../testing/window';

const counting = () => document.querySelector('.working-retry');

test('a retry counts down below the timeline, unless the failed attempt is shown with its own countdown', async () => {
  const { app, host } = openWindow();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const status = { type: 'retry' as const, attempt: 1, message: 'Overloaded', next: Date.now() + 60_000 };
  host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status } } });
  await waitFor(() => expect(counting()?.textContent).toContain('Attempt 1 failed'));

  const messageID = app.timeline.open()?.messages.at(-1)?.info.id ?? '';
  const ids = { id: 'prt_ffffffffffff00000000000008', sessionID: 'ses_gallery', messageID };
  const error = { name: 'APIError' as const, data: { message: 'Overloaded', statusCode: 529, isRetryable: true } };
  host.emit({ kind: 'part', part: { part: { type: 'retry', ...ids, attempt: 1, error, time: { created: Date.now() } } } });
  await waitFor(() => expect(counting()).toBeNull());
  expect(document.querySelector('.retry-line [data-testid=retry-now]')).not.toBeNull();
});
