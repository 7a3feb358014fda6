import { createMemo } from 'solid-js';
import { en } from '../i18n/en';
import { count, duration, money } from '../text/format';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** Nothing is visible; the element is there for style sheets and tests. */
export function StepStartPart(_props: PartProps<'step-start'>) {
  return null;
}

/** The tokens of a step. Always visible at the end of a turn, else on hover. */
export function StepFinishPart(props: PartProps<'step-finish'>) {
  const app = useApp();
  const used = createMemo(() => {
    const { tokens, cost } = props.part;
    const { message } = props;
    const input = tokens.input + tokens.cache.read + tokens.cache.write;
    const answer = message.role === 'assistant' ? message : undefined;
    const took = answer?.time.completed === undefined ? '' : duration(answer.time.completed - answer.time.created);
    return [answer && app.models.nameOf(answer), took, en.part.tokens(count(input), count(tokens.output)), money(cost)]
      .filter((word) => word)
      .join(' · ');
  });
  const detail = () => {
    const { input, output, reasoning, cache } = props.part.tokens;
    return en.part.tokensDetail(input, output, reasoning, cache.read, cache.write);
  };
  return (
    <p class="meta-line step-line" data-reason={props.part.reason} title={detail()}>
      {used()}
    </p>
  );
}
