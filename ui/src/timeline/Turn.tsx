import { createMemo, For, Show } from 'solid-js';
import { clock } from '../text/format';
import { isSummary } from '../parts/CompactionPart';
import { PartList } from '../parts/PartList';
import { isWritten } from '../store/prompts';
import { isUnsent, type Answer, type Row } from '../store/turns';
import { isMark, runsOf, type Runs } from '../tools/runs';
import { MessageFailure } from './MessageFailure';
import { PromptActions } from './PromptActions';
import { QueuedPrompt } from './QueuedPrompt';
import { TurnFooter } from './TurnFooter';
import { UnsentPrompt } from './UnsentPrompt';

interface TurnProps {
  readonly row: () => Row | undefined;
  /** All rows of the same turn. */
  readonly rows: () => readonly Row[];
  readonly last: () => boolean;
  /** The agent works on this turn. */
  readonly running: () => boolean;
}

/** One row of the timeline: a turn, or a section of a very long one. */
export function Turn(props: TurnProps) {
  // A compaction summary is shown at its divider.
  const answers = createMemo(() => props.row()?.answers.filter((answer) => !isSummary(answer.info)) ?? []);
  const answerIDs = createMemo(() => answers().map((answer) => answer.info.id));
  const runs = createMemo(() => runsOf(answers()));
  const answer = (id: string) => props.row()?.answers.find((one) => one.info.id === id);
  return (
    <article class="session-turn" data-turn-id={props.row()?.turnID} data-last={props.last() ? '' : undefined}>
      <Show when={props.row()?.user}>
        {(user) => (
          <div
            class="user-message"
            data-message-id={user().info.id}
            data-queued={props.row()?.queued ? '' : undefined}
            data-unsent={isUnsent(user().info) && !props.row()?.queued ? '' : undefined}
            title={clock(user().info.time.created)}
          >
            <Show when={!props.row()?.queued} fallback={<QueuedPrompt message={user()} />}>
              <PartList message={user()} />
              <Show when={isWritten(user())}>
                <Show when={!isUnsent(user().info)} fallback={<UnsentPrompt message={user()} />}>
                  <PromptActions message={user()} />
                </Show>
              </Show>
            </Show>
          </div>
        )}
      </Show>
      <For each={answerIDs()}>
        {(id) => <Show when={answer(id)}>{(found) => <AnswerMessage answer={found()} runs={runs()} />}</Show>}
      </For>
      <Show when={props.row()?.ends && props.row()}>
        {(row) => <TurnFooter turnID={row().turnID} rows={props.rows()} running={props.running()} />}
      </Show>
    </article>
  );
}

function AnswerMessage(props: { answer: Answer; runs: Runs }) {
  // A step whose calls are all drawn with an earlier one must not leave a gap.
  const isFolded = createMemo(() => {
    const { info, parts } = props.answer;
    const calls = parts.filter(({ part }) => !isMark(part));
    const drawnElsewhere = (id: string) => (props.runs.get(id)?.[0]?.part.id ?? id) !== id;
    return calls.length > 0 && !info.error && calls.every(({ part }) => drawnElsewhere(part.id));
  });
  return (
    <div class="assistant-message" data-message-id={props.answer.info.id} data-folded={isFolded() ? '' : undefined}>
      <PartList message={props.answer} runs={props.runs} />
      <Show when={props.answer.info.error}>{(error) => <MessageFailure error={error()} messageID={props.answer.info.id} />}</Show>
    </div>
  );
}
