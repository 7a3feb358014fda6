import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { count, longDuration, money } from '../text/format';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** Nothing is visible; the element is there for style sheets and tests. */
export function StepStartPart(_props: PartProps<'step-start'>) {
  return null;
}

/** The files that a step changed. Nothing is visible: the cards above say it, and the end of the turn says it all. */
export function PatchPart(_props: PartProps<'patch'>) {
  return null;
}

/** The tokens of a step between two others, on hover. Those of the turn are at its end. */
export function StepFinishPart(props: PartProps<'step-finish'>) {
  const app = useApp();
  const used = createMemo(() => {
    const { tokens, cost } = props.part;
    const { message } = props;
    const input = tokens.input + tokens.cache.read + tokens.cache.write;
    const answer = message.role === 'assistant' ? message : undefined;
    const took = answer?.time.completed === undefined ? '' : longDuration(answer.time.completed - answer.time.created);
    return [answer && app.models.nameOf(answer), took, en.part.tokens(count(input), count(tokens.output)), money(cost)]
      .filter((word) => word)
      .join(' · ');
  });
  const detail = () => {
    const { input, output, reasoning, cache } = props.part.tokens;
    return en.part.tokensDetail(input, output, reasoning, cache.read, cache.write);
  };
  return (
    <Show when={props.part.reason === 'tool-calls'}>
      <p class="meta-line step-line" title={detail()}>
        {used()}
      </p>
    </Show>
  );
}
