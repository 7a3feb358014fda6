import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

async function field(window: TestWindow): Promise<HTMLTextAreaElement> {
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return area;
}

async function typed(window: TestWindow, text: string): Promise<HTMLTextAreaElement> {
  const area = await field(window);
  fireEvent.input(area, { target: { value: text } });
  return area;
}

const prompts = (window: TestWindow) => window.called('prompt').map(([, input]) => (input as { text: string }).text);
const busy = (window: TestWindow, type: 'busy' | 'idle' = 'busy') =>
  window.host.emit({
    kind: 'event',
    event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type } } },
  });

describe('the composer', () => {
  test('sends with Enter and is empty after it', async () => {
    const window = openWindow();
    const area = await typed(window, 'Turn the lamp on');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(prompts(window)).toEqual(['Turn the lamp on']));
    expect(area.value).toBe('');
  });

  test('leaves Shift+Enter to the field', async () => {
    const window = openWindow();
    const area = await typed(window, 'one');
    expect(fireEvent.keyDown(area, { key: 'Enter', shiftKey: true })).toBe(true);
    expect(prompts(window)).toEqual([]);
  });

  test.each([
    ['the flag of the event', { isComposing: true }],
    ['the key code that WebKit sends instead', { keyCode: 229 }],
  ])('leaves Enter to an input method, known by %s', async (_how, composing) => {
    const window = openWindow();
    const area = await typed(window, 'にほんご');
    fireEvent.keyDown(area, { key: 'Enter', ...composing });
    expect(prompts(window)).toEqual([]);
    expect(area.value).toBe('にほんご');
  });

  test('runs what begins with an exclamation mark as a command of the person', async () => {
    const window = openWindow();
    const area = await typed(window, '!git log @{u}');
    expect(document.querySelector('.composer-hint')?.textContent).toBe('Enter runs this command yourself');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('runShell').map(([id, input]) => [id, (input as { text: string }).text])).toEqual([['ses_gallery', 'git log @{u}']]));
    expect([prompts(window), area.value]).toEqual([[], '']);
    await waitFor(() => expect(document.body.textContent).toContain('!git log @{u}'));
  });

  test('sends as a prompt what has a space or a line break before the exclamation mark', async () => {
    const window = openWindow();
    const area = await typed(window, '\n![diagram](x.png) explain `rm -rf build`');
    expect(document.querySelector('.composer-hint')?.textContent).not.toBe('Enter runs this command yourself');
    fireEvent.keyDown(area, { key: 'Enter' });
    const sent = ' ![diagram](x.png) explain `rm -rf build`';
    await waitFor(() => expect(prompts(window)).toEqual([sent]));
    expect(window.called('runShell')).toEqual([]);
    // Nor does it become a command when it is called back.
    await waitFor(() => expect(localStorage.getItem('lathe.history')).toContain('diagram'));
    fireEvent.keyDown(area, { key: 'ArrowUp' });
    expect(area.value).toBe(sent);
  });

  test('inserts an earlier prompt at the caret, beside what is written', async () => {
    const window = openWindow();
    const area = await typed(window, 'Turn the lamp on');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(localStorage.getItem('lathe.history')).toContain('Turn the lamp on'));
    await typed(window, 'First: \nThen write the manual');
    area.setSelectionRange(7, 7);
    fireEvent.keyDown(area, { key: 'r', ctrlKey: true });
    fireEvent.keyDown(await screen.findByTestId('history-field'), { key: 'Enter' });
    await waitFor(() => expect(area.value).toBe('First: Turn the lamp on\nThen write the manual'));
    expect(area.selectionStart).toBe('First: Turn the lamp on'.length);
  });

  test('searches the sent prompts with Ctrl+R, and inserts the one that is chosen', async () => {
    const window = openWindow();
    const area = await typed(window, 'Turn the lamp on');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(prompts(window)).toHaveLength(1));
    await typed(window, 'Write the manual');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(localStorage.getItem('lathe.history')).toContain('Write the manual'));
    fireEvent.keyDown(area, { key: 'r', ctrlKey: true });
    const search = await screen.findByTestId('history-field');
    const rows = () => screen.getAllByRole('option').map((row) => row.textContent);
    expect(rows().slice(0, 2)).toEqual(['Write the manual', 'Turn the lamp on']);
    fireEvent.input(search, { target: { value: 'lamp' } });
    await waitFor(() => expect(rows()).toEqual(['Turn the lamp on']));
    fireEvent.keyDown(search, { key: 'Enter' });
    await waitFor(() => expect(area.value).toBe('Turn the lamp on'));
    await waitFor(() => expect(screen.queryByTestId('history-search')).toBeNull());
  });

  test('draws mentions and commands as pills under the text', async () => {
    const window = openWindow();
    await typed(window, '/new see @src/a.ts');
    const pills = [...document.querySelectorAll<HTMLElement>('.pill')].map((one) => [one.dataset.pill, one.textContent]);
    expect(pills).toEqual([['command', '/new'], ['mention', '@src/a.ts']]);
    expect(document.querySelector('.composer-pills')?.textContent).toBe('/new see @src/a.ts\n');
  });

  test('does not send blank text', async () => {
    const window = openWindow();
    const area = await typed(window, '  \n ');
    fireEvent.keyDown(area, { key: 'Enter' });
    expect(screen.getByTestId('send')).toHaveProperty('disabled', true);
    expect(prompts(window)).toEqual([]);
  });

  test('shows Stop while the session is busy, and Escape stops it', async () => {
    const window = openWindow();
    const area = await field(window);
    expect(screen.queryByTestId('stop')).toBeNull();
    busy(window);
    await screen.findByTestId('stop');
    fireEvent.keyDown(area, { key: 'Escape' });
    expect(window.called('abort')).toEqual([['ses_gallery']]);
    busy(window, 'idle');
    await waitFor(() => expect(screen.queryByTestId('stop')).toBeNull());
    fireEvent.keyDown(area, { key: 'Escape' });
    expect(window.called('abort')).toHaveLength(1);
  });

  test('also takes prompts while the session is busy', async () => {
    const window = openWindow();
    const area = await typed(window, 'and the other one');
    busy(window);
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(prompts(window)).toEqual(['and the other one']));
  });

  test('keeps a draft for each session', async () => {
    const window = openWindow();
    const area = await typed(window, 'for the gallery');
    await window.app.select('ses_docs');
    expect(area.value).toBe('');
    fireEvent.input(area, { target: { value: 'for the docs' } });
    await window.app.select('ses_gallery');
    expect(area.value).toBe('for the gallery');
    await window.app.select('ses_docs');
    expect(area.value).toBe('for the docs');
  });

  test('gives the text back when the prompt is refused, and says why', async () => {
    const window = openWindow();
    const area = await typed(window, 'keep me');
    window.host.sessions.delete('ses_gallery');
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(area.value).toBe('keep me'));
    expect((await screen.findByTestId('toast')).textContent).toContain('no longer there');
  });

  test('shows a stored draft only once its session is open', async () => {
    const window = openWindow();
    await field(window);
    const { openSession } = window.host;
    let answer = () => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    window.host.openSession = (id, limit) => asked.then(() => openSession(id, limit));
    window.app.drafts.change('ses_docs', { text: 'go on' });
    const opening = window.app.select('ses_docs');
    const area = screen.getByTestId('composer');
    await waitFor(() => expect(area).toHaveProperty('value', 'go on'));
    fireEvent.keyDown(area, { key: 'Enter' });
    expect(screen.getByTestId('send')).toHaveProperty('disabled', true);
    expect(prompts(window)).toEqual([]);
    answer();
    await opening;
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(prompts(window)).toEqual(['go on']));
  });
});
