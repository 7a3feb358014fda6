import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { sampleRequests } from '../host/fake/samples';
import { openWindow, type TestWindow } from '../testing/window';

const DIFF = `--- a/lamp.txt
+++ b/lamp.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
`;

/** A permission to edit is asked. */
async function asked(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const [request] = sampleRequests('ses_gallery');
  const edit = structuredClone(request) as { event: { properties: Record<string, unknown> } };
  edit.event.properties['permission'] = 'edit';
  edit.event.properties['metadata'] = { diff: DIFF };
  window.host.emit(edit as unknown as NonNullable<typeof request>);
  await screen.findByRole('group', { name: 'What would change' });
  return window;
}
const prompt = () => document.querySelector<HTMLElement>('[data-permission="true"]') as HTMLElement;
const button = (name: string | RegExp) => within(prompt()).getByRole('button', { name });
const write = (text: string) => fireEvent.input(screen.getByTestId('comment-text'), { target: { value: text } });
const numberOf = (line: number) => prompt().querySelectorAll<HTMLElement>('.diff-line')[line]?.querySelector('.diff-number') as HTMLElement;

describe('a comment on what a permission would change', () => {
  test('goes to the agent with the denial, with its lines', async () => {
    const window = await asked();
    fireEvent.click(screen.getByTestId('comment-hunk'));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByTestId('comment-text')));
    write(' Spell it out ');
    fireEvent.click(screen.getByTestId('save-comment'));
    expect(document.querySelector('.comment-text')?.textContent).toBe('Spell it out');
    expect(prompt().textContent).toContain('Your comment goes to the agent if you deny this.');
    fireEvent.click(button(/^Deny with reason/));
    const comment = { path: 'lamp.txt', from: 2, to: 2, quote: '2', text: 'Spell it out' };
    await waitFor(() => expect(window.called('answerPermission')).toEqual([['per_sample', 'reject', null, [comment]]]));
  });

  test('is sent also if it was not saved', async () => {
    const window = await asked();
    for (const event of ['pointerdown', 'pointerup']) numberOf(0).dispatchEvent(new MouseEvent(event, { bubbles: true, button: 0 }));
    write('Not this line');
    fireEvent.click(button(/^Deny with reason/));
    const comment = { path: 'lamp.txt', from: 1, to: 1, quote: 'one', text: 'Not this line' };
    await waitFor(() => expect(window.called('answerPermission')).toEqual([['per_sample', 'reject', null, [comment]]]));
  });

  test('can be changed and removed, and is not sent with a yes', async () => {
    const window = await asked();
    fireEvent.click(screen.getByTestId('comment-hunk'));
    write('First');
    fireEvent.keyDown(screen.getByTestId('comment-text'), { key: 'Enter', ctrlKey: true });
    fireEvent.click(button('Edit comment'));
    write('Second');
    fireEvent.keyDown(screen.getByTestId('comment-text'), { key: 'Escape' });
    expect(document.querySelector('.comment-text')?.textContent).toBe('First');
    fireEvent.click(button('Remove comment'));
    expect(document.querySelector('.comment')).toBeNull();
    fireEvent.click(screen.getByTestId('comment-hunk'));
    write('Third');
    fireEvent.click(button(/^Allow once/));
    await waitFor(() => expect(window.called('answerPermission')).toEqual([['per_sample', 'once', null]]));
  });

  test('is still there after a look at another session', async () => {
    const window = await asked();
    fireEvent.click(screen.getByTestId('comment-hunk'));
    write('Half a thought');
    const other = window.app.sessions.all().find(({ id }) => id !== 'ses_gallery')?.id ?? '';
    await window.app.select(other);
    await window.app.select('ses_gallery');
    expect((screen.getByTestId('comment-text') as HTMLTextAreaElement).value).toBe('Half a thought');
  });
});
