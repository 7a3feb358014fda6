import { For } from 'solid-js';
import { piecesOf } from './pills';

/**
 * The pills behind the text of the field. The field itself stays a plain text area: this layer has the
 * same text in the same font, without colour, and only its pills have a background.
 */
export function Pills(props: { text: string; commands: readonly string[]; ref: (layer: HTMLDivElement) => void }) {
  return (
    <div class="composer-pills" ref={props.ref} aria-hidden="true">
      <For each={piecesOf(props.text, props.commands)}>
        {(piece) => (piece.pill ? <span class="pill" data-pill={piece.pill}>{piece.text}</span> : piece.text)}
      </For>
      {'\n'}
    </div>
  );
}
