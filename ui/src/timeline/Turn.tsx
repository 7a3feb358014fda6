import Pencil from 'lucide-solid/icons/pencil';
import { createMemo, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { clock } from '../kit/format';
import { PartList } from '../parts/PartList';
import { useApp } from '../store/context';
import type { Answer, Row } from '../store/turns';
import { MessageFailure } from './MessageFailure';
import { QueuedPrompt } from './QueuedPrompt';

/** One row of the timeline: a turn, or a stretch of a very long one. */
export function Turn(props: { row: () => Row | undefined; last: () => boolean }) {
  const app = useApp();
  const answerIDs = createMemo(() => props.row()?.answers.map((answer) => answer.info.id) ?? []);
  const answer = (id: string) => props.row()?.answers.find((one) => one.info.id === id);
  return (
    <article class="session-turn" data-turn-id={props.row()?.turnID} data-last={props.last() ? '' : undefined}>
      <Show when={props.row()?.user}>
        {(user) => (
          <div
            class="user-message"
            data-message-id={user().info.id}
            data-queued={props.row()?.queued ? '' : undefined}
            title={clock(user().info.time.created)}
          >
            <Show when={!props.row()?.queued} fallback={<QueuedPrompt message={user()} />}>
              <PartList message={user()} />
              <Show when={!app.busy()}>
                <IconButton
                  class="user-edit"
                  data-testid="edit-prompt"
                  icon={Pencil}
                  size={13}
                  label={en.edit.begin}
                  onClick={() => app.editing.begin(user())}
                />
              </Show>
            </Show>
          </div>
        )}
      </Show>
      <For each={answerIDs()}>
        {(id) => <Show when={answer(id)}>{(found) => <AnswerMessage answer={found()} />}</Show>}
      </For>
    </article>
  );
}

function AnswerMessage(props: { answer: Answer }) {
  return (
    <div class="assistant-message" data-message-id={props.answer.info.id}>
      <PartList message={props.answer} />
      <Show when={props.answer.info.error}>{(error) => <MessageFailure error={error()} messageID={props.answer.info.id} />}</Show>
    </div>
  );
}
