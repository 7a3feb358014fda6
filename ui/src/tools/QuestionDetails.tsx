import { createMemo, Show } from 'solid-js';
import type { AnsweredQuestion } from '../protocol';
import { AnswerList } from './BodyView';
import { GenericDetails, Outcome, type DetailsProps } from './GenericDetails';

/** The questions and the person's answers. */
export function QuestionDetails(props: DetailsProps) {
  const answered = () => props.part.state.status === 'completed';
  const failed = () => props.part.state.status === 'error';
  const pairs = createMemo(() => pairsOf(props));
  return (
    <Show when={pairs().length > 0} fallback={<GenericDetails {...props} />}>
      <AnswerList pairs={pairs()} answered={answered()} />
      <Show when={failed()}>
        <Outcome {...props} />
      </Show>
    </Show>
  );
}

/** The loaded questions, or those of the part until then. */
function pairsOf({ part, details }: DetailsProps): readonly AnsweredQuestion[] {
  const body = details.value()?.body;
  if (body?.kind === 'answers') return body.questions;
  const { state } = part;
  const asked = details.input()['questions'];
  const given = state.status === 'completed' ? state.metadata?.['answers'] : undefined;
  if (!Array.isArray(asked)) return [];
  return asked
    .map((one, index) => ({ question: one?.question, answers: wordsOf(Array.isArray(given) ? given[index] : undefined) }))
    .filter((pair) => typeof pair.question === 'string');
}

function wordsOf(chosen: unknown): string[] {
  return Array.isArray(chosen) ? chosen.filter((one) => typeof one === 'string') : [];
}
