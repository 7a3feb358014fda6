import { waitFor } from '@solidjs/testing-library';
import { createSignal, For } from 'solid-js';
import { expect, test } from 'vitest';
import type { MessageView, PartView } from '../protocol';
import { show } from '../testing/window';
import { PartSlot } from './PartList';

const error = { name: 'APIError' as const, data: { message: 'Overloaded', statusCode: 529, isRetryable: true } };

/** Attempts are counted from 1 in each answer. */
function failedIn(message: MessageView, id: string): PartView {
  const { id: messageID, sessionID } = message.info;
  return { part: { type: 'retry', id, sessionID, messageID, attempt: 1, error, time: { created: Date.now() } } };
}

test('only the newest of several failed attempts counts down', async () => {
  const [shown, setShown] = createSignal<readonly [MessageView, PartView][]>([]);
  const { app, host, container } = show(() => (
    <For each={shown()}>{([message, view]) => <PartSlot view={view} message={message.info} />}</For>
  ));
  await app.start();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const answers = app.timeline.open()?.messages.filter(({ info }) => info.role === 'assistant').slice(-2) ?? [];
  const failed = answers.map((message, at): [MessageView, PartView] => [
    message,
    failedIn(message, `prt_ffffffffffff0000000000000${at}`),
  ]);
  for (const [, part] of failed) host.emit({ kind: 'part', part });
  const status = { type: 'retry' as const, attempt: 1, message: 'Overloaded', next: Date.now() + 60_000 };
  host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status } } });
  await waitFor(() => expect(app.status().type).toBe('retry'));
  setShown(failed);

  const counting = [...container.querySelectorAll('[data-testid=retry-now]')].map((one) => one.closest('.part'));
  expect(counting.map((one) => one?.getAttribute('data-part-id'))).toEqual([failed[1]?.[1].part.id]);
});
