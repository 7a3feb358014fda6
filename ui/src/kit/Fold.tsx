import ChevronRight from 'lucide-solid/icons/chevron-right';
import { createUniqueId, Show, type JSX } from 'solid-js';
import './fold.css';
import { createOpenState } from '../store/expanded';
import { visibleLine } from '../text/visible';

interface FoldProps {
  readonly label: string;
  readonly detail?: string;
  /** Whether it is open until the person clicks. */
  readonly open?: boolean;
  /** The key under which its open state is remembered. */
  readonly remembered?: string;
  readonly children: JSX.Element;
}

/** A line of text that expands. */
export function Fold(props: FoldProps) {
  const { open, toggle } = createOpenState(
    () => props.remembered,
    () => props.open,
  );
  const id = createUniqueId();
  return (
    <div class="fold">
      <button
        type="button"
        class="fold-head"
        aria-expanded={open()}
        aria-controls={id}
        onClick={toggle}
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
