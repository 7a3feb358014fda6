/** The prompts sent before in this project, newest first, to search and insert one. */
import { Popover } from '@kobalte/core/popover';
import { createMemo, createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { FilterList, type FilterRow } from '../kit/FilterList';
import { hasWords } from '../text/match';
import { visibleLine } from '../text/visible';

interface HistorySearchProps {
  readonly open: boolean;
  readonly anchor: () => HTMLElement;
  /** Newest last. */
  readonly prompts: () => readonly string[];
  readonly onChoose: (prompt: string) => void;
  readonly onClose: () => void;
}

export function HistorySearch(props: HistorySearchProps) {
  return (
    <Popover
      open={props.open}
      onOpenChange={(open) => !open && props.onClose()}
      anchorRef={props.anchor}
      placement="top-start"
      gutter={6}
      modal={false}
    >
      <Popover.Portal>
        <Popover.Content
          class="panel filter-panel history-popover"
          data-testid="history-search"
          aria-label={en.work.history.title}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            props.onClose();
          }}
        >
          <Prompts {...props} />
        </Popover.Content>
      </Popover.Portal>
    </Popover>
  );
}

function Prompts(props: HistorySearchProps) {
  const [query, setQuery] = createSignal('');
  const sections = createMemo(() => {
    const newestFirst = props.prompts().toReversed();
    const found = newestFirst.filter((prompt) => hasWords(prompt, query()));
    return [{ title: en.work.history.recent, entries: found.map((prompt) => ({ key: prompt })) }];
  });
  return (
    <FilterList
      label={en.work.history.search}
      placeholder={en.work.history.search}
      testID="history-field"
      query={query()}
      sections={sections()}
      none={query().trim() === '' ? en.work.history.empty : en.work.history.none(query().trim())}
      foot={en.work.history.foot}
      ref={(field) => queueMicrotask(() => field.focus())}
      onQuery={setQuery}
      onChoose={({ key }) => props.onChoose(key)}
    >
      {({ key }, row) => <PromptRow prompt={key} row={row} />}
    </FilterList>
  );
}

function PromptRow(props: { prompt: string; row: FilterRow }) {
  return (
    <div
      role="option"
      id={props.row.id}
      class="filter-row"
      data-active={props.row.active() ? '' : undefined}
      aria-selected={props.row.active()}
      onPointerMove={() => !props.row.active() && props.row.mark()}
      onClick={() => props.row.choose()}
    >
      <span class="filter-row-name">{visibleLine(props.prompt)}</span>
    </div>
  );
}
