import { screen, waitFor, within } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<TestWindow> {
  const window = openWindow();
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  return window;
}
const prompt = (words: string) =>
  waitFor(() => {
    const all = [...document.querySelectorAll<HTMLElement>('.user-message')];
    const found = all.find((one) => one.textContent?.includes(words));
    if (!found) throw new Error(`no prompt says ${words}`);
    return found;
  });
const chosen = async (words: string, item: string) => {
  const user = userEvent.setup();
  await user.click(within(await prompt(words)).getByRole('button', { name: 'Fork' }));
  await user.click(await screen.findByRole('menuitem', { name: item }));
};
const rows = () =>
  [...document.querySelectorAll<HTMLElement>('.session-row')].map((row) => ({
    title: row.querySelector('.session-title')?.textContent,
    depth: row.dataset.depth,
    current: row.dataset.current !== undefined,
  }));

describe('a fork from a prompt', () => {
  test('has the messages before it, is opened, is listed below its origin, and has the prompt as a draft', async () => {
    const { app, called } = await ready();
    const second = app.timeline.open()?.messages.find(({ parts }) =>
      parts.some(({ part }) => part.type === 'text' && part.text.startsWith('Have a look')),
    )?.info.id;
    await chosen('Have a look at the docs', 'Fork from here');
    await waitFor(() => expect(app.session()?.forkedFrom).toEqual({ sessionID: 'ses_gallery', messageID: second }));
    expect(called('fork')).toEqual([['ses_gallery', second, false]]);
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe(app.selected()));
    expect(app.timeline.open()?.messages).toHaveLength(5);
    expect((screen.getByTestId('composer') as HTMLTextAreaElement).value).toBe('Have a look at the docs as well.');
    expect(rows().slice(0, 2)).toEqual([
      { title: 'Fix the flicker of overlapping timers', depth: undefined, current: false },
      { title: 'Fix the flicker of overlapping timers (fork)', depth: '1', current: true },
    ]);
    expect(called('prompt')).toEqual([]);
  });

  test('keeps the attachments of the prompt', async () => {
    const { app } = await ready();
    await chosen('The reading lamp flickers', 'Fork from here');
    await waitFor(() => expect(app.session()?.forkedFrom?.sessionID).toBe('ses_gallery'));
    expect(app.attachments.list().map(({ name }) => name)).toEqual(['flicker.png', 'lamp-manual.pdf']);
  });

  test('keeps the agent of the prompt', async () => {
    const { app, host } = await ready();
    const asked = app.timeline.open()?.messages.find(({ info }) => info.role === 'user')?.info;
    const info = { ...asked, agent: 'plan' } as NonNullable<typeof asked>;
    host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
    await chosen('The reading lamp flickers', 'Fork from here');
    await waitFor(() => expect(app.session()?.forkedFrom?.sessionID).toBe('ses_gallery'));
    await waitFor(() => expect(app.agents.current()).toBe('plan'));
  });

  test('can have a worktree of its own, and says where it is', async () => {
    const { app, called } = await ready();
    await chosen('Have a look at the docs', 'Fork from here in a worktree');
    await waitFor(() => expect(called('fork')[0]?.[2]).toBe(true));
    expect((await screen.findByTestId('toast')).textContent).toContain('/home/ada/projects/lantern-quiet-lamp');
    expect(app.session()?.directory).toBe('/home/ada/projects/lantern-quiet-lamp');
  });

  test('that cannot be made says why, and nothing else happens', async () => {
    const { app, host } = await ready();
    host.fork = () => Promise.reject({ code: 'failed', message: 'A worktree needs git' });
    await chosen('Have a look at the docs', 'Fork from here');
    expect((await screen.findByTestId('toast')).textContent).toContain('A worktree needs git');
    expect(app.selected()).toBe('ses_gallery');
  });
});

test('a prompt of the program itself can be neither edited nor forked', async () => {
  await ready();
  const divider = await waitFor(() => document.querySelector('.user-message:has([data-part="compaction"])') as Element);
  expect(divider.querySelector('.user-actions')).toBeNull();
});

test('while a turn runs a prompt can be forked, but not edited', async () => {
  const { host } = await ready();
  const shown = await prompt('Have a look at the docs');
  const buttons = () => within(shown).getAllByRole('button').map((one) => one.getAttribute('aria-label')).filter(Boolean);
  expect(buttons()).toContain('Edit and resend');
  host.emit({
    kind: 'event',
    event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type: 'busy' } } },
  });
  await waitFor(() => expect(buttons()).not.toContain('Edit and resend'));
  expect(buttons()).toContain('Fork');
});
