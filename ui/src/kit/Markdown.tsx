import { Index } from 'solid-js';
import { RenderedHtml } from './RenderedHtml';

/**
 * Rendered Markdown, block by block. Keyed by place: while an answer streams, only the blocks
 * whose HTML is another are touched, and a finished one keeps its very nodes.
 */
export function Markdown(props: { blocks: readonly string[]; marks?: readonly string[]; class?: string }) {
  return (
    <div class={`markdown ${props.class ?? ''}`}>
      <Index each={props.blocks}>{(html) => <RenderedHtml html={html()} marks={props.marks} />}</Index>
    </div>
  );
}
