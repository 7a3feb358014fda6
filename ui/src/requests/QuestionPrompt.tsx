import CircleHelp from 'lucide-solid/icons/circle-question-mark';
import { createMemo, createUniqueId, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { moveFocus } from '../kit/focus';
import { altName, isComposing } from '../kit/keys';
import { visible } from '../text/visible';
import type { Question, QuestionRequest } from '../protocol';
import { isRepeated, type Arming } from './arming';
import { askerOf, createAnswering } from './answering';
import { useApp } from '../store/context';
import type { TypedAnswer } from '../store/typed-answers';
import './request.css';

const NOTHING: TypedAnswer = { chosen: [], own: '' };

/** A question of the agent. All questions of a request are answered together. */
export function QuestionPrompt(props: { request: QuestionRequest; arming: Arming; position?: string }) {
  const app = useApp();
  let section!: HTMLElement;
  const [armed, answering] = [props.arming.begin(), createAnswering(() => section)];
  const given = () => app.typed.answers(props.request.id);
  const answers = createMemo(() => props.request.questions.map((_, index) => answersOf(given()[index] ?? NOTHING)));
  const complete = () => answers().every((list) => list.length > 0);

  const send = () => {
    const [{ id }, words] = [props.request, answers()];
    void answering.run(() => app.host.answerQuestion(id, words));
  };
  /** Dismissing needs no choice, so a late key press could be meant for the previous question. */
  const dismiss = () => {
    const { id } = props.request;
    if (armed()) void answering.run(() => app.host.dismissQuestion(id));
  };
  const asker = () => askerOf(app, props.request.sessionID);
  answering.useKeys({ Digit9: () => section.querySelector('input')?.focus(), Digit0: dismiss });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || !(event.target instanceof HTMLInputElement)) return;
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    // Esc only leaves the field; it must not stop the turn.
    if (event.key === 'Escape') moveFocus('composer');
    else if (complete()) send();
  };

  return (
    <section
      class="prompt"
      ref={section}
      data-question="true"
      data-request-id={props.request.id}
      aria-label={en.question.label}
      onKeyDown={onKeyDown}
    >
      <Show when={asker() ?? props.position}>
        <div class="prompt-head prompt-whose">
          <span class="prompt-note prompt-asker">{asker()}</span>
          <span class="prompt-position">{props.position}</span>
        </div>
      </Show>
      <For each={props.request.questions}>
        {(question, index) => (
          <QuestionField
            question={question}
            given={given()[index()] ?? NOTHING}
            onGive={(value) => app.typed.setAnswer(props.request.id, index(), value)}
          />
        )}
      </For>
      <div class="prompt-actions">
        <span class="prompt-note">{en.question.keys(altName('9'))}</span>
        <Button
          disabled={answering.done()}
          aria-disabled={armed() ? undefined : 'true'}
          data-armed={armed() ? '' : undefined}
          onClick={(event) => isRepeated(event) || dismiss()}
        >
          {en.question.dismiss}
          <kbd aria-hidden="true">{altName('0')}</kbd>
        </Button>
        <Button
          tone="primary"
          disabled={!complete() || answering.done()}
          onClick={(event) => isRepeated(event) || send()}
        >
          {en.question.answer}
          <kbd aria-hidden="true">Enter</kbd>
        </Button>
      </div>
    </section>
  );
}

/** Not a fieldset: webviews lay one out anew, with another height, when it gets the focus. */
function QuestionField(props: { question: Question; given: TypedAnswer; onGive: (given: TypedAnswer) => void }) {
  const name = createUniqueId();
  const isChosen = (label: string) => props.given.chosen.includes(label);
  const choose = (label: string) => {
    const { chosen, own } = props.given;
    if (!props.question.multiple) return props.onGive({ chosen: [label], own: '' });
    const next = isChosen(label) ? chosen.filter((one) => one !== label) : [...chosen, label];
    return props.onGive({ chosen: next, own });
  };
  const write = (own: string) => props.onGive({ chosen: props.question.multiple ? props.given.chosen : [], own });

  return (
    <div class="question" role="group" aria-labelledby={`${name}-title`}>
      <div class="prompt-head" id={`${name}-title`}>
        <CircleHelp size={15} aria-hidden="true" />
        <Show when={props.question.header}>
          <span class="question-header">{visible(props.question.header)}</span>
        </Show>
        <span class="prompt-title">{visible(props.question.question)}</span>
      </div>
      <For each={props.question.options}>
        {(option) => (
          <label class="question-option">
            <input
              type={props.question.multiple ? 'checkbox' : 'radio'}
              name={name}
              checked={isChosen(option.label)}
              onChange={() => choose(option.label)}
            />
            <span>
              {visible(option.label)}
              <Show when={option.description}>
                <span class="prompt-note"> {visible(option.description)}</span>
              </Show>
            </span>
          </label>
        )}
      </For>
      <Show when={props.question.custom !== false}>
        <input
          class="field"
          aria-label={en.question.own}
          placeholder={en.question.own}
          value={props.given.own}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </Show>
    </div>
  );
}

function answersOf({ chosen, own }: TypedAnswer): string[] {
  const written = own.trim();
  return written === '' ? [...chosen] : [...chosen, written];
}
