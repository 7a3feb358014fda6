import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Fold } from '../kit/Fold';
import { LongText, WholeText } from '../kit/LongText';
import { longDuration } from '../text/format';
import { Markdown } from '../kit/Markdown';
import { useApp } from '../store/context';
import { wholeText } from '../store/whole-text';
import type { PartProps } from './registry';

const BOLD_TITLE = /^\s*\*\*([^*\n]+)\*\*/;

/** Open while the model thinks, closed afterwards, unless the person has clicked. */
export function ReasoningPart(props: PartProps<'reasoning'>) {
  const { host, attempt } = useApp();
  const done = () => props.part.time.end !== undefined || stopped(props);
  const title = createMemo(() => BOLD_TITLE.exec(props.part.text)?.[1] ?? drawnTitle(props.blocks ?? []));
  const label = () => {
    const { start, end } = props.part.time;
    if (!done()) return en.part.thinking;
    const long = end === undefined ? '' : longDuration(end - start);
    return long === '' ? en.part.thoughts : en.part.thought(long);
  };
  return (
    <Fold label={label()} detail={title()} open={!done()} remembered={props.part.id}>
      <div class="reasoning-body">
        <Show when={props.blocks} fallback={<p class="plain-text"><LongText text={props.part.text} /></p>}>
          {(blocks) => <Markdown blocks={blocks()} />}
        </Show>
        <Show when={props.cut && done()}>
          <WholeText load={() => attempt(() => wholeText(host, { part: props.part, cut: props.cut }))} />
        </Show>
      </div>
    </Fold>
  );
}

const DRAWN_TITLE = /^\s*<p><strong>([^<]+)<\/strong>/;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

/** While it streams, only the blocks are up to date. A title is complete once text follows it. */
function drawnTitle(blocks: readonly string[]): string | undefined {
  const found = blocks.length > 1 ? DRAWN_TITLE.exec(blocks[0] ?? '')?.[1] : undefined;
  return found?.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** A killed turn leaves its reasoning without an end time. */
function stopped({ message }: PartProps<'reasoning'>): boolean {
  return message.role === 'assistant' && (message.time.completed !== undefined || message.error !== undefined);
}
