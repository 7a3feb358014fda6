import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { visible } from '../kit/visible';
import type { Question, ToolPart } from '../protocol';
import { GenericDetails, Outcome, type DetailsProps } from './GenericDetails';

/** What was asked, and what the person answered. */
export function QuestionDetails(props: DetailsProps) {
  const answered = () => props.part.state.status === 'completed';
  const failed = () => props.part.state.status === 'error';
  return (
    <Show when={questionsOf(props.part).length > 0} fallback={<GenericDetails {...props} />}>
      <dl class="answer-list">
        <For each={questionsOf(props.part)}>
          {(question, index) => (
            <div class="answer-pair">
              <dt>{visible(question.question)}</dt>
              <dd>{answered() ? visible(answerOf(props.part, index())) : en.tool.noAnswerYet}</dd>
            </div>
          )}
        </For>
      </dl>
      <Show when={failed()}>
        <Outcome {...props} />
      </Show>
    </Show>
  );
}

function questionsOf(part: ToolPart): readonly Question[] {
  const list = part.state.input?.['questions'];
  return Array.isArray(list) ? list.filter((one) => typeof one?.question === 'string') : [];
}

function answerOf(part: ToolPart, index: number): string {
  const all = part.state.status === 'completed' ? part.state.metadata?.['answers'] : undefined;
  const chosen: unknown = Array.isArray(all) ? all[index] : undefined;
  const words = Array.isArray(chosen) ? chosen.filter((one) => typeof one === 'string') : [];
  return words.length > 0 ? words.join(', ') : en.tool.noAnswer;
}
