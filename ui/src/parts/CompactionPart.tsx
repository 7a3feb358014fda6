import { createMemo, createUniqueId, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Markdown } from '../kit/Markdown';
import { createOpenState } from '../store/expanded';
import type { MessageView, PartView } from '../protocol';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** The divider where the session was compacted, with the summary that the model got. */
export function CompactionPart(props: PartProps<'compaction'>) {
  const app = useApp();
  const id = createUniqueId();
  const summary = createMemo(() => summaryOf(props.message.id, app.timeline.open()?.messages ?? []));
  // With the id of the text part, so that a search hit in it opens it.
  const { open, toggle } = createOpenState(
    () => summary()?.part.id,
    () => false,
  );
  return (
    <>
      <div class="divider" role="separator">
        <span>{props.part.auto ? en.part.compactionAuto : en.part.compaction}</span>
        <Show when={summary()}>
          <button
            type="button"
            class="divider-act"
            data-testid="read-summary"
            aria-expanded={open()}
            aria-controls={id}
            onClick={toggle}
          >
            {en.part.readSummary}
          </button>
        </Show>
      </div>
      <Show when={open() && summary()}>
        {(text) => (
          <div class="part summary" id={id} data-part-id={text().part.id}>
            <Markdown blocks={text().blocks ?? []} />
          </div>
        )}
      </Show>
    </>
  );
}

/** The first text part of the summary message. */
function summaryOf(promptID: string, messages: readonly MessageView[]): PartView | undefined {
  const summary = messages.find(({ info }) => isSummary(info) && info.parentID === promptID);
  return summary?.parts.find((view) => view.part.type === 'text');
}

/** A summary is shown by its divider, not as an answer. */
export function isSummary(info: MessageView['info']): info is Extract<MessageView['info'], { role: 'assistant' }> {
  return info.role === 'assistant' && info.summary === true;
}
