import ChevronRight from 'lucide-solid/icons/chevron-right';
import { createUniqueId, Show, type JSX } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { Icon } from './Button';
import { createOpenState } from '../store/expanded';
import { visible } from '../text/visible';
import './card.css';

export type CardTone = 'plain' | 'quiet' | 'warn' | 'danger';

interface CardProps {
  readonly icon: Icon;
  readonly title: string;
  readonly subtitle?: string;
  /** At the right end of the header: a state, a duration. */
  readonly aside?: JSX.Element;
  readonly tone?: CardTone;
  /** Whether it is open until the person clicks. */
  readonly open?: boolean;
  /** The key under which its open state is remembered. */
  readonly remembered?: string;
  /** Created only when the card is opened. */
  readonly children?: JSX.Element;
}

/** One line with a summary that expands to the details. */
export function Card(props: CardProps) {
  const { open, toggle } = createOpenState(
    () => props.remembered,
    () => props.open,
  );
  const id = createUniqueId();
  return (
    <div class="card" data-tone={props.tone ?? 'plain'} data-open={open() ? '' : undefined}>
      <button
        type="button"
        class="card-head"
        aria-expanded={open()}
        aria-controls={id}
        onClick={toggle}
      >
        <Dynamic component={props.icon} size={14} aria-hidden="true" />
        <span class="card-title">{visible(props.title)}</span>
        <span class="card-subtitle" title={visible(props.subtitle ?? '')}>
          {visible(props.subtitle ?? '')}
        </span>
        <span class="card-aside">{props.aside}</span>
        <ChevronRight class="chevron" size={14} aria-hidden="true" />
      </button>
      <Show when={open()}>
        <div class="card-body" id={id}>
          {props.children}
        </div>
      </Show>
    </div>
  );
}
