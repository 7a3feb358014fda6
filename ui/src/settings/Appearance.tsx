import { For } from 'solid-js';
import { ZOOMS } from '../actions/list';
import { en } from '../i18n/en';
import type { Settings, Theme } from '../protocol';
import { useApp } from '../store/context';
import { LanguageChoice } from './LanguageChoice';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export function Appearance() {
  const app = useApp();
  return (
    <>
      <fieldset class="settings-choice">
        <legend class="settings-heading">{en.theme.label}</legend>
        <For each={THEMES}>
          {(theme) => (
            <label>
              <input
                type="radio"
                name="theme"
                checked={app.settings.theme === theme}
                onChange={() => app.setTheme(theme)}
              />
              {en.theme[theme]}
            </label>
          )}
        </For>
      </fieldset>
      <LanguageChoice />
      <h3 class="settings-heading settings-later">{en.appearance.size}</h3>
      <label class="settings-field">
        <span>{en.appearance.zoom}</span>
        <select
          class="field"
          data-testid="zoom"
          value={String(app.settings.zoom)}
          onChange={(event) => app.save({ zoom: Number(event.currentTarget.value) })}
        >
          <For each={ZOOMS}>{(zoom) => <option value={String(zoom)}>{en.appearance.zoomPercent(zoom)}</option>}</For>
        </select>
      </label>
      <h3 class="settings-heading settings-later">{en.appearance.motion}</h3>
      <Check name="reducedMotion" note={en.appearance.reducedMotionNote} />
      <h3 class="settings-heading settings-later">{en.appearance.window}</h3>
      <Check name="menuBar" />
      <Check name="notify" />
      <Check name="notifySound" />
    </>
  );
}

function Check(props: { name: 'reducedMotion' | 'menuBar' | 'notify' | 'notifySound'; note?: string }) {
  const app = useApp();
  const save = (checked: boolean) => app.save({ [props.name]: checked } as Partial<Settings>);
  return (
    <label class="settings-check">
      <input
        type="checkbox"
        data-testid={`setting-${props.name}`}
        checked={app.settings[props.name]}
        onChange={(event) => save(event.currentTarget.checked)}
      />
      <span>
        {en.appearance[props.name]}
        {props.note && <span class="settings-note">{props.note}</span>}
      </span>
    </label>
  );
}
