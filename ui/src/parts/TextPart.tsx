import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { CopyButton } from '../kit/CopyButton';
import { Fold } from '../kit/Fold';
import { Markdown } from '../kit/Markdown';
import type { PartProps } from './registry';

export function TextPart(props: PartProps<'text'>) {
  const body = () => (
    <Show when={props.blocks} fallback={<p class="plain-text">{props.part.text}</p>}>
      {(blocks) => <Markdown blocks={blocks()} />}
    </Show>
  );
  return (
    <Show when={!props.part.synthetic} fallback={<Fold label={en.part.synthetic}>{body()}</Fold>}>
      {body()}
      <Show when={isFinished(props)}>
        <CopyButton class="part-copy" text={() => props.part.text} label={en.part.copyText} />
      </Show>
    </Show>
  );
}

/** While it streams, the source is behind what is shown. */
function isFinished({ part, message }: PartProps<'text'>): boolean {
  return message.role === 'user' || message.time.completed !== undefined || part.time?.end !== undefined;
}
