import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { AttachmentView, PromptInput } from '../protocol';
import { moved } from '../store/attachments';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<{ window: TestWindow; area: HTMLTextAreaElement }> {
  const window = openWindow();
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(window.app.selected()).toBe('ses_gallery'));
  return { window, area };
}

const drop = (window: TestWindow, added: AttachmentView[], refused: { name: string; why: 'type' | 'too-large'; limit?: number }[] = []) =>
  window.host.attachments.drop({ kind: 'dropped', attached: { added, refused } });
const names = () => [...document.querySelectorAll('.attachment-name')].map((one) => one.textContent);
const paste = (area: HTMLElement, data: Record<string, string>, files: File[] = []) =>
  fireEvent.paste(area, {
    clipboardData: { types: Object.keys(data), files, getData: (type: string) => data[type] ?? '' },
  });

describe('attachments', () => {
  test('are dropped anywhere on the window, which says so while they hover', async () => {
    const { window } = await ready();
    window.host.attachments.drop({ kind: 'over', count: 2 });
    expect((await screen.findByTestId('drop-overlay')).textContent).toContain('Drop to attach 2 items');
    drop(window, [window.host.attachments.make('a.png'), window.host.attachments.make('b.txt')]);
    await waitFor(() => expect(names()).toEqual(['a.png', 'b.txt']));
    expect(screen.queryByTestId('drop-overlay')).toBeNull();
  });

  test('are sent with the prompt by address, in order, and removed afterwards', async () => {
    const { window, area } = await ready();
    const [a, b] = [window.host.attachments.make('a.txt'), window.host.attachments.make('b.txt')];
    drop(window, [a, b]);
    await waitFor(() => expect(names()).toHaveLength(2));
    const [first] = screen.getAllByRole('button', { name: /^a\.txt/ });
    fireEvent.keyDown(first as HTMLElement, { key: 'ArrowRight', altKey: true });
    await waitFor(() => expect(names()).toEqual(['b.txt', 'a.txt']));
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    const input = window.called('prompt')[0]?.[1] as PromptInput;
    expect(input.text).toBe('');
    expect(input.files).toEqual(
      [b, a].map(({ url, mime, name }) => ({ url, mime, filename: name })),
    );
    expect(names()).toEqual([]);
  });

  test('are removed with the keyboard, and the focus moves to the next', async () => {
    const { window } = await ready();
    drop(window, ['a.txt', 'b.txt', 'c.txt'].map((name) => window.host.attachments.make(name)));
    await waitFor(() => expect(names()).toHaveLength(3));
    const second = screen.getByRole('button', { name: /^b\.txt/ });
    second.focus();
    fireEvent.keyDown(second, { key: 'Delete' });
    await waitFor(() => expect(names()).toEqual(['a.txt', 'c.txt']));
    expect(document.activeElement?.getAttribute('aria-label')).toContain('c.txt');
    expect(window.called('removeAttachment')).toEqual([['att_2']]);
  });

  test('that are refused are named with the reason', async () => {
    const { window } = await ready();
    drop(window, [], [
      { name: 'tool\u202e.exe', why: 'type' },
      { name: 'film.mp4', why: 'too-large', limit: 20 * 1024 * 1024 },
    ]);
    await screen.findByText('“tool⟨U+202E⟩.exe” isn’t text, an image or a PDF');
    await screen.findByText('“film.mp4” is larger than 20 MB');
  });

  test('are at most twenty, and the same file once', async () => {
    const { window } = await ready();
    const make = (index: number) => window.host.attachments.make(`${index}.txt`, { path: `/p/${index}.txt` });
    drop(window, Array.from({ length: 22 }, (_, index) => make(index)));
    await screen.findByText('Up to 20 attachments per prompt; 2 not added');
    expect(names()).toHaveLength(20);
    window.app.attachments.remove('att_1');
    drop(window, [make(5)]);
    expect(names()).toHaveLength(19);
  });

  test('belong to the draft of their session', async () => {
    const { window } = await ready();
    drop(window, [window.host.attachments.make('a.txt')]);
    await waitFor(() => expect(names()).toEqual(['a.txt']));
    await window.app.select('ses_docs');
    expect(names()).toEqual([]);
    await window.app.select('ses_gallery');
    expect(names()).toEqual(['a.txt']);
  });

  test('that no longer exist are removed from the draft', async () => {
    const { window } = await ready();
    drop(window, ['a.txt', 'b.txt'].map((name) => window.host.attachments.make(name)));
    window.host.attachments.staged.delete('att_1');
    await window.app.select('ses_docs');
    await window.app.select('ses_gallery');
    await waitFor(() => expect(names()).toEqual(['b.txt']));
  });

  test('are picked as files or as folders', async () => {
    const { window } = await ready();
    window.host.attachments.next = { added: [window.host.attachments.make('src', { kind: 'directory' })], refused: [] };
    await window.app.attachments.pick(true);
    expect(window.called('pickAttachments')).toEqual([[true]]);
    expect(names()).toEqual(['src']);
    const chip = document.querySelector<HTMLElement>('.attachment');
    expect(chip?.dataset.kind).toBe('directory');
    fireEvent.click(within(chip as HTMLElement).getByRole('button', { name: 'Remove src' }));
    await waitFor(() => expect(names()).toEqual([]));
  });
});

describe('a resource of a tool server', () => {
  const file = {
    url: 'file:///notes/plan.md',
    mime: 'text/markdown',
    filename: 'plan.md',
    source: {
      type: 'resource',
      clientName: 'files',
      uri: 'file:///notes/plan.md',
      text: { value: '', start: 0, end: 0 },
    },
  };
  const openMenu = () => fireEvent.keyDown(screen.getByRole('button', { name: 'Attach' }), { key: 'Enter' });
  const attach = async () => {
    openMenu();
    fireEvent.keyDown(await screen.findByRole('menuitem', { name: /plan\.md/ }), { key: 'Enter' });
  };

  test('is offered in the menu, attached once, and named to the core by its server and address', async () => {
    const { window, area } = await ready();
    await attach();
    await waitFor(() => expect(names()).toEqual(['plan.md']));
    expect(document.querySelector('.attachment-size')?.textContent).toBe('from files');
    await attach();
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect((window.called('prompt')[0]?.[1] as PromptInput).files).toEqual([file]);
    expect([window.called('removeAttachment'), window.called('findAttachments')]).toEqual([[], []]);
  });

  test('adds nothing to the menu if there is none', async () => {
    const { window } = await ready();
    window.host.listMcpResources = async () => [];
    openMenu();
    const items = await screen.findAllByRole('menuitem');
    expect(items.map((one) => one.textContent)).toEqual(['Files…', 'Folders…']);
  });

  test('is attached once when its prompt is edited, though it was stored as two files', async () => {
    const { window, area } = await ready();
    const [prompt] = window.app.timeline.open()?.messages ?? [];
    const { id: messageID, sessionID } = prompt?.info ?? { id: '', sessionID: '' };
    const part = (id: string) => ({ part: { ...file, type: 'file', id, messageID, sessionID } });
    window.app.editing.begin({ info: prompt?.info, parts: [part('prt_1'), part('prt_2')] } as never);
    await waitFor(() => expect(names()).toEqual(['plan.md']));
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect((window.called('prompt')[0]?.[1] as PromptInput).files).toEqual([file]);
  });
});

describe('a paste', () => {
  test('of a picture without bytes is read from the system', async () => {
    const { window, area } = await ready();
    window.host.attachments.next = { added: [window.host.attachments.make('Pasted image.png')], refused: [] };
    paste(area, {});
    await waitFor(() => expect(names()).toEqual(['Pasted image.png']));
  });

  test('of long text becomes an attachment, and text again when that is undone', async () => {
    const { window, area } = await ready();
    const long = 'a line\n'.repeat(100);
    paste(area, { 'text/plain': long });
    await waitFor(() => expect(names()).toEqual(['Pasted text.txt']));
    expect(area.value).toBe('');
    fireEvent.click(await screen.findByRole('button', { name: 'Paste as text' }));
    await waitFor(() => expect(area.value).toBe(long));
    expect(names()).toEqual([]);
    expect(window.called('removeAttachment')).toHaveLength(1);
  });

  test('of a few words is left to the field', async () => {
    const { window, area } = await ready();
    expect(paste(area, { 'text/plain': 'a few words' })).toBe(true);
    expect(window.called('attachBytes')).toEqual([]);
  });
});

test('moving stops at the ends', () => {
  const list = [{ id: 'a' }, { id: 'b' }];
  expect(moved(list, 'a', -1)).toBe(list);
  expect(moved(list, 'a', 1)).toEqual([{ id: 'b' }, { id: 'a' }]);
  expect(moved(list, 'x', 1)).toBe(list);
});

test('attachments stay for the next prompt when a command of the person runs', async () => {
  const { window, area } = await ready();
  drop(window, [window.host.attachments.make('a.txt')]);
  await waitFor(() => expect(names()).toEqual(['a.txt']));
  fireEvent.input(area, { target: { value: '!git log' } });
  fireEvent.keyDown(area, { key: 'Enter' });
  await waitFor(() => expect(window.called('runShell')).toHaveLength(1));
  await waitFor(() => expect(localStorage.getItem('lathe.history')).toContain('!git log'));
  expect([area.value, names()]).toEqual(['', ['a.txt']]);
  expect(window.called('keepDraft').at(-1)).toMatchObject(['ses_gallery', { text: '', attachments: [{ name: 'a.txt' }] }]);
});

test('attachments follow a command of the person into the session that it begins', async () => {
  const { window, area } = await ready();
  window.app.leave();
  await waitFor(() => expect(window.app.selected()).toBeUndefined());
  drop(window, [window.host.attachments.make('a.txt')]);
  fireEvent.input(area, { target: { value: '!git log' } });
  fireEvent.keyDown(area, { key: 'Enter' });
  await waitFor(() => expect(window.called('runShell')).toHaveLength(1));
  await waitFor(() => expect(window.app.selected()).not.toBeUndefined());
  await waitFor(() => expect(names()).toEqual(['a.txt']));
});

describe('a picture beside the prompt', () => {
  test('is shown large with a click, and gets the focus back', async () => {
    const { window } = await ready();
    drop(window, [window.host.attachments.make('a.png')]);
    const chip = await screen.findByRole('button', { name: /^a\.png/ });
    chip.focus();
    fireEvent.click(chip);
    const shown = await screen.findByTestId('lightbox');
    expect(shown.querySelector('img')?.getAttribute('alt')).toBe('a.png');
    await waitFor(() => expect(shown.contains(document.activeElement)).toBe(true));
    fireEvent.keyDown(shown, { key: 'Escape' });
    await waitFor(() => expect(document.activeElement).toBe(chip));
  });

  test('is not opened by the drag that moves it, and a text file has nothing to show', async () => {
    const { window } = await ready();
    drop(window, [window.host.attachments.make('a.png'), window.host.attachments.make('b.txt')]);
    const chip = await screen.findByRole('button', { name: /^a\.png/ });
    const pointer = (type: string, clientX: number) => fireEvent(chip, new MouseEvent(type, { clientX, bubbles: true }));
    pointer('pointerdown', 10);
    pointer('pointermove', 60);
    pointer('pointerup', 60);
    fireEvent.click(chip);
    fireEvent.click(screen.getByRole('button', { name: /^b\.txt/ }));
    expect(window.app.overlay()).toBeUndefined();
  });
});

test('long text that is moved into the prompt goes to the session it was pasted in', async () => {
  const { window, area } = await ready();
  const long = 'line\n'.repeat(80);
  fireEvent.input(area, { target: { value: 'See: ' } });
  paste(area, { 'text/plain': long });
  const inline = await screen.findByRole('button', { name: 'Paste as text' });
  await window.app.select('ses_docs');
  drop(window, [window.host.attachments.make('other.txt')]);
  fireEvent.click(inline);
  await waitFor(() => expect(window.app.drafts.get('ses_gallery').text).toBe(`See: ${long}`));
  expect(window.app.drafts.get('ses_gallery').attachments).toEqual([]);
  expect([area.value, names()]).toEqual(['', ['other.txt']]);
});
