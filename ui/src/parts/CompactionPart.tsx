import { createMemo, createUniqueId, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Markdown } from '../kit/Markdown';
import { createOpenState } from '../store/expanded';
import type { MessageView, PartView } from '../protocol';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** Where the model's memory was summed up. What it was told instead can be read here. */
export function CompactionPart(props: PartProps<'compaction'>) {
  const app = useApp();
  const id = createUniqueId();
  const summary = createMemo(() => summaryOf(props.message.id, app.timeline.open()?.messages ?? []));
  // Under the name of the text that it shows: whoever is led there finds it open.
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

/** The first text of the message that sums up. */
function summaryOf(promptID: string, messages: readonly MessageView[]): PartView | undefined {
  const summary = messages.find(({ info }) => isSummary(info) && info.parentID === promptID);
  return summary?.parts.find((view) => view.part.type === 'text');
}

/** Shown by the divider it belongs to, not as an answer. */
export function isSummary(info: MessageView['info']): info is Extract<MessageView['info'], { role: 'assistant' }> {
  return info.role === 'assistant' && info.summary === true;
}
