/** Rows of text: all of them if they are few, else only the visible ones. */
import { For, Show, type JSX } from 'solid-js';
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid';

/** With more rows than this, the list has its own scrollbar. */
const FEW = 240;

interface LineListProps<T extends object> {
  readonly rows: readonly T[];
  readonly class?: string;
  readonly label: string;
  /** Fills its container and scrolls inside, even with few rows. */
  readonly fill?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly ref?: (list: LineListHandle) => void;
  readonly children: (row: T, index: () => number) => JSX.Element;
}

export interface LineListHandle {
  readonly element: HTMLElement;
  /** Scrolls a row to the top. */
  show(index: number): void;
}

const ROW_HEIGHT = 20;

export function LineList<T extends object>(props: LineListProps<T>) {
  let scroller!: HTMLDivElement;
  let handle: VirtualizerHandle | undefined;
  const many = () => props.rows.length > FEW;
  const show = (index: number) => {
    if (handle) handle.scrollToIndex(index, { align: 'start' });
    else scroller.children[index]?.scrollIntoView({ block: 'start' });
  };
  return (
    <div
      class={`line-list ${props.class ?? ''}`}
      data-many={many() ? '' : undefined}
      data-fill={props.fill ? '' : undefined}
      role="group"
      aria-label={props.label}
      tabindex="0"
      ref={(element) => {
        scroller = element;
        props.ref?.({ element, show });
      }}
      onKeyDown={(event) => props.onKeyDown?.(event)}
    >
      <Show when={many()} fallback={<For each={props.rows}>{props.children}</For>}>
        <Virtualizer
          ref={(made) => (handle = made)}
          data={props.rows}
          itemSize={ROW_HEIGHT}
          bufferSize={400}
          scrollRef={scroller}
        >
          {props.children}
        </Virtualizer>
      </Show>
    </div>
  );
}
