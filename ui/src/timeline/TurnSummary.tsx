import FileDiff from 'lucide-solid/icons/file-diff';
import { Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import type { Message } from '../protocol';
import { useApp } from '../store/context';

/** The changes of a turn, under its prompt, with a link to the review. */
export function TurnSummary(props: { message: Message }) {
  const app = useApp();
  const diffs = () => (props.message.role === 'user' ? (props.message.summary?.diffs ?? []) : []);
  const sum = (key: 'additions' | 'deletions') => diffs().reduce((all, diff) => all + diff[key], 0);
  return (
    <Show when={diffs().length > 0}>
      <button
        type="button"
        class="turn-summary"
        data-testid="turn-summary"
        onClick={() => app.review.open({ turnID: props.message.id })}
      >
        <FileDiff size={13} aria-hidden="true" />
        <span>{en.part.changed(diffs().length)}</span>
        <Counts additions={sum('additions')} deletions={sum('deletions')} />
        <span class="patch-review">{en.part.openReview}</span>
      </button>
    </Show>
  );
}
