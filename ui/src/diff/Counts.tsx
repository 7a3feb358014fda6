import { Show } from 'solid-js';
import { en } from '../i18n/en';

/** The numbers of added and removed lines. */
export function Counts(props: { additions: number; deletions: number }) {
  return (
    <Show when={props.additions + props.deletions > 0}>
      <span class="counts" aria-label={en.diff.counts(props.additions, props.deletions)} role="img">
        <span class="counts-add">+{props.additions}</span> <span class="counts-del">−{props.deletions}</span>
      </span>
    </Show>
  );
}
