import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import type { MessageView } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

interface Held {
  readonly window: TestWindow;
  readonly area: HTMLTextAreaElement;
  readonly first: MessageView;
  /** Lets the pending revert continue, or fail. */
  settle(how?: 'fails'): void;
}

/** A window with a slow revert. */
async function slow(): Promise<Held> {
  const window = openWindow();
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const { revert } = window.host;
  let settle!: Held['settle'];
  const held = new Promise<void>((resolve, reject) => {
    settle = (how) => (how ? reject({ code: 'failed', message: 'It is being worked on' }) : resolve());
  });
  window.host.revert = (id, target) => held.then(() => revert(id, target));
  return { window, area, first: window.app.timeline.open()?.messages[0] as MessageView, settle };
}

const write = (area: HTMLElement, value: string) => fireEvent.input(area, { target: { value } });
const editing = () => screen.queryByTestId('editing');

async function rewritten({ window, area, first }: Held, text: string): Promise<void> {
  window.app.editing.begin(first);
  await screen.findByTestId('editing');
  write(area, text);
  fireEvent.keyDown(area, { key: 'Enter' });
}

describe('a prompt that is sent again', () => {
  test('goes to its own session, wherever the person goes in the meantime', async () => {
    const held = await slow();
    await rewritten(held, 'It flickers.');
    await held.window.app.select('ses_docs');
    held.settle();
    await waitFor(() => expect(held.window.called('prompt')).toHaveLength(1));
    expect(held.window.called('prompt')[0]).toMatchObject(['ses_gallery', { text: 'It flickers.' }]);
    expect(held.window.app.selected()).toBe('ses_docs');
  });

  test('keeps the text that is typed while it is being sent', async () => {
    const held = await slow();
    await rewritten(held, 'It flickers.');
    expect(editing()).toBeNull();
    write(held.area, 'and then');
    held.settle();
    await waitFor(() => expect(held.window.called('prompt')).toHaveLength(1));
    expect(held.area.value).toBe('and then');
    held.window.app.editing.begin(held.first);
    await waitFor(() => expect(held.area.value).toContain('The reading lamp flickers'));
  });

  test('is back in the field unchanged if the revert failed', async () => {
    const held = await slow();
    await rewritten(held, 'It flickers.');
    held.settle('fails');
    await screen.findByTestId('editing');
    await waitFor(() => expect(held.area.value).toBe('It flickers.'));
    expect(held.window.called('prompt')).toEqual([]);
  });

  test('that failed does not replace text that was typed in the meantime', async () => {
    const held = await slow();
    await rewritten(held, 'It flickers.');
    write(held.area, 'something else');
    held.settle('fails');
    await screen.findByTestId('toast');
    await waitFor(() => expect(held.window.app.drafts.get(`edit:${held.first.info.id}`).text).toBe('It flickers.'));
    expect([held.area.value, editing()]).toEqual(['something else', null]);
    held.window.app.editing.begin(held.first);
    await waitFor(() => expect(held.area.value).toBe('It flickers.'));
  });
});

test('an edited prompt that is left with Escape is as it was when it is edited again', async () => {
  const { window, area, first } = await slow();
  window.app.editing.begin(first);
  await screen.findByTestId('editing');
  write(area, 'half of it');
  fireEvent.keyDown(area, { key: 'Escape' });
  await waitFor(() => expect(editing()).toBeNull());
  expect(area.value).toBe('');
  window.app.editing.begin(first);
  await waitFor(() => expect(area.value).toBe('half of it'));
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  window.app.editing.begin(first);
  await waitFor(() => expect(area.value).toContain('The reading lamp flickers'));
});

describe('while a prompt is edited', () => {
  test('asking to try a tool again reverts nothing, and the edit stays', async () => {
    const { window, area, first } = await slow();
    window.app.editing.begin(first);
    await screen.findByTestId('editing');
    write(area, 'half of it');
    expect(await window.app.send('Try it again.')).toBe(true);
    expect(window.called('revert')).toEqual([]);
    expect(window.called('prompt')).toMatchObject([['ses_gallery', { text: 'Try it again.' }]]);
    expect([area.value, editing() !== null]).toEqual(['half of it', true]);
  });

  test('a failed answer that is tried again reverts its own prompt only', async () => {
    const held = await slow();
    const { window } = held;
    const clock = createClock();
    const [one, two] = ['One', 'Two'].map((text) => createWriter('ses_docs', clock).user(text)) as [MessageView, MessageView];
    const error = { name: 'UnknownError' as const, data: { message: 'No' } };
    const failed = assistant('ses_docs', two.info.id, clock, { error });
    window.host.messages.set('ses_docs', [one, two, { info: failed, parts: [] }]);
    await window.app.select('ses_docs');
    window.app.editing.begin(one);
    const trying = window.app.tryAgain(failed.id);
    await window.app.select('ses_gallery');
    held.settle();
    await trying;
    expect(window.called('revert').map(([id, target]) => [id, target])).toEqual([
      ['ses_docs', { kind: 'message', messageID: two.info.id, keepFiles: true }],
    ]);
    expect(window.called('prompt')).toMatchObject([['ses_docs', { text: 'Two' }]]);
  });
});
