/** What a person wrote is in the composer, on the disk or with the core, whatever happens in between. */
import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import type { Host } from '../host/host';
import type { MessageView } from '../protocol';
import { openWindow, type TestWindow } from './window';

const area = () => screen.getByTestId('composer') as HTMLTextAreaElement;
const type = (text: string) => fireEvent.input(area(), { target: { value: text } });
const enter = (text: string) => {
  type(text);
  fireEvent.keyDown(area(), { key: 'Enter' });
};

async function opened(replaced: Partial<Host> = {}, pace = 0): Promise<TestWindow> {
  const host = createFakeHost({ pace });
  const window = openWindow({}, Object.assign(host, replaced) as FakeHost);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}

/** A session whose turn runs, with a prompt that waits. */
async function queued(replaced: Partial<Host> = {}): Promise<TestWindow> {
  const window = await opened(replaced, 60_000);
  await window.app.create();
  await window.app.send('Show me around');
  await waitFor(() => expect(window.app.busy()).toBe(true));
  await window.app.send('And hurry');
  await waitFor(() => expect(screen.getAllByText('Queued')).toHaveLength(1));
  return window;
}

const never = () => new Promise<never>(() => {});

test('a queued prompt is in the composer before the turn has stopped', async () => {
  const { app } = await queued({ abort: never });
  void app.stop();
  await waitFor(() => expect(area().value).toBe('And hurry'));
});

test('a queued prompt with a pasted picture stays, because the picture is stored with it', async () => {
  const { app, host, called } = await queued();
  const id = app.selected() ?? '';
  const message = host.messages.get(id)?.at(-1) as MessageView;
  const { info } = message;
  const url = `attachment://localhost/${id}/${info.id}/prt_picture`;
  const part = { id: 'prt_picture', sessionID: id, messageID: info.id, type: 'file' as const, mime: 'image/png', url };
  const picture = { part } as MessageView['parts'][number];
  host.messages.get(id)?.splice(-1, 1, { ...message, parts: [...message.parts, picture] });
  await app.select('ses_docs');
  await app.select(id);
  await waitFor(() => expect(screen.getAllByText('Queued')).toHaveLength(1));
  await app.stop();
  expect([called('removeQueued'), area().value]).toEqual([[], '']);
  await screen.findByText('Not sent');
});

test('a prompt that is refused late is above what was typed meanwhile', async () => {
  let refuse = () => {};
  const prompt = () => new Promise<never>((_, reject) => (refuse = () => reject({ code: 'failed', message: 'No model' })));
  const { app } = await opened({ prompt });
  enter('Write a manual');
  await waitFor(() => expect(area().value).toBe(''));
  type('and');
  refuse();
  await waitFor(() => expect(app.toasts.list()).toHaveLength(1));
  await waitFor(() => expect(area().value).toBe('Write a manual\n\nand'));
});

test('a draft stays on the disk until the core has taken the prompt', async () => {
  let take = () => {};
  const prompt = () => new Promise<string>((taken) => (take = () => taken('msg_taken')));
  const { called } = await opened({ prompt });
  const stored = () => called('keepDraft').at(-1);
  enter('Write a manual');
  await waitFor(() => expect(area().value).toBe(''));
  expect(stored()).toEqual(['ses_gallery', { text: 'Write a manual', attachments: [], symbols: [] }]);
  take();
  await waitFor(() => expect(stored()).toEqual(['ses_gallery', null]));
});

test('a question about reverted turns that another dialog replaces is a no, and the prompt is back', async () => {
  const { app, host } = await opened();
  const prompts = (host.messages.get('ses_long') ?? []).filter(({ info }) => info.role === 'user');
  await host.revert('ses_long', { kind: 'message', messageID: prompts[100]?.info.id ?? '', keepFiles: true });
  await app.select('ses_long');
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_long'));
  enter('Go on');
  await screen.findByTestId('make-final-dialog');
  app.show({ name: 'settings', section: 'appearance' });
  await waitFor(() => expect(area().value).toBe('Go on'));
});
