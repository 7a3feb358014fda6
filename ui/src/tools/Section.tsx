import { Show } from 'solid-js';
import { CopyButton } from '../kit/CopyButton';
import { visible } from '../kit/visible';

export function Section(props: { label: string; text: string; tone?: 'danger'; copy?: string }) {
  return (
    <div class="card-section">
      <span class="card-label">{props.label}</span>
      <pre
        class="card-code"
        classList={{ 'card-error': props.tone === 'danger' }}
        tabindex="0"
        aria-label={props.label}
      >
        {visible(props.text)}
      </pre>
      <Show when={props.copy}>
        {(label) => <CopyButton class="card-copy" text={() => props.text} label={label()} />}
      </Show>
    </div>
  );
}
