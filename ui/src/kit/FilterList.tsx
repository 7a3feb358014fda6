/** A filter field with a list below it. The focus stays in the field; the arrow keys move the selection. */
import Search from 'lucide-solid/icons/search';
import { createEffect, createMemo, createSignal, createUniqueId, For, on, Show, type JSX } from 'solid-js';
import { isComposing } from './keys';
import './filter-list.css';

/** Rows that a page key skips. */
const PAGE = 8;

interface FilterSection<E> {
  readonly title: string;
  readonly entries: readonly E[];
}

/** What a row needs from the list. A row must have the role `option`. */
export interface FilterRow {
  readonly id: string;
  readonly active: () => boolean;
  readonly mark: () => void;
  readonly choose: () => void;
}

interface FilterListProps<E extends { readonly key: string }, S extends FilterSection<E>> {
  readonly label: string;
  /** The name of the list, if it differs from the field's. */
  readonly listLabel?: string;
  readonly placeholder: string;
  readonly testID: string;
  readonly query: string;
  readonly sections: readonly S[];
  /** The initially selected row; the first if undefined. */
  readonly preferred?: E;
  /** Shown if nothing matches. */
  readonly none: string;
  readonly foot: JSX.Element;
  readonly ref?: (field: HTMLInputElement) => void;
  readonly onQuery: (query: string) => void;
  readonly onChoose: (entry: E) => void;
  /** Keys besides the arrows, the page keys and Enter. */
  readonly keyed?: (event: KeyboardEvent, marked: E | undefined) => (() => void) | undefined;
  readonly children: (entry: E, row: FilterRow, section: S) => JSX.Element;
}

export function FilterList<E extends { readonly key: string }, S extends FilterSection<E>>(props: FilterListProps<E, S>) {
  const id = createUniqueId();
  const [marked, setMarked] = createSignal<string | undefined>();
  let rows!: HTMLDivElement;

  const entries = createMemo(() => props.sections.flatMap((section) => section.entries));
  const active = createMemo(() => entries().find((entry) => entry.key === marked()) ?? props.preferred ?? entries()[0]);
  const place = () => entries().findIndex((entry) => entry.key === active()?.key);
  const rowID = (entry: E) => `${id}-${entry.key}`;

  const mark = (index: number) => setMarked(entries()[index]?.key);
  const choose = () => {
    const entry = active();
    if (entry) props.onChoose(entry);
  };
  const keyed = (event: KeyboardEvent): (() => void) | undefined => {
    const count = entries().length;
    switch (event.key) {
      case 'ArrowDown':
        return () => mark((place() + 1) % count);
      case 'ArrowUp':
        return () => mark((place() - 1 + count) % count);
      case 'PageDown':
        return () => mark(Math.min(count - 1, place() + PAGE));
      case 'PageUp':
        return () => mark(Math.max(0, place() - PAGE));
      case 'Home':
        return event.ctrlKey ? () => mark(0) : undefined;
      case 'Enter':
        return choose;
      default:
        return undefined;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const run = props.keyed?.(event, active()) ?? keyed(event);
    if (!run) return;
    event.preventDefault();
    run();
  };

  // One frame later, when the list is in the document and has a size.
  const reveal = () => rows.querySelector('[data-active]')?.scrollIntoView?.({ block: 'nearest' });
  createEffect(on(active, () => requestAnimationFrame(reveal)));

  return (
    <>
      <div class="filter-field">
        <Search size={14} aria-hidden="true" />
        <input
          ref={props.ref}
          type="text"
          role="combobox"
          data-testid={props.testID}
          aria-label={props.label}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active() ? rowID(active() as E) : undefined}
          placeholder={props.placeholder}
          spellcheck={false}
          autocomplete="off"
          value={props.query}
          onInput={(event) => {
            setMarked(undefined);
            props.onQuery(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="filter-list" role="listbox" id={id} aria-label={props.listLabel ?? props.label} ref={rows} tabindex="-1">
        <For each={props.sections}>
          {(section) => (
            <div role="group" class="filter-section" aria-label={section.title}>
              <div class="filter-section-title" role="presentation">
                {section.title}
              </div>
              <For each={section.entries}>
                {(entry) =>
                  props.children(
                    entry,
                    {
                      id: rowID(entry),
                      active: () => active()?.key === entry.key,
                      mark: () => setMarked(entry.key),
                      choose: () => props.onChoose(entry),
                    },
                    section,
                  )
                }
              </For>
            </div>
          )}
        </For>
      </div>
      <Show when={entries().length === 0}>
        <p class="filter-none" role="status">
          {props.none}
        </p>
      </Show>
      <footer class="filter-foot">{props.foot}</footer>
    </>
  );
}
