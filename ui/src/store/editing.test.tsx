import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { createWriter } from '../host/fake/parts';
import type { FilePartSource, MessageView } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

async function ready(): Promise<{ window: TestWindow; area: HTMLTextAreaElement; first: string }> {
  const window = openWindow();
  const area = (await screen.findByTestId('composer')) as HTMLTextAreaElement;
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const first = window.app.timeline.open()?.messages[0]?.info.id ?? '';
  return { window, area, first };
}

describe('an earlier prompt', () => {
  test('is edited with its attachments, and sending it reverts what came after', async () => {
    const { window, area, first } = await ready();
    fireEvent.input(area, { target: { value: 'a draft of my own' } });
    fireEvent.click((await screen.findAllByRole('button', { name: 'Edit and resend' }))[0] as HTMLElement);
    await waitFor(() => expect(area.value).toContain('The reading lamp flickers'));
    const names = [...document.querySelectorAll('.attachment-name')].map((one) => one.textContent);
    expect(names).toEqual(['flicker.png', 'lamp-manual.pdf']);
    fireEvent.click(screen.getByRole('checkbox', { name: 'Keep file changes' }));
    fireEvent.input(area, { target: { value: 'It flickers.' } });
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect(window.called('revert')).toEqual([['ses_gallery', { kind: 'message', messageID: first, keepFiles: true }]]);
    expect(window.called('prompt')[0]?.[1]).toMatchObject({ text: 'It flickers.', files: [{ filename: 'flicker.png' }, {}] });
    await waitFor(() => expect(area.value).toBe('a draft of my own'));
    expect(screen.queryByTestId('editing')).toBeNull();
  });

  test('keeps its symbols, its agent and the files that its words name', async () => {
    const { window, area } = await ready();
    const { app, host } = window;
    const write = createWriter('ses_docs', createClock());
    const source: FilePartSource = {
      type: 'symbol',
      path: '/home/ada/projects/lantern/src/wick.ts',
      name: 'trimWick',
      kind: 12,
      range: { start: { line: 2, character: 0 }, end: { line: 17, character: 0 } },
      text: { value: '@trimWick', start: 4, end: 13 },
    };
    const url = 'file:///home/ada/projects/lantern/src/wick.ts?start=3&end=18';
    const file = { mime: 'text/plain', filename: 'src/wick.ts', url, source };
    const asked = write.user('Why @trimWick, @src/lamp.ts and @explore?', (id) => write.part(id, 'file', file));
    const first = { ...asked, info: { ...asked.info, agent: 'plan' } } as MessageView;
    host.messages.set('ses_docs', [first, write.user('And now?')]);
    await app.select('ses_docs');
    expect(app.agents.current()).toBe('build');
    app.editing.begin(first);
    await waitFor(() => expect(area.value).toBe('Why @trimWick, @src/lamp.ts and @explore?'));
    expect(app.agents.current()).toBe('plan');
    fireEvent.input(area, { target: { value: 'So why @trimWick, @src/lamp.ts and @explore?' } });
    fireEvent.keyDown(area, { key: 'Enter' });
    await waitFor(() => expect(window.called('prompt')).toHaveLength(1));
    expect(window.called('prompt')[0]?.[1]).toMatchObject({
      text: 'So why @trimWick, @src/lamp.ts and @explore?',
      agent: 'plan',
      files: [{ ...file, source: { ...source, text: { value: '@trimWick', start: 7, end: 16 } } }],
    });
    expect(window.called('revert')[0]?.[1]).toEqual({ kind: 'message', messageID: first.info.id, keepFiles: false });
  });

  test('is unchanged after Escape, and nothing is reverted', async () => {
    const { window, area } = await ready();
    window.app.editing.begin(window.app.timeline.open()?.messages[0] as never);
    await screen.findByTestId('editing');
    fireEvent.keyDown(area, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('editing')).toBeNull());
    expect(area.value).toBe('');
    expect([window.called('revert'), window.called('abort')]).toEqual([[], []]);
  });

  test('of the last turn is reverted with /undo, hidden, and restored', async () => {
    const { window } = await ready();
    const before = window.app.timeline.open()?.messages.length ?? 0;
    await window.app.editing.undo();
    expect(window.called('undoLastTurn')).toEqual([['ses_gallery', false]]);
    await screen.findByTestId('reverted');
    expect(window.app.timeline.open()?.messages).toHaveLength(before);
    fireEvent.click((await screen.findAllByRole('button', { name: 'Restore' }))[0] as HTMLElement);
    await waitFor(() => expect(screen.queryByTestId('reverted')).toBeNull());
    expect(window.called('unrevert')).toHaveLength(1);
  });

  test('that was undone is in the composer again, and leaves it when it is restored', async () => {
    const { window, area } = await ready();
    await window.app.editing.undo();
    await waitFor(() => expect(area.value).toBe('Have a look at the docs as well.'));
    await window.app.editing.redo();
    await waitFor(() => expect(area.value).toBe(''));
  });

  test('that was undone does not replace what the person has written', async () => {
    const { window, area } = await ready();
    fireEvent.input(area, { target: { value: 'a draft of my own' } });
    await window.app.editing.undo();
    await waitFor(() => expect(window.called('undoLastTurn')).toHaveLength(1));
    expect(area.value).toBe('a draft of my own');
  });

  test('of which only a part was reverted with /undo says so, and that part can be undone', async () => {
    const { window } = await ready();
    const undo = window.host.undoLastTurn.bind(window.host);
    window.host.undoLastTurn = async (sessionID, keepFiles) => {
      const whole = await undo(sessionID, keepFiles);
      const { revert: _, ...session } = whole.session;
      return {
        ...whole,
        session,
        undoable: 1,
        complete: false,
        files: [
          { path: 'a.txt', change: 'restore', additions: 1, deletions: 1 },
          { path: 'b.txt', change: 'unknown', additions: 1, deletions: 1 },
        ],
      };
    };
    const done = window.app.editing.undo();
    await screen.findByText('Reverted only 1 file of the last turn');
    expect(window.app.review.canUndo()).toBe(true);
    fireEvent.click((await screen.findAllByRole('button', { name: 'Undo' }))[0] as HTMLElement);
    await waitFor(() => expect(window.called('unrevert')).toHaveLength(1));
    window.app.review.cancel();
    await done;
  });
});
