import Search from 'lucide-solid/icons/search';
import { createEffect, createMemo, createSignal, createUniqueId, For, on, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { hasCommandKey, isComposing, keyName } from '../kit/keys';
import { visibleLine } from '../kit/visible';
import type { ModelList } from '../protocol';
import { useApp } from '../store/context';
import { sameModel } from '../store/models';
import { ModelRow } from './ModelRow';
import { sectionsOf, type Entry, type Section } from './search';

/** A field that filters and a list below it. The focus stays in the field; the arrows move the mark. */
export function ModelSearch(props: { list: ModelList }) {
  const app = useApp();
  const id = createUniqueId();
  const [query, setQuery] = createSignal('');
  const [marked, setMarked] = createSignal<string | undefined>();
  let rows!: HTMLDivElement;

  const sections = createMemo(() => sectionsOf(props.list, app.settings(), query()));
  const entries = createMemo(() => sections().flatMap((section) => section.entries));
  const isInUse = (entry: Entry) => {
    const use = app.models.current();
    return use !== undefined && sameModel(entry.ref, use.model);
  };
  const active = createMemo(
    () => entries().find((entry) => entry.key === marked()) ?? (query() === '' ? entries().find(isInUse) : undefined) ?? entries()[0],
  );
  const rowID = (entry: Entry) => `${id}-${entry.key}`;

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    if (!entry.provider.ready) {
      app.show({ name: 'settings', section: 'providers', providerID: entry.provider.id });
      return;
    }
    app.models.choose(entry.ref);
    app.dismiss('models');
  };
  const move = (step: number) => {
    const all = entries();
    const at = all.findIndex((entry) => entry.key === active()?.key);
    setMarked(all[(at + step + all.length) % all.length]?.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const run = keyed(event);
    if (!run) return;
    event.preventDefault();
    run();
  };
  const keyed = (event: KeyboardEvent): (() => void) | undefined => {
    if (hasCommandKey(event) && event.key.toLowerCase() === 'd') {
      return () => {
        const entry = active();
        if (entry) app.models.toggleFavourite(entry.ref);
      };
    }
    switch (event.key) {
      case 'ArrowDown':
        return () => move(1);
      case 'ArrowUp':
        return () => move(-1);
      case 'PageDown':
        return () => setMarked(entries()[Math.min(entries().length - 1, place() + 8)]?.key);
      case 'PageUp':
        return () => setMarked(entries()[Math.max(0, place() - 8)]?.key);
      case 'Enter':
        return () => choose(active());
      default:
        return undefined;
    }
  };
  const place = () => entries().findIndex((entry) => entry.key === active()?.key);

  // A frame later, when the list is in the document and has a size.
  const reveal = () => rows.querySelector('[data-active]')?.scrollIntoView?.({ block: 'nearest' });
  createEffect(on(active, () => requestAnimationFrame(reveal)));

  return (
    <>
      <div class="model-search">
        <Search size={14} aria-hidden="true" />
        <input
          type="text"
          role="combobox"
          data-testid="model-search"
          aria-label={en.models.search}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active() ? rowID(active() as Entry) : undefined}
          placeholder={en.models.search}
          spellcheck={false}
          autocomplete="off"
          value={query()}
          onInput={(event) => {
            setMarked(undefined);
            setQuery(event.currentTarget.value);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="model-list" role="listbox" id={id} aria-label={en.models.title} ref={rows}>
        <For each={sections()}>
          {(section) => (
            <div role="group" class="model-section" aria-label={titleOf(section)}>
              <div class="model-section-title" role="presentation">
                {titleOf(section)}
              </div>
              <For each={section.entries}>
                {(entry) => (
                  <ModelRow
                    id={rowID(entry)}
                    entry={entry}
                    withProvider={section.kind !== 'provider'}
                    active={active()?.key === entry.key}
                    inUse={isInUse(entry)}
                    onMark={() => setMarked(entry.key)}
                    onChoose={() => choose(entry)}
                  />
                )}
              </For>
            </div>
          )}
        </For>
      </div>
      <Show when={entries().length === 0}>
        <p class="model-none" role="status">
          {en.models.none(query().trim())}
        </p>
      </Show>
      <footer class="model-foot">
        <span>{en.models.keys(keyName('D'))}</span>
        <Button
          data-testid="model-settings"
          onClick={() => app.show({ name: 'settings', section: 'providers' })}
        >
          {en.models.providers}
        </Button>
      </footer>
    </>
  );
}

function titleOf(section: Section): string {
  return section.kind === 'provider' ? visibleLine(section.provider.name) : en.models.sections[section.kind];
}
