import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { sampleRequests } from '../host/fake/samples';
import { openWindow, type TestWindow } from '../testing/window';

async function asked(sessionID = 'ses_gallery'): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  window.host.emit(...sampleRequests(sessionID));
  return window;
}
const permission = () => document.querySelector<HTMLElement>('[data-permission="true"]');
const question = () => document.querySelector<HTMLElement>('[data-question="true"]');
const press = (area: HTMLElement | null, name: string) =>
  fireEvent.click(within(area as HTMLElement).getByRole('button', { name }));

describe('a permission', () => {
  test('shows what it is for, with hidden characters as their codes, and takes no focus', async () => {
    await asked();
    expect(permission()?.textContent).toContain('Run this command?');
    expect(permission()?.textContent).toContain('rm -r target/⟨U+202E⟩gpj.exe');
    expect(permission()?.textContent).toContain('Always allow adds bash: cargo test *');
    expect(document.activeElement).toBe(screen.getByTestId('composer'));
  });

  test('for an edit shows the exact difference before anything is written', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const [request] = sampleRequests('ses_gallery');
    const edit = structuredClone(request) as { event: { properties: Record<string, unknown> } };
    edit.event.properties['permission'] = 'edit';
    edit.event.properties['metadata'] = { diff: '--- a\n+++ b\n@@ -1 +1 @@\n-30\n+3\n' };
    window.host.emit(edit as unknown as NonNullable<typeof request>);
    const shown = await screen.findByRole('group', { name: 'What would change' });
    expect([...shown.querySelectorAll('.diff-line')].map((line) => line.textContent)).toEqual(['removed: 30', 'added: 3']);
  });

  test('says beforehand what a revert will not cover', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const [request] = sampleRequests('ses_gallery');
    const git = structuredClone(request) as { event: { properties: Record<string, unknown> } };
    git.event.properties['metadata'] = { command: 'git commit', notCovered: ['What git itself stores can’t be reverted'] };
    window.host.emit(git as unknown as NonNullable<typeof request>);
    const said = await screen.findByTestId('permission-uncovered');
    expect(said.textContent).toBe('What git itself stores can’t be reverted.');
  });

  test('that waits behind another says so, and comes when that is answered', async () => {
    const window = await asked();
    const [first] = sampleRequests('ses_gallery');
    const second = structuredClone(first) as { event: { properties: Record<string, unknown> } };
    Object.assign(second.event.properties, { id: 'per_second', permission: 'webfetch', always: [] });
    Object.assign(second.event.properties, { metadata: { url: 'https://example.com/x' } });
    window.host.emit(second as unknown as NonNullable<typeof first>);
    await waitFor(() => expect(screen.getByTestId('permission-position').textContent).toBe('1 of 2'));
    expect(document.querySelectorAll('[data-permission="true"]')).toHaveLength(1);
    press(permission(), 'Allow once');
    await waitFor(() => expect(permission()?.textContent).toContain('https://example.com/x'));
    expect(permission()?.textContent).toContain('Can’t be always allowed');
    expect(within(permission() as HTMLElement).queryByRole('button', { name: 'Always allow' })).toBeNull();
    expect(screen.queryByTestId('permission-position')).toBeNull();
  });

  test.each([
    ['Allow once', 'once'],
    ['Always allow', 'always'],
    ['Deny', 'reject'],
  ])('%s answers "%s" and the prompt goes', async (button, reply) => {
    const window = await asked();
    press(permission(), button);
    await waitFor(() => expect(permission()).toBeNull());
    expect(window.called('answerPermission')).toEqual([['per_sample', reply, null]]);
  });

  test('is refused with a reason for the agent', async () => {
    const window = await asked();
    const reason = screen.getByRole('textbox', { name: 'Tell the agent why' });
    fireEvent.input(reason, { target: { value: ' not that folder ' } });
    fireEvent.keyDown(reason, { key: 'Enter' });
    await waitFor(() => expect(permission()).toBeNull());
    expect(window.called('answerPermission')).toEqual([['per_sample', 'reject', 'not that folder']]);
    expect(window.called('prompt')).toEqual([]);
  });

  test.each([
    ['Digit1', 'once'],
    ['Digit2', 'always'],
    ['Digit3', 'reject'],
  ])('has a key of its own: Alt and %s is "%s", from wherever the focus is', async (code, reply) => {
    const window = await asked();
    fireEvent.keyDown(screen.getByTestId('composer'), { code, altKey: true });
    await waitFor(() => expect(permission()).toBeNull());
    expect(window.called('answerPermission')).toEqual([['per_sample', reply, null]]);
  });

  test.each([
    ['the bare digit', { code: 'Digit1' }],
    ['a character written with AltGr', { code: 'Digit1', altKey: true, ctrlKey: true }],
    ['a key that is held down', { code: 'Digit1', altKey: true, repeat: true }],
  ])('is not answered by %s', async (_what, keys) => {
    const window = await asked();
    fireEvent.keyDown(screen.getByTestId('composer'), keys);
    expect(window.called('answerPermission')).toEqual([]);
  });

  test('is not answered by keys while something lies over it', async () => {
    const window = await asked();
    window.app.show({ name: 'settings', section: 'appearance' });
    fireEvent.keyDown(document.body, { code: 'Digit1', altKey: true });
    expect(window.called('answerPermission')).toEqual([]);
  });

  test('focuses the reason field only on request', async () => {
    await asked();
    fireEvent.keyDown(screen.getByTestId('composer'), { code: 'Digit4', altKey: true });
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Tell the agent why' }));
  });

  test('of another session waits there, and marks its row', async () => {
    const window = await asked('ses_docs');
    expect(permission()).toBeNull();
    expect(document.querySelector('[data-session-id="ses_docs"]')?.textContent).toContain('Waiting for you');
    const docs = window.host.sessions.get('ses_docs');
    if (!docs) throw new Error('no session');
    const info = { ...docs, parentID: 'ses_gallery' };
    window.host.emit({ kind: 'event', event: { type: 'session.updated', properties: { info } } });
    await waitFor(() => expect(permission()?.textContent).toContain('Asked by the task “Write the driver manual”'));
  });

  test('of a task of a task is answered where the first one was begun', async () => {
    const window = await asked('ses_docs');
    const emit = (id: string, parentID: string) => {
      const info = { ...window.host.sessions.get(id)!, parentID };
      window.host.emit({ kind: 'event', event: { type: 'session.updated', properties: { info } } });
    };
    emit('ses_docs', 'ses_empty');
    emit('ses_empty', 'ses_gallery');
    await waitFor(() => expect(permission()?.textContent).toContain('Asked by the task “Write the driver manual”'));
    expect(window.app.activity.waiting()).toEqual(['ses_gallery']);
    expect(question()).not.toBeNull();
  });
});

describe('a question', () => {
  test('is answered with an option', async () => {
    const window = await asked();
    const answer = within(question() as HTMLElement).getByRole('button', { name: 'Answer' });
    expect(answer).toHaveProperty('disabled', true);
    fireEvent.click(screen.getByRole('radio', { name: /The hall/ }));
    fireEvent.click(answer);
    await waitFor(() => expect(question()).toBeNull());
    expect(window.called('answerQuestion')).toEqual([['que_sample', [['The hall']]]]);
  });

  test('is answered in own words, which take the place of an option', async () => {
    const window = await asked();
    fireEvent.click(screen.getByRole('radio', { name: /The hall/ }));
    fireEvent.input(screen.getByRole('textbox', { name: 'Other answer' }), { target: { value: 'both' } });
    press(question(), 'Answer');
    await waitFor(() => expect(window.called('answerQuestion')).toEqual([['que_sample', [['both']]]]));
  });

  test('is answered with the keyboard alone', async () => {
    const window = await asked();
    fireEvent.keyDown(screen.getByTestId('composer'), { code: 'Digit9', altKey: true });
    expect(document.activeElement).toBe(screen.getByRole('radio', { name: /The study/ }));
    fireEvent.keyDown(document.activeElement as Element, { key: 'Enter' });
    expect(window.called('answerQuestion')).toEqual([]);
    fireEvent.click(document.activeElement as Element);
    fireEvent.keyDown(document.activeElement as Element, { key: 'Enter' });
    await waitFor(() => expect(window.called('answerQuestion')).toEqual([['que_sample', [['The study']]]]));
  });

  test('takes several answers where it says so, and none of one\'s own where not', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const request = structuredClone(sampleRequests('ses_gallery')[1]) as { event: { properties: { questions: object[] } } };
    Object.assign(request.event.properties.questions[0] as object, { multiple: true, custom: false });
    window.host.emit(request as never);
    for (const name of [/The study/, /The hall/]) fireEvent.click(await screen.findByRole('checkbox', { name }));
    expect(screen.queryByRole('textbox', { name: 'Other answer' })).toBeNull();
    press(question(), 'Answer');
    await waitFor(() => expect(window.called('answerQuestion')).toEqual([['que_sample', [['The study', 'The hall']]]]));
  });

  test('can be dismissed', async () => {
    const window = await asked();
    press(question(), 'Dismiss');
    await waitFor(() => expect(question()).toBeNull());
    expect(window.called('dismissQuestion')).toEqual([['que_sample']]);
  });
});

describe('the keyboard', () => {
  const busy = { kind: 'event' as const, event: { type: 'session.status' as const, properties: { sessionID: 'ses_gallery', status: { type: 'busy' as const } } } };

  test.each([
    ['Tell the agent why'],
    ['Other answer'],
  ])('leaves “%s” with Escape, and the turn goes on', async (name) => {
    const window = await asked();
    window.host.emit(busy);
    const field = screen.getByRole('textbox', { name });
    field.focus();
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(document.activeElement).toBe(screen.getByTestId('composer'));
    expect(window.called('abort')).toEqual([]);
    expect([permission(), question()].every((shown) => shown !== null)).toBe(true);
  });

  test('is back in the composer after a permission was answered from inside', async () => {
    await asked();
    const deny = within(permission() as HTMLElement).getByRole('button', { name: 'Deny' });
    deny.focus();
    fireEvent.click(deny);
    await waitFor(() => expect(permission()).toBeNull());
    expect(document.activeElement).toBe(screen.getByTestId('composer'));
  });

  test('is back in the composer after a question was answered from inside', async () => {
    await asked();
    const field = screen.getByRole('textbox', { name: 'Other answer' });
    field.focus();
    fireEvent.input(field, { target: { value: 'both' } });
    fireEvent.keyDown(field, { key: 'Enter' });
    await waitFor(() => expect(question()).toBeNull());
    expect(document.activeElement).toBe(screen.getByTestId('composer'));
  });

  test('stays where it was when a prompt goes that did not have it', async () => {
    await asked();
    const filter = screen.getByTestId('session-filter');
    filter.focus();
    fireEvent.keyDown(filter, { code: 'Digit1', altKey: true });
    await waitFor(() => expect(permission()).toBeNull());
    expect(document.activeElement).toBe(filter);
  });
});
