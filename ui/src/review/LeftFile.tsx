/** A file that a revert would leave as it is: both contents, and what the person wants. */
import { createUniqueId, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Fold } from '../kit/Fold';
import { visible, visibleLine } from '../text/visible';
import type { RevertChoice, RevertFile } from '../protocol';

const CHOICES: readonly RevertChoice[] = ['mine', 'before', 'both'];

/** What the choices are called: a revert goes back to before the agent, a restore to what was removed. */
export type ChoiceNames = Readonly<Record<RevertChoice, string>>;

interface LeftFileProps {
  readonly file: RevertFile;
  readonly names: ChoiceNames;
  readonly choice: RevertChoice | undefined;
  readonly disabled?: boolean;
  readonly onChoose: (choice: RevertChoice) => void;
}

export function LeftFile(props: LeftFileProps) {
  const group = createUniqueId();
  const path = () => visibleLine(props.file.path);
  return (
    <div class="left-file" data-path={props.file.path}>
      <Show when={props.file.sides}>
        {(sides) => (
          <Fold label={en.left.compare}>
            <div class="left-sides">
              <Side label={en.left.now} text={sides().now} />
              <Side label={props.names.before} text={sides().before} />
            </div>
          </Fold>
        )}
      </Show>
      <fieldset class="left-choices" aria-label={en.left.decide(path())} disabled={props.disabled}>
        <For each={CHOICES}>
          {(choice) => (
            <label>
              <input
                type="radio"
                name={group}
                data-choice={choice}
                checked={props.choice === choice}
                onChange={() => props.onChoose(choice)}
              />
              {props.names[choice]}
            </label>
          )}
        </For>
      </fieldset>
    </div>
  );
}

function Side(props: { label: string; text: string | undefined }) {
  return (
    <div class="left-side">
      <span class="left-label">{props.label}</span>
      <Show when={props.text !== undefined} fallback={<p class="left-none">{en.left.none}</p>}>
        <pre tabindex="0" aria-label={props.label}>
          {visible(props.text ?? '')}
        </pre>
      </Show>
    </div>
  );
}

/** One choice for all files. */
export function ChooseAll(props: { names: ChoiceNames; disabled?: boolean; onChoose: (choice: RevertChoice) => void }) {
  return (
    <div class="left-all" role="group" aria-label={en.left.all}>
      <span>{en.left.all}</span>
      <For each={CHOICES}>
        {(choice) => (
          <button type="button" class="link-button" data-all={choice} disabled={props.disabled} onClick={() => props.onChoose(choice)}>
            {props.names[choice]}
          </button>
        )}
      </For>
    </div>
  );
}
