import { waitFor } from '@solidjs/testing-library';
import { expect, onTestFinished, test } from 'vitest';
import type { Session } from '../protocol';
import { countRunsBelow } from '../testing/runs';
import { openWindow } from '../testing/window';

const LISTED = 200;

function addSessions(sessions: Map<string, Session>) {
  const sample = sessions.get('ses_docs') as Session;
  for (let index = sessions.size; index < LISTED; index += 1) {
    const id = `ses_more${index}`;
    sessions.set(id, { ...sample, id, title: `Session ${index}` });
  }
}

test('with 200 sessions listed, an answer that streams in runs nothing in the sidebar', async () => {
  const runs = countRunsBelow('Sidebar');
  onTestFinished(runs.stop);
  const { host, app } = openWindow({ pace: 1 });
  addSessions(host.sessions);
  await waitFor(() => expect(document.querySelectorAll('.session-row').length).toBeGreaterThan(50));
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  for (const name of ['Sidebar', 'ProjectGroup', 'SessionRow']) expect(runs.counts.get(name)).toBeGreaterThan(0);

  void app.send('Show me a long answer');
  const said = () => [...document.querySelectorAll('.assistant-message')].at(-1)?.textContent ?? '';
  await waitFor(() => expect(said()).toContain('Here is'));
  expect(app.busy()).toBe(true);

  runs.reset();
  const before = said().length;
  await waitFor(() => expect(said().length).toBeGreaterThan(before + 200));
  expect(app.busy()).toBe(true);
  expect([...runs.counts]).toEqual([]);
});
