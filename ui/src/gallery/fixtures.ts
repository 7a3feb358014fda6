/** Every part in every state, and every tool call in every state, each with a name. */
import type { Clock } from '../host/fake/ids';
import { call, createWriter, type Told } from '../host/fake/parts';
import { PIXELS } from '../host/fake/pixels';
import type { AssistantMessage, Message, MessageView, PartType, PartView, ToolState } from '../protocol';
import { calls } from './calls';

export interface Exhibit {
  readonly name: string;
  readonly message: MessageView;
}

export interface Room {
  readonly id: string;
  readonly title: string;
  readonly exhibits: readonly Exhibit[];
}

export const SESSION = 'ses_gallery';
const ROOT = '/home/ada/projects/lantern';

export function rooms(clock: Clock): Room[] {
  const write = createWriter(SESSION, clock);
  const t = clock.now();
  const asked = write.user('What would you like to see?');

  const answer = (change: Partial<AssistantMessage>, ...parts: ((id: string) => PartView)[]): MessageView =>
    write.answer(asked.info.id, { time: { created: t, completed: t + 3200 }, ...change }, ...parts);
  const said = <T extends PartType>(name: string, type: T, told: Told<T>): Exhibit => ({
    name,
    message: answer({}, (id) => write.part(id, type, told)),
  });
  const prompt = (name: string, text: string, ...parts: ((id: string) => PartView)[]): Exhibit => ({
    name,
    message: write.user(text, ...parts),
  });
  const tool = (name: string, toolName: string, state: ToolState, live?: string): Exhibit => ({
    name,
    message: answer({}, (id) => {
      const view = write.part(id, 'tool', call(toolName, state));
      return live === undefined ? view : { ...view, blocks: [live] };
    }),
  });

  const file = (told: Told<'file'>) => (id: string) => write.part(id, 'file', told);
  const words: Room = {
    id: 'words',
    title: 'Text and reasoning',
    exhibits: [
      said('text', 'text', { text: ANSWER, time: { start: t, end: t + 1 } }),
      said('diagram', 'text', {
        text: '```mermaid\ngraph TD\n  Timer --> Lamp\n```',
        time: { start: t, end: t + 1 },
      }),
      said('text with pictures of the web', 'text', {
        text: 'Here: ![the lamp](https://img.example/lamp.png) and ![nowhere](https://img.invalid/a.png).',
        time: { start: t, end: t + 1 },
      }),
      said('reasoning, done', 'reasoning', {
        text: '**Looking for the second writer**\n\nTwo timers overlap, so something writes twice.',
        time: { start: t, end: t + 3200 },
      }),
      {
        name: 'reasoning, under way',
        message: answer({ time: { created: t } }, (id) =>
          write.part(id, 'reasoning', { text: '**Weighing both**\n\nThe first is simpler', time: { start: t } }),
        ),
      },
      prompt(
        'prompt with mentions',
        'Ask @explore where @src/timer.rs is used, and look at the picture.',
        (id) => write.part(id, 'agent', { name: 'explore', source: { value: '@explore', start: 4, end: 12 } }),
        file({
          mime: 'text/plain',
          url: `file://${ROOT}/src/timer.rs?start=12&end=48`,
          source: { type: 'file', path: `${ROOT}/src/timer.rs`, text: { value: '@src/timer.rs', start: 19, end: 32 } },
        }),
        file({ mime: 'image/png', filename: 'flicker.png', url: PIXELS }),
        file({ mime: 'application/pdf', filename: 'lamp-manual.pdf', url: 'data:application/pdf;base64,' }),
        file({ mime: 'application/x-directory', url: `file://${ROOT}/docs` }),
        file({
          mime: 'text/plain',
          url: 'lamp://rooms',
          source: { type: 'resource', clientName: 'lamp', uri: 'lamp://rooms', text: { value: '', start: 0, end: 0 } },
        }),
        (id) => write.part(id, 'text', { text: 'Called the read tool with src/timer.rs', synthetic: true }),
      ),
    ],
  };
  const marks: Room = {
    id: 'marks',
    title: 'Steps, changes and other marks',
    exhibits: [
      said('step-start', 'step-start', {}),
      said('step-finish', 'step-finish', {
        reason: 'stop',
        cost: 0.0113,
        tokens: { input: 1840, output: 412, reasoning: 96, cache: { read: 10_240, write: 0 } },
      }),
      said('snapshot', 'snapshot', { snapshot: '0f3a6c1be94d2c77', name: 'Before the rewrite' }),
      said('patch', 'patch', { hash: '9d1f', files: ['src/schedule.rs', 'src/lamp.rs', 'src/a.rs', 'src/b.rs'].map((p) => `${ROOT}/${p}`) }),
      said('retry', 'retry', {
        attempt: 1,
        error: { name: 'APIError', data: { message: 'The model is overloaded', statusCode: 529, isRetryable: true } },
        time: { created: t },
      }),
      {
        name: 'subtask',
        message: answer({}, (id) =>
          write.part(id, 'subtask', {
            agent: 'explore',
            description: 'Find stale documentation',
            prompt: 'List every place in docs/ that still describes the old timer.',
          }),
        ),
      },
      said('compaction, by itself', 'compaction', { auto: true }),
      said('compaction, asked for', 'compaction', { auto: false }),
      {
        name: 'unknown',
        message: answer({}, (id) => ({
          part: { id: clock.id('prt'), sessionID: SESSION, messageID: id, type: 'hologram', angle: 30 } as never,
        })),
      },
    ],
  };
  return [words, marks, ...calls(ROOT, t, tool)];
}

export function isPrompt(info: Message): boolean {
  return info.role === 'user';
}

const ANSWER = `## Why it flickers

Both \`Timer::fire\` and \`Schedule::apply\` wrote the brightness **in the same tick**. See [the manual](https://example.com/lamp).

1. A timer *requests* a level.
2. The lamp settles requests once a tick.

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

> The old behaviour was never documented.`;
