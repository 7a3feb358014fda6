import { Show, type JSX } from 'solid-js';
import { CopyButton } from '../kit/CopyButton';
import { LongText } from '../kit/LongText';

export function Section(props: { label: string; text: string; tone?: 'danger'; copy?: string }) {
  return (
    <Labelled label={props.label} copy={props.copy} text={() => props.text}>
      <pre
        class="card-code"
        classList={{ 'card-error': props.tone === 'danger' }}
        tabindex="0"
        aria-label={props.label}
      >
        <LongText text={props.text} />
      </pre>
    </Labelled>
  );
}

/** A section with a label and, if it has text, a copy button. */
export function Labelled(props: { label: string; copy?: string; text?: () => string; children: JSX.Element }) {
  return (
    <div class="card-section">
      <span class="card-label">{props.label}</span>
      {props.children}
      <Show when={props.copy}>
        {(label) => <CopyButton class="card-copy" text={() => props.text?.() ?? ''} label={label()} />}
      </Show>
    </div>
  );
}
