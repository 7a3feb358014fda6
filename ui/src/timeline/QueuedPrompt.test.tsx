import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FilePart } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

/** A running turn with one more prompt waiting behind it. */
async function withQueued() {
  const window = openWindow({ pace: 60_000 });
  await waitFor(() => expect(window.app.selected()).toBe('ses_gallery'));
  await window.app.create();
  await window.app.send('Show me around');
  await waitFor(() => expect(window.app.busy()).toBe(true));
  await window.app.send('And hurry');
  await screen.findByText('Queued');
  return window;
}

describe('a prompt sent while the session is busy', () => {
  test('says that it waits', async () => {
    const { app } = await withQueued();
    const prompt = document.querySelector('.user-message[data-queued]');
    expect(prompt?.textContent).toContain('And hurry');
    expect(app.timeline.open()?.queued).toEqual([prompt?.getAttribute('data-message-id')]);
  });

  const queuedTexts = () =>
    [...document.querySelectorAll('.user-message[data-queued] .markdown')].map((one) => one.textContent?.trim());

  test('can be moved before another one', async () => {
    const { app, called } = await withQueued();
    await app.send('And be kind');
    await waitFor(() => expect(queuedTexts()).toEqual(['And hurry', 'And be kind']));
    // The first has nothing above it.
    const up = screen.getAllByRole('button', { name: 'Move up' });
    expect(up).toHaveLength(1);
    fireEvent.click(up[0] as HTMLElement);
    await waitFor(() => expect(queuedTexts()).toEqual(['And be kind', 'And hurry']));
    expect(called('moveQueuedUp')).toHaveLength(1);
  });

  test('can be sent at once: the turn is stopped, and the others wait for the next one', async () => {
    const { app, called } = await withQueued();
    await app.send('And be kind');
    await waitFor(() => expect(queuedTexts()).toEqual(['And hurry', 'And be kind']));
    const second = app.timeline.open()?.queued[1];
    fireEvent.click(screen.getAllByRole('button', { name: 'Send now' })[1] as HTMLElement);
    // One call: between two of them a step may take the prompt up.
    await waitFor(() => expect(called('sendQueuedNow')).toEqual([[app.selected(), second]]));
    await waitFor(() => expect(queuedTexts()).toEqual([]));
    expect(called('abort')).toEqual([]);
  });

  test('can be changed', async () => {
    const { called } = await withQueued();
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    const field = screen.getByRole('textbox', { name: 'Text of the queued prompt' }) as HTMLTextAreaElement;
    expect(field.value).toBe('And hurry');
    expect(document.activeElement).toBe(field);
    fireEvent.input(field, { target: { value: 'Take your time' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => expect(document.querySelector('[data-queued]')?.textContent).toContain('Take your time'));
    expect(called('editQueued')).toHaveLength(1);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Edit queued prompt' }));
  });

  /** What was attached, as it arrives from the core. */
  const attach = ({ host, app }: TestWindow, part: Omit<FilePart, 'id' | 'sessionID' | 'messageID'>) => {
    const { sessionID, queued } = app.timeline.open()!;
    const ids = { id: 'prt_ffffffffffff00000000000009', sessionID, messageID: queued[0] ?? '' };
    host.emit({ kind: 'part', part: { part: { type: 'file', ...ids, ...part } } });
  };
  const picture = { mime: 'image/png', filename: 'lamp.png', url: 'attachment://localhost/ses/msg/prt' };
  const edited = async (text: string) => {
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    const field = screen.getByRole('textbox', { name: 'Text of the queued prompt' });
    fireEvent.input(field, { target: { value: text } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => expect(document.querySelector('[data-queued]')?.textContent).toContain(text));
  };

  test('shows its attachments while it is edited, and keeps them', async () => {
    const window = await withQueued();
    attach(window, picture);
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    expect(document.querySelector('.queued-files')?.textContent).toBe('lamp.png');
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Text of the queued prompt' }), { key: 'Escape' });
    await edited('And hurry up');
    expect(window.called('editQueued')).toHaveLength(1);
    expect(document.querySelector('[data-queued]')?.textContent).toContain('lamp.png');
  });

  test('is edited in place also if it mentions other files now', async () => {
    const window = await withQueued();
    const first = window.app.timeline.open()?.queued[0];
    await edited('And hurry with @src/lamp.ts');
    expect(window.called('editQueued')).toEqual([[window.app.selected(), first, 'And hurry with @src/lamp.ts']]);
    expect(window.app.timeline.open()?.queued).toEqual([first]);
  });

  test('is unchanged when editing is cancelled, and the turn continues', async () => {
    const { app, called } = await withQueued();
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    const field = screen.getByRole('textbox', { name: 'Text of the queued prompt' });
    fireEvent.input(field, { target: { value: 'Something else' } });
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(document.querySelector('[data-queued]')?.textContent).toContain('And hurry');
    expect(called('editQueued')).toHaveLength(0);
    expect(app.busy()).toBe(true);
  });

  test('cannot be made empty', async () => {
    const { called } = await withQueued();
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    fireEvent.input(screen.getByRole('textbox', { name: 'Text of the queued prompt' }), { target: { value: ' ' } });
    const save = screen.getByRole('button', { name: 'Save' }) as HTMLButtonElement;
    expect(save.disabled).toBe(true);
    expect(called('editQueued')).toHaveLength(0);
  });

  test('can be removed', async () => {
    await withQueued();
    fireEvent.click(screen.getByRole('button', { name: 'Remove queued prompt' }));
    await waitFor(() => expect(document.querySelector('[data-queued]')).toBeNull());
    expect(document.body.textContent).not.toContain('And hurry');
  });

  test('that a step has started with says why it cannot be changed', async () => {
    const { host, app } = await withQueued();
    host.editQueued = () =>
      Promise.reject({ code: 'failed', message: 'This prompt was already sent' });
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Text of the queued prompt' }), { key: 'Enter' });
    expect((await screen.findByTestId('toast')).textContent).toContain('already sent');
    const sessionID = app.selected() ?? '';
    host.emit({ kind: 'queue', sessionID, messages: [] });
    await waitFor(() => expect(screen.queryByText('Queued')).toBeNull());
    expect(document.body.textContent).toContain('And hurry');
  });

  test('that a step starts with while it is edited leaves the text in the composer', async () => {
    const { host, app } = await withQueued();
    fireEvent.click(screen.getByRole('button', { name: 'Edit queued prompt' }));
    const field = screen.getByRole('textbox', { name: 'Text of the queued prompt' });
    fireEvent.input(field, { target: { value: 'And take care of the lamp' } });
    const sessionID = app.selected() ?? '';
    host.emit({ kind: 'queue', sessionID, messages: [] });
    expect((await screen.findByTestId('toast')).textContent).toContain('Your edit is in the composer');
    expect(app.drafts.get(sessionID).text).toBe('And take care of the lamp');
  });
});
