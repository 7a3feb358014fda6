import ChevronRight from 'lucide-solid/icons/chevron-right';
import { createSignal, createUniqueId, Show, type JSX } from 'solid-js';
import './fold.css';
import { visibleLine } from './visible';

/** A quiet line that opens. `open` is where it stands until somebody clicks. */
export function Fold(props: { label: string; detail?: string; open?: boolean; children: JSX.Element }) {
  const [chosen, setChosen] = createSignal<boolean | undefined>();
  const open = () => chosen() ?? props.open ?? false;
  const id = createUniqueId();
  return (
    <div class="fold">
      <button
        type="button"
        class="fold-head"
        aria-expanded={open()}
        aria-controls={id}
        onClick={() => setChosen(!open())}
      >
        <ChevronRight class="chevron" size={14} aria-hidden="true" />
        <span>{props.label}</span>
        <Show when={props.detail}>
          <span class="fold-detail">{visibleLine(props.detail ?? '')}</span>
        </Show>
      </button>
      <Show when={open()}>
        <div class="fold-body" id={id}>
          {props.children}
        </div>
      </Show>
    </div>
  );
}
