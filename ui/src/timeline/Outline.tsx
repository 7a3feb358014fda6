/** The prompts of the open session, to go to one of them. */
import { Popover } from '@kobalte/core/popover';
import ListTree from 'lucide-solid/icons/list-tree';
import { createMemo, createResource, createSignal, Show } from 'solid-js';
import { en } from '../i18n/en';
import { FilterList, type FilterRow } from '../kit/FilterList';
import { hasWords } from '../text/match';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import './outline.css';

export function Outline() {
  const app = useApp();
  const [open, setOpen] = createSignal(false);
  return (
    <Popover open={open()} onOpenChange={setOpen} placement="bottom-end" gutter={4} modal={false}>
      <Popover.Trigger class="icon-button" data-testid="outline" aria-label={en.work.outline.open} title={en.work.outline.open}>
        <ListTree size={15} aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content class="panel filter-panel outline-popover" data-testid="outline-list" aria-label={en.work.outline.open}>
          <Show when={app.selected()}>
            {(sessionID) => <Prompts sessionID={sessionID()} onDone={() => setOpen(false)} />}
          </Show>
        </Popover.Content>
      </Popover.Portal>
    </Popover>
  );
}

interface Prompt {
  readonly key: string;
  readonly text: string;
}

interface Section {
  readonly title: string;
  readonly entries: readonly Prompt[];
}

function Prompts(props: { sessionID: string; onDone: () => void }) {
  const app = useApp();
  const [query, setQuery] = createSignal('');
  const [all] = createResource(
    () => props.sessionID,
    (id) => app.attempt(() => app.host.outline(id)),
  );
  const entries = createMemo(() =>
    (all() ?? []).map(({ messageID, text }) => ({ key: messageID, text: text.trim() || en.work.outline.untitled })),
  );
  const found = createMemo(() => entries().filter(({ text }) => hasWords(text, query())));
  const sections = createMemo(() => [{ title: en.work.outline.prompts, entries: found() }]);
  return (
    <FilterList<Prompt, Section>
      label={en.work.outline.search}
      placeholder={en.work.outline.search}
      testID="outline-field"
      query={query()}
      sections={sections()}
      none={query().trim() === '' ? '' : en.work.outline.none(query().trim())}
      foot={en.work.outline.foot}
      ref={(field) => queueMicrotask(() => field.focus())}
      onQuery={setQuery}
      onChoose={({ key }) => {
        props.onDone();
        void app.reveal({ messageID: key });
      }}
    >
      {({ text }, row) => <PromptRow text={text} row={row} />}
    </FilterList>
  );
}

function PromptRow(props: { text: string; row: FilterRow }) {
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
      <span class="outline-words">{visibleLine(props.text)}</span>
    </div>
  );
}
