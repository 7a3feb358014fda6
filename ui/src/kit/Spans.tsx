import { For, Show } from 'solid-js';
import type { Span } from '../protocol';

/** Coloured text from Rust. It goes into text nodes; deceptive characters are shown as codes. */
export function Spans(props: { spans: readonly Span[] }) {
  return (
    <For each={props.spans}>
      {(span) => (
        <Show when={isDressed(span)} fallback={span.text}>
          <span class={classOf(span)}>{span.shown ?? span.text}</span>
        </Show>
      )}
    </For>
  );
}

function isDressed(span: Span): boolean {
  return span.class !== undefined || span.mark === true || span.shown !== undefined;
}

function classOf(span: Span): string {
  return [span.class, span.mark && 'marked', span.shown && 'hidden-char'].filter((name) => name).join(' ');
}
