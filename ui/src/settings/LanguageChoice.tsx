import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { LANGUAGES } from '../i18n/languages';
import { useApp } from '../store/context';

/** With one language there is nothing to choose. */
export function LanguageChoice() {
  const app = useApp();
  return (
    <Show when={LANGUAGES.length > 1}>
      <label class="settings-field">
        <span>{en.appearance.language}</span>
        <select
          class="field"
          data-testid="language"
          value={app.settings.language}
          onChange={(event) => app.save({ language: event.currentTarget.value })}
        >
          <option value="">{en.appearance.systemLanguage}</option>
          <For each={LANGUAGES}>
            {({ tag, name }) => (
              <option value={tag} lang={tag}>
                {name}
              </option>
            )}
          </For>
        </select>
      </label>
    </Show>
  );
}
