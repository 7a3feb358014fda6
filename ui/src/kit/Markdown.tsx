import { Index } from 'solid-js';
import { RenderedHtml } from './RenderedHtml';

/**
 * Rendered Markdown, block by block. Keyed by index: while an answer streams, only blocks whose HTML
 * has changed are updated.
 */
export function Markdown(props: { blocks: readonly string[]; marks?: readonly string[]; class?: string }) {
  return (
    <div class={`markdown ${props.class ?? ''}`}>
      <Index each={props.blocks}>{(html) => <RenderedHtml html={html()} marks={props.marks} />}</Index>
    </div>
  );
}
