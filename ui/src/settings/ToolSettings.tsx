/** What runs the agent's commands, what opens its files, and where it may fetch from. */
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import type { EditorKind } from '../protocol';
import { useApp } from '../store/context';
import { PrivateHosts } from './PrivateHosts';

const EDITORS = Object.keys(en.toolSettings.editors) as EditorKind[];

export function ToolSettings() {
  const app = useApp();
  const editor = () => app.settings().editor;
  return (
    <>
      <h3 class="settings-heading">{en.toolSettings.shell}</h3>
      <p class="settings-note">{en.toolSettings.shellNote}</p>
      <input
        type="text"
        class="settings-input settings-wide"
        data-testid="shell"
        aria-label={en.toolSettings.shellLabel}
        placeholder={en.toolSettings.shellPlaceholder}
        spellcheck={false}
        value={app.settings().shell}
        onChange={(event) => app.save({ shell: event.currentTarget.value.trim() })}
      />
      <fieldset class="settings-choice settings-later">
        <legend class="settings-heading">{en.toolSettings.editor}</legend>
        <p class="settings-note">{en.toolSettings.editorNote}</p>
        <For each={EDITORS}>
          {(kind) => (
            <label>
              <input
                type="radio"
                name="editor"
                checked={editor().kind === kind}
                onChange={() => app.save({ editor: { ...editor(), kind } })}
              />
              {en.toolSettings.editors[kind]}
            </label>
          )}
        </For>
      </fieldset>
      <Show when={editor().kind === 'custom'}>
        <input
          type="text"
          class="settings-input settings-wide"
          data-testid="editor-command"
          aria-label={en.toolSettings.command}
          placeholder={en.toolSettings.commandPlaceholder}
          spellcheck={false}
          value={editor().command ?? ''}
          onChange={(event) => app.save({ editor: { ...editor(), command: event.currentTarget.value.trim() } })}
        />
        <p class="settings-note">{en.toolSettings.command}</p>
      </Show>
      <PrivateHosts />
    </>
  );
}
