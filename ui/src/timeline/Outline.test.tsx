import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { openWindow } from '../testing/window';

test('the outline lists the prompts of the whole session, and goes to the one that is chosen', async () => {
  const { app, host } = openWindow();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await app.select('ses_long');
  const prompts = (host.messages.get('ses_long') ?? []).filter(({ info }) => info.role === 'user');
  fireEvent.click(await screen.findByTestId('outline'));
  const field = await screen.findByTestId('outline-field');
  await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(prompts.length));
  const third = prompts[2];
  const words = third?.parts[0]?.part.type === 'text' ? third.parts[0].part.text.slice(0, 60) : '';
  fireEvent.input(field, { target: { value: words } });
  await waitFor(() => expect(screen.getAllByRole('option')[0]?.textContent).toContain(words));
  fireEvent.keyDown(field, { key: 'Enter' });
  await waitFor(() => expect(app.target()?.messageID).toBe(third?.info.id));
  expect(screen.queryByTestId('outline-list')).toBeNull();
});

test('one goes from prompt to prompt, also into what is not loaded yet', async () => {
  const { app, host } = openWindow();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await app.select('ses_long');
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_long'));
  const ids = (host.messages.get('ses_long') ?? []).flatMap(({ info }) => (info.role === 'user' ? [info.id] : []));
  const loaded = app.timeline.open()?.messages.find(({ info }) => info.role === 'user')?.info.id ?? '';
  const at = ids.indexOf(loaded);
  expect(at).toBeGreaterThan(0);
  const stop = app.promptSteps.register(() => ({ messageID: loaded, above: false }));
  await app.promptSteps.step(1);
  expect(app.target()?.messageID).toBe(ids[at + 1]);
  await app.promptSteps.step(-1);
  expect(app.target()?.messageID).toBe(ids[at - 1]);
  stop();
});
