/** A scripted answer: step-start, reasoning, text that grows word by word, step-finish. */
import type { AssistantMessage, ModelRef, UiUpdate } from '../../protocol';
import type { Clock } from './ids';
import { blocksOf } from './markdown';
import { assistant, createWriter, viewOf } from './parts';

export const TOUR = `Here is how a turn looks.

Each turn is made of **parts**: what you asked, what I thought, what I did and what I say. You can open every one of them.

- I read and search your project on my own.
- I ask before I change a file or run a command.
- Everything I change can be taken back.

\`\`\`rust
fn main() {
    // Code is coloured, and copied with one click.
    let turns = 1;
    println!("{turns} turn so far");
}
\`\`\`

Press **Esc** to stop me at any time, or keep typing: what you send while I work is picked up at my next step.`;

const THOUGHT = '**Planning the tour**\n\nThe person is new here. A short walk through the parts of a turn will do.';

export interface Frame {
  readonly updates: UiUpdate[];
  /** The message after this frame, so that a stop can end it. */
  readonly info: { role: 'assistant' } & AssistantMessage;
}

/** The frames of an answer, one per visible change. */
export function* answerFrames(
  sessionID: string,
  parentID: string,
  clock: Clock,
  text = TOUR,
  model?: ModelRef,
): Generator<Frame> {
  const write = createWriter(sessionID, clock);
  let info = assistant(sessionID, parentID, clock, model);
  const event = (): UiUpdate => ({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
  const put = (part: Parameters<typeof viewOf>[0]): UiUpdate => ({ kind: 'part', part: viewOf(part) });

  yield { info, updates: [event(), { kind: 'part', part: write.part(info.id, 'step-start', {}) }] };

  const start = clock.now();
  const thought = write.part(info.id, 'reasoning', { text: THOUGHT, time: { start } }).part;
  yield { info, updates: [put(thought)] };
  yield { info, updates: [put({ ...thought, time: { start, end: start + 1800 } } as typeof thought)] };

  const said = write.part(info.id, 'text', { text: '', time: { start: clock.now() } }).part;
  yield { info, updates: [{ kind: 'part', part: { part: said, blocks: [] } }] };
  yield* growing(said.id);

  const tokens = { input: 812, output: 164, reasoning: 31, cache: { read: 0, write: 0 } };
  info = { ...info, finish: 'stop', tokens, time: { ...info.time, completed: clock.now() + 4200 } };
  const finish = write.part(info.id, 'step-finish', { reason: 'stop', cost: 0, tokens });
  const whole = put({ ...said, text, time: { start: clock.now(), end: clock.now() } } as typeof said);
  yield { info, updates: [whole, { kind: 'part', part: finish }, event()] };

  function* growing(partID: string): Generator<Frame> {
    const words = text.split(/(?<=\s)/);
    let shown: string[] = [];
    for (let count = 1; count <= words.length; count += 1) {
      const next = blocksOf(words.slice(0, count).join(''));
      const keep = next.findIndex((block, index) => block !== shown[index]);
      if (keep === -1) continue;
      const blocks = next.slice(keep);
      yield { info, updates: [{ kind: 'blocks', sessionID, messageID: info.id, partID, keep, blocks }] };
      shown = next;
    }
  }
}
