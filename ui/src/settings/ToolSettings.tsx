/** The shell for commands, the editor for files, and the hosts that may be fetched from. */
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import type { EditorKind } from '../protocol';
import { useApp } from '../store/context';
import { PrivateHosts } from './PrivateHosts';

const EDITORS = Object.keys(en.toolSettings.editors) as EditorKind[];

export function ToolSettings() {
  const app = useApp();
  const editor = () => app.settings.editor;
  return (
    <>
      <h3 class="settings-heading">{en.toolSettings.shell}</h3>
      <p class="settings-note">{en.toolSettings.shellNote}</p>
      <CommandField
        testID="shell"
        label={en.toolSettings.shellLabel}
        placeholder={en.toolSettings.shellPlaceholder}
        value={app.settings.shell}
        onSave={(shell) => app.save({ shell })}
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
        <CommandField
          testID="editor-command"
          label={en.toolSettings.command}
          placeholder={en.toolSettings.commandPlaceholder}
          value={editor().command ?? ''}
          onSave={(command) => app.save({ editor: { ...editor(), command } })}
        />
        <p class="settings-note">{en.toolSettings.command}</p>
      </Show>
      <PrivateHosts />
    </>
  );
}

interface CommandFieldProps {
  readonly testID: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onSave: (command: string) => void;
}

function CommandField(props: CommandFieldProps) {
  return (
    <input
      type="text"
      class="field settings-wide"
      data-testid={props.testID}
      aria-label={props.label}
      placeholder={props.placeholder}
      spellcheck={false}
      value={props.value}
      onChange={(event) => props.onSave(event.currentTarget.value.trim())}
    />
  );
}
