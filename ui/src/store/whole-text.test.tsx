/** A prompt of megabytes is used whole, although the page has only its beginning. */
import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test, vi } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import { en } from '../i18n/en';
import type { MessageView } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const WHOLE = `The beginning ${'and so on '.repeat(200)}`;
const area = () => screen.getByTestId('composer') as HTMLTextAreaElement;

/** A session with one prompt that is cut, which `answers` follow. */
async function opened(answers: (asked: MessageView) => MessageView[] = () => [], clock = createClock()): Promise<TestWindow & { prompt: string }> {
  const window = openWindow();
  const { app, host } = window;
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const asked = createWriter('ses_docs', clock).user('The beginning…');
  const cut = { ...asked, parts: asked.parts.map((view) => ({ ...view, cut: true })) };
  host.messages.set('ses_docs', [cut, ...answers(cut)]);
  host.partText = async (sessionID, messageID) => {
    if (sessionID !== 'ses_docs' || messageID !== asked.info.id) throw { code: 'failed', message: 'another part' };
    return WHOLE;
  };
  await app.select('ses_docs');
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_docs'));
  return { ...window, prompt: asked.info.id };
}

test('when it is edited', async () => {
  const { app } = await opened();
  void app.editing.begin(app.timeline.open()?.messages[0] as MessageView);
  await waitFor(() => expect(area().value).toBe(WHOLE));
});

test('when it is the next one of a fork', async () => {
  const { app, prompt } = await opened();
  const made = await app.fork(prompt, false);
  expect(app.drafts.get(made?.id ?? '').text).toBe(WHOLE);
});

test('when its turn is tried again', async () => {
  const clock = createClock();
  const error = { name: 'UnknownError' as const, data: { message: 'No' } };
  const failed = (asked: MessageView) => ({ info: assistant('ses_docs', asked.info.id, clock, { error }), parts: [] });
  const { app, called } = await opened((asked) => [failed(asked)], clock);
  await app.tryAgain(app.timeline.open()?.messages[1]?.info.id ?? '');
  expect(called('prompt').map(([, input]) => input)).toMatchObject([{ text: WHOLE }]);
});

test('when it comes back from the queue, or is edited there', async () => {
  const { app, host, prompt } = await opened();
  const removeQueued = vi.fn(async () => {});
  host.removeQueued = removeQueued;
  host.emit(
    { kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_docs', status: { type: 'busy' } } } },
    { kind: 'queue', sessionID: 'ses_docs', messages: [prompt] },
  );
  fireEvent.click(await screen.findByRole('button', { name: en.timeline.editQueued }));
  const field = (await screen.findByRole('textbox', { name: en.timeline.queuedText })) as HTMLTextAreaElement;
  expect(field.value).toBe(WHOLE);
  fireEvent.keyDown(field, { key: 'Escape' });

  await app.stop();
  await waitFor(() => expect(app.drafts.get('ses_docs').text).toBe(WHOLE));
  expect(removeQueued.mock.calls).toEqual([['ses_docs', prompt]]);
});
