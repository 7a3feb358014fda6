/** A session that holds every part type and every state of a tool call. */
import type { MessageView } from '../../protocol';
import type { Clock } from './ids';
import { call, createWriter } from './parts';
import { PIXELS } from './pixels';

const ROOT = '/home/ada/projects/lantern';

export function gallery(sessionID: string, clock: Clock): MessageView[] {
  const write = createWriter(sessionID, clock);
  const { part } = write;
  const t = clock.now();
  const asked = write.user(
    'The reading lamp flickers when two timers overlap. Find out why, and fix it with a test. Ask @explore where timers are kept, and see @src/timer.rs#L12-L48.',
    (id) => part(id, 'agent', { name: 'explore', source: { value: '@explore', start: 93, end: 101 } }),
    (id) =>
      part(id, 'file', {
        mime: 'text/plain',
        filename: 'timer.rs',
        url: `file://${ROOT}/src/timer.rs?start=12&end=48`,
        source: { type: 'file', path: `${ROOT}/src/timer.rs`, text: { value: '@src/timer.rs#L12-L48', start: 133, end: 154 } },
      }),
    (id) => part(id, 'file', { mime: 'image/png', filename: 'flicker.png', url: PIXELS }),
    (id) =>
      part(id, 'file', { mime: 'application/pdf', filename: 'lamp-manual.pdf', url: 'data:application/pdf;base64,' }),
    (id) => part(id, 'text', { text: 'Called the read tool with src/timer.rs', synthetic: true }),
  );
  const usage = { input: 1840, output: 412, reasoning: 96, cache: { read: 10_240, write: 0 } };
  const first = write.answer(
    asked.info.id,
    { time: { created: t, completed: t + 6400 }, finish: 'tool-calls' },
    (id) => part(id, 'step-start', { snapshot: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' }),
    (id) =>
      part(id, 'reasoning', {
        text: '**Looking for the second writer**\n\nTwo timers overlap, so something writes the brightness twice in one tick. `Timer::fire` and `Schedule::apply` are the candidates.',
        time: { start: t, end: t + 3200 },
      }),
    (id) => part(id, 'text', { text: 'Let me see who writes the brightness.', time: { start: t, end: t + 1 } }),
    (id) =>
      part(
        id,
        'tool',
        call('grep', {
          status: 'completed',
          input: { pattern: 'set_brightness', path: `${ROOT}/src` },
          output: 'src/timer.rs:31: lamp.set_brightness(level);\nsrc/schedule.rs:88: lamp.set_brightness(target);',
          title: 'set_brightness',
          metadata: { matches: 2 },
          time: { start: t, end: t + 41 },
        }),
      ),
    (id) =>
      part(
        id,
        'tool',
        call('read', {
          status: 'completed',
          input: { filePath: `${ROOT}/src/timer.rs`, offset: 12 },
          output: '12| pub fn fire(&mut self, lamp: &mut Lamp) {\n13|     lamp.set_brightness(self.level);\n14| }',
          title: 'src/timer.rs',
          metadata: {},
          time: { start: t, end: t + 12, compacted: t + 90_000 },
        }),
      ),
    (id) => part(id, 'step-finish', { reason: 'tool-calls', cost: 0.0042, tokens: usage }),
  );
  const second = write.answer(
    asked.info.id,
    { time: { created: t + 6500, completed: t + 31_000 }, finish: 'tool-calls' },
    (id) => part(id, 'step-start', {}),
    (id) =>
      part(id, 'retry', {
        attempt: 1,
        error: { name: 'APIError', data: { message: 'The model is overloaded', statusCode: 529, isRetryable: true } },
        time: { created: t },
      }),
    (id) =>
      part(
        id,
        'tool',
        call('edit', {
          status: 'completed',
          input: {
            filePath: `${ROOT}/src/schedule.rs`,
            oldString: 'lamp.set_brightness(target);',
            newString: 'lamp.request(target);',
          },
          output: 'Edit applied.',
          title: 'src/schedule.rs',
          metadata: {},
          time: { start: t, end: t + 9 },
        }),
      ),
    (id) =>
      part(
        id,
        'tool',
        call('bash', {
          status: 'error',
          input: { command: 'cargo test -p lamp overlapping_timers', description: 'Run the new test' },
          error: 'error[E0599]: no method named `request` found for `&mut Lamp` in the current scope',
          time: { start: t, end: t + 5400 },
        }),
      ),
    (id) =>
      part(
        id,
        'tool',
        call('bash', {
          status: 'running',
          input: { command: 'cargo test -p lamp' },
          metadata: { output: 'running 14 tests\n.........' },
          time: { start: t },
        }),
      ),
    (id) => part(id, 'tool', call('write', { status: 'pending', input: {}, raw: '{"filePath": "src/lam' })),
    (id) =>
      part(
        id,
        'tool',
        call('lantern_dim', {
          status: 'completed',
          input: { room: 'study', level: 40 },
          output: '',
          title: '',
          metadata: {},
          time: { start: t, end: t + 220 },
          attachments: [
            { id: clock.id('prt'), sessionID, messageID: id, mime: 'image/png', filename: 'study.png', url: PIXELS },
          ],
        }),
      ),
    (id) => part(id, 'patch', { hash: '9d1f', files: [`${ROOT}/src/schedule.rs`, `${ROOT}/src/lamp.rs`] }),
    (id) => part(id, 'step-finish', { reason: 'tool-calls', cost: 0.0061, tokens: usage }),
  );
  const last = write.answer(
    asked.info.id,
    { time: { created: t + 31_000, completed: t + 40_000 }, finish: 'stop' },
    (id) => part(id, 'text', { text: FINDINGS, time: { start: t, end: t + 9000 } }),
    (id) => part(id, 'snapshot', { snapshot: '0f3a6c1be94d2c77' }),
    (id) => part(id, 'step-finish', { reason: 'stop', cost: 0.0113, tokens: usage }),
  );
  const compacted = write.user('', (id) => part(id, 'compaction', { auto: true }));
  compacted.parts.shift();
  const delegated = write.user('Have a look at the docs as well.', (id) =>
    part(id, 'subtask', {
      agent: 'explore',
      description: 'Find stale documentation',
      prompt: 'List every place in docs/ that still describes the old timer.',
    }),
  );
  const refused = write.answer(delegated.info.id, {
    time: { created: clock.now(), completed: clock.now() },
    error: { name: 'ProviderAuthError', data: { providerID: 'anthropic', message: 'The key was revoked.' } },
  });
  const unknown = write.answer(delegated.info.id, { time: { created: clock.now() } }, (id) => ({
    part: { id: clock.id('prt'), sessionID, messageID: id, type: 'hologram', angle: 30 } as never,
  }));
  const stopped = write.answer(delegated.info.id, {
    time: { created: clock.now(), completed: clock.now() },
    error: { name: 'MessageAbortedError', data: { message: 'aborted' } },
  });
  return [asked, first, second, last, compacted, delegated, refused, unknown, stopped];
}

const FINDINGS = `## Why it flickers

Both \`Timer::fire\` and \`Schedule::apply\` wrote the brightness **in the same tick**, and the slower one won on every second frame.

1. A timer now *requests* a level.
2. The lamp settles requests once a tick, highest priority first.
3. The schedule is just another request.

\`\`\`rust
pub fn settle(&mut self) {
    // One write a tick, whoever asked.
    if let Some(level) = self.requests.drain(..).max() {
        self.driver.set(level);
    }
}
\`\`\`

| file | change |
| --- | --- |
| \`src/lamp.rs\` | collects requests, writes once |
| \`src/schedule.rs\` | asks instead of writing |

> The old behaviour was never documented, so nothing depends on it.

More about the driver in [its manual](https://example.com/lamp).`;
