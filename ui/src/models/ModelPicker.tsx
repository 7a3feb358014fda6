/** The button that shows the model in use, and the list to pick another from. */
import { Popover } from '@kobalte/core/popover';
import ChevronDown from 'lucide-solid/icons/chevron-down';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { keyName, modelKey } from '../kit/keys';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { DEMO } from '../store/models';
import { ModelSearch } from './ModelSearch';
import './models.css';

export function ModelPicker(props: { onDone: () => void }) {
  const app = useApp();
  const open = () => app.overlay()?.name === 'models';
  // While a session is opening, the button keeps its text, so that it does not flicker.
  const shown = createMemo((before: { name: string; demo: boolean } | undefined) => {
    const use = app.models.current();
    if (!use) return before;
    const demo = use.model.providerID === DEMO;
    return { demo, name: demo ? en.demo : visibleLine(app.models.nameOf(use.model)) };
  }, undefined);
  const onOpenChange = (wanted: boolean) => (wanted ? app.show({ name: 'models' }) : app.dismiss('models'));

  return (
    <Popover open={open()} onOpenChange={onOpenChange} placement="top-start" gutter={6} modal={false}>
      <Popover.Trigger
        class="choice model-button"
        data-testid="model-picker"
        data-demo={shown()?.demo ? '' : undefined}
        aria-label={en.models.button(shown()?.name ?? '')}
        title={`${en.models.button(shown()?.name ?? '')} (${keyName(modelKey.toUpperCase())})`}
      >
        <span class="choice-words">{shown()?.name ?? en.models.pick}</span>
        <ChevronDown size={12} aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          class="panel filter-panel model-popover"
          aria-label={en.models.title}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // The settings dialog takes the focus itself.
            if (app.overlay() === undefined) props.onDone();
          }}
        >
          <Show when={app.models.list()} fallback={<p class="filter-none">{en.models.loading}</p>}>
            {(list) => <ModelSearch list={list()} />}
          </Show>
        </Popover.Content>
      </Popover.Portal>
    </Popover>
  );
}
