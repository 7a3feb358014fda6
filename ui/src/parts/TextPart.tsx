import Link from 'lucide-solid/icons/link';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { CopyButton } from '../kit/CopyButton';
import { copyText } from '../kit/clipboard';
import { Fold } from '../kit/Fold';
import { LongText, WholeText } from '../kit/LongText';
import { Markdown } from '../kit/Markdown';
import { offerAround } from '../kit/offers';
import { linkTo } from '../text/place-link';
import type { PartView } from '../protocol';
import { useApp } from '../store/context';
import { wholeText } from '../store/whole-text';
import type { PartProps } from './registry';

export function TextPart(props: PartProps<'text'>) {
  const { host, attempt } = useApp();
  const load = () => attempt(() => wholeText(host, { part: props.part, cut: props.cut }));
  const copy = async () => {
    const { sessionID, messageID, id } = props.part;
    return (await attempt(() => host.copyPartText(sessionID, messageID, id).then(() => true))) ?? false;
  };
  const marks = createMemo(() => mentionsOf(props.siblings ?? []));
  const link = () => {
    const { sessionID, messageID, id } = props.part;
    return linkTo({ sessionID, messageID, partID: id });
  };
  const items = () => [
    { label: en.part.copyText, run: () => void (props.cut ? copy() : copyText(props.part.text)) },
    { label: en.work.turn.copyLink, run: () => void copyText(link()) },
  ];
  const body = () => (
    <>
      <Show when={props.blocks} fallback={<p class="plain-text"><LongText text={props.part.text} /></p>}>
        {(blocks) => <Markdown blocks={blocks()} marks={marks()} />}
      </Show>
      <Show when={props.cut && isFinished(props)}>
        <WholeText load={load} />
      </Show>
    </>
  );
  return (
    <Show when={!props.part.synthetic} fallback={<Fold label={en.part.synthetic} remembered={props.part.id}>{body()}</Fold>}>
      {body()}
      {/* That of a prompt is among its other actions. */}
      <Show when={props.message.role === 'assistant' && isFinished(props)}>
        <CopyButton
          ref={offerAround('.part', items)}
          class="part-copy"
          text={() => props.part.text}
          {...(props.cut && { copy })}
          label={en.part.copyText}
        />
        <CopyButton class="part-copy part-link" icon={Link} text={link} label={en.work.turn.copyLink} />
      </Show>
    </Show>
  );
}

/** While it streams, the source text is older than the blocks. */
function isFinished({ part, message }: PartProps<'text'>): boolean {
  return message.role === 'user' || message.time.completed !== undefined || part.time?.end !== undefined;
}

/** The mentions of agents and files in a prompt. */
function mentionsOf(siblings: readonly PartView[]): readonly string[] {
  return siblings.flatMap(({ part }) => {
    if (part.type === 'agent') return [part.source?.value ?? `@${part.name}`];
    const value = part.type === 'file' ? part.source?.text.value : undefined;
    return value?.startsWith('@') ? [value] : [];
  });
}
