import { For } from 'solid-js';
import { en } from '../i18n/en';
import type { Theme } from '../protocol';
import { useApp } from '../store/context';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export function Appearance() {
  const app = useApp();
  return (
    <fieldset class="settings-choice">
      <legend class="settings-heading">{en.theme.label}</legend>
      <For each={THEMES}>
        {(theme) => (
          <label>
            <input
              type="radio"
              name="theme"
              checked={app.settings().theme === theme}
              onChange={() => app.setTheme(theme)}
            />
            {en.theme[theme]}
          </label>
        )}
      </For>
    </fieldset>
  );
}
