import { createMemo, createSignal, onMount } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { FilterList } from '../kit/FilterList';
import { hasCommandKey, keyName } from '../kit/keys';
import { visibleLine } from '../text/visible';
import type { ModelList } from '../protocol';
import { useApp } from '../store/context';
import { sameModel } from '../store/models';
import { ModelRow } from './ModelRow';
import { sectionsOf, type Entry, type Section } from './sections';

/** The searchable list of models. */
export function ModelSearch(props: { list: ModelList }) {
  const app = useApp();
  const [query, setQuery] = createSignal('');
  let field!: HTMLInputElement;
  // The list may load after the popover has looked for an element to focus.
  onMount(() => field.focus());
  const sections = createMemo(() =>
    sectionsOf(props.list, app.settings, query()).map((section) => ({ ...section, title: titleOf(section) })),
  );
  const isInUse = (entry: Entry) => {
    const use = app.models.current();
    return use !== undefined && sameModel(entry.ref, use.model);
  };
  const inUse = () => (query() === '' ? sections().flatMap((section) => section.entries).find(isInUse) : undefined);

  const choose = (entry: Entry) => {
    if (!entry.provider.ready) {
      app.show({ name: 'settings', section: 'providers', providerID: entry.provider.id });
      return;
    }
    app.models.choose(entry.ref);
    app.dismiss('models');
  };
  const keyed = (event: KeyboardEvent, marked: Entry | undefined) => {
    if (!hasCommandKey(event) || event.key.toLowerCase() !== 'd') return undefined;
    return () => marked && app.models.toggleFavourite(marked.ref);
  };

  return (
    <FilterList
      label={en.models.search}
      listLabel={en.models.title}
      placeholder={en.models.search}
      testID="model-search"
      ref={(element) => (field = element)}
      query={query()}
      sections={sections()}
      preferred={inUse()}
      none={en.models.none(query().trim())}
      foot={
        <>
          <span class="model-keys">{en.models.keys(keyName('D'))}</span>
          <Button data-testid="model-settings" onClick={() => app.show({ name: 'settings', section: 'providers' })}>
            {en.models.providers}
          </Button>
        </>
      }
      onQuery={setQuery}
      onChoose={choose}
      keyed={keyed}
    >
      {(entry, row, section) => (
        <ModelRow
          id={row.id}
          entry={entry}
          withProvider={section.kind !== 'provider'}
          active={row.active()}
          inUse={isInUse(entry)}
          onMark={row.mark}
          onChoose={row.choose}
        />
      )}
    </FilterList>
  );
}

function titleOf(section: Section): string {
  return section.kind === 'provider' ? visibleLine(section.provider.name) : en.models.sections[section.kind];
}
