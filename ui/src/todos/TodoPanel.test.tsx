import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import type { Todo } from '../protocol';
import { openWindow } from '../testing/window';

const told = (todos: Todo[]) => ({
  kind: 'event' as const,
  event: { type: 'todo.updated' as const, properties: { sessionID: 'ses_gallery', todos } },
});

test('the todo list is updated live, and folds to the todo in progress', async () => {
  const { host, app } = openWindow();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  expect(screen.queryByTestId('todos')).toBeNull();
  host.emit(
    told([
      { content: 'Look', status: 'completed' },
      { content: 'Fix \u202eit', status: 'in_progress', priority: 'high' },
      { content: 'Rest', status: 'snoozed' },
    ]),
  );
  const panel = await screen.findByTestId('todos');
  const rows = () => [...panel.querySelectorAll('.todo')].map((row) => row.textContent);
  expect(rows()).toEqual(['Done: Look', 'In progress: Fix ⟨U+202E⟩it!High priority', 'snoozed: Rest']);
  const head = screen.getByRole('button', { name: /Tasks/ });
  expect(head.textContent).toContain('1 of 3 done');
  fireEvent.click(head);
  expect(head.getAttribute('aria-expanded')).toBe('false');
  expect(head.textContent).toContain('Fix ⟨U+202E⟩it');
  host.emit(told([{ content: 'Look', status: 'completed' }, { content: 'Fix it', status: 'cancelled' }]));
  await waitFor(() => expect(screen.queryByTestId('todos')).toBeNull());
});
