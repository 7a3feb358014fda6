import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { offer } from '../kit/offers';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await screen.findByTestId('timeline');
  return window;
}

/** Opens the menu of an element; its items in groups, `-` before one that is greyed. */
async function menuOf(element: Element): Promise<string[][]> {
  const open = fireEvent.contextMenu(element, { clientX: 40, clientY: 40 });
  // The browser's own menu must never open.
  expect(open).toBe(false);
  return itemsOf(await screen.findByTestId('context-menu'));
}

function itemsOf(menu: HTMLElement): string[][] {
  const groups: string[][] = [[]];
  for (const one of menu.querySelectorAll('[role=menuitem], hr, [role=separator]')) {
    const label = one.querySelector('span')?.textContent ?? '';
    if (one.getAttribute('role') !== 'menuitem') groups.push([]);
    else groups.at(-1)?.push(one.getAttribute('aria-disabled') === 'true' ? `-${label}` : label);
  }
  return groups;
}

async function choose(label: string): Promise<void> {
  await userEvent.click(within(screen.getByTestId('context-menu')).getByRole('menuitem', { name: new RegExp(`^${label}`) }));
  await waitFor(() => expect(screen.queryByTestId('context-menu')).toBeNull());
}

const CENTRE = ['Find in session…', 'Compact session', 'Fork session', 'Share session…', 'Export session…'];

describe('a right click', () => {
  test('on a session opens its menu, and an item of it works', async () => {
    const { container, called } = await ready();
    const row = container.querySelector('[data-session-id=ses_gallery] .session-open') as Element;
    expect((await menuOf(row))[0]).toEqual(['Rename', 'Archive', 'Share…', 'Export…', 'Delete']);
    await choose('Archive');
    await waitFor(() => expect(called('archiveSession')).toEqual([['ses_gallery', true]]));
  });

  test('on a project begins a session there', async () => {
    const { container, called } = await ready();
    const head = container.querySelector('.project-name') as Element;
    expect((await menuOf(head))[0]).toEqual(['New session', 'Collapse', 'Copy path']);
    await choose('New session');
    await waitFor(() => expect(called('createSession')).toHaveLength(1));
  });

  test('on a prompt edits and forks it', async () => {
    const { container } = await ready();
    const prompt = container.querySelector('.user-message:not([data-queued]) [data-part=text]') as Element;
    const groups = await menuOf(prompt);
    expect(groups[0]?.slice(0, 2)).toEqual(['Copy text', 'Edit and resend']);
    expect(groups.at(-1)).toEqual(CENTRE);
  });

  test('on a tool call expands it', async () => {
    const { container } = await ready();
    const card = container.querySelector('.tool .card-head[aria-expanded=false]') as Element;
    const groups = await menuOf(card);
    expect(groups[0]).toEqual(expect.arrayContaining(['Expand', 'Copy link']));
    await choose('Expand');
    await waitFor(() => expect(card.getAttribute('aria-expanded')).toBe('true'));
  });

  test('on a file opens it in the editor', async () => {
    const { container, called } = await ready();
    const text = container.querySelector('.assistant-message [data-part=text]') as Element;
    text.insertAdjacentHTML('beforeend', '<a data-path="src/beds.rs" data-line="3">src/beds.rs:3</a>');
    const file = text.querySelector('a[data-path]') as Element;
    expect((await menuOf(file))[0]).toEqual(['Open in editor', 'Copy path']);
    await choose('Open in editor');
    await waitFor(() => expect(called('openInEditor')).toEqual([['ses_gallery', 'src/beds.rs', 3]]));
  });

  test('on a link to the web opens it outside', async () => {
    const { container, called } = await ready();
    const text = container.querySelector('.assistant-message [data-part=text]') as Element;
    text.insertAdjacentHTML('beforeend', '<a href="https://garden.example/">the garden</a><a href="javascript:alert(1)">no</a>');
    const [link, bad] = [...text.querySelectorAll('a')].slice(-2) as Element[] as [Element, Element];
    expect((await menuOf(link))[0]).toEqual(['Open link', 'Copy link address']);
    await choose('Open link');
    expect(called('openExternal')).toEqual([['https://garden.example/']]);
    expect((await menuOf(bad)).flat()).not.toContain('Open link');
  });

  test('in a field edits its text, and has nothing else', async () => {
    await ready();
    const field = screen.getByTestId('composer') as HTMLTextAreaElement;
    fireEvent.input(field, { target: { value: 'beds' } });
    field.setSelectionRange(0, 4);
    expect(await menuOf(field)).toEqual([['Undo', 'Redo'], ['Cut', 'Copy', 'Paste'], ['Select all']]);
    const asked = vi.fn();
    document.execCommand = asked;
    await choose('Cut');
    expect(asked.mock.calls).toEqual([['cut']]);
    expect(document.activeElement).toBe(field);
  });

  test('in a field without a selection cannot cut', async () => {
    await ready();
    const groups = await menuOf(screen.getByTestId('composer'));
    expect(groups[1]).toEqual(['-Cut', '-Copy', 'Paste']);
  });

  test('on selected text copies or quotes it', async () => {
    const { container, app } = await ready();
    const text = container.querySelector('.assistant-message [data-part=text] p') as Element;
    document.getSelection()?.selectAllChildren(text);
    expect((await menuOf(text))[0]).toEqual(['Copy', 'Quote in prompt']);
    await choose('Quote in prompt');
    expect(app.drafts.get('ses_gallery').text).toBe(`> ${text.textContent}\n\n`);
  });

  test('where nothing is offered opens no menu, and the browser’s neither', async () => {
    const { container } = await ready();
    const title = container.querySelector('.title-bar-title') as Element;
    expect(fireEvent.contextMenu(title)).toBe(false);
    expect(screen.queryByTestId('context-menu')).toBeNull();
  });
});

describe('the keys', () => {
  test.each([
    ['Shift+F10', { key: 'F10', shiftKey: true }],
    ['the menu key', { key: 'ContextMenu' }],
  ])('%s opens the menu of what has the focus, and marks its first item', async (_name, keys) => {
    const { container } = await ready();
    const row = container.querySelector('[data-session-id=ses_gallery] .session-open') as HTMLElement;
    row.focus();
    fireEvent.keyDown(row, keys);
    const menu = await screen.findByTestId('context-menu');
    expect(itemsOf(menu)[0]?.[0]).toBe('Rename');
    await waitFor(() => expect(document.activeElement?.textContent).toContain('Rename'));
  });

  test('Escape closes the menu and gives the focus back', async () => {
    const { container } = await ready();
    const row = container.querySelector('[data-session-id=ses_gallery] .session-open') as HTMLElement;
    row.focus();
    await menuOf(row);
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('context-menu')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(row));
  });
});

test('a menu has what is offered inside before what is offered around it', async () => {
  await ready();
  const [outer, inner] = [document.createElement('div'), document.createElement('p')];
  outer.append(inner);
  document.body.append(outer);
  offer(outer, () => [{ label: 'Water', run: () => {} }]);
  offer(inner, () => [{ label: 'Sow', run: () => {}, disabled: true }]);
  expect(await menuOf(inner)).toEqual([['-Sow'], ['Water']]);
  outer.remove();
});
