/** A file that the original and the worktree have both changed: both contents, and which one stays. */
import { createUniqueId, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Fold } from '../kit/Fold';
import type { BringBackChoice, BringBackFile } from '../protocol';
import { visible, visibleLine } from '../text/visible';

const CHOICES: readonly BringBackChoice[] = ['original', 'worktree'];

interface WorktreeConflictProps {
  readonly file: BringBackFile;
  readonly choice: BringBackChoice | undefined;
  readonly onChoose: (choice: BringBackChoice) => void;
}

export function WorktreeConflict(props: WorktreeConflictProps) {
  const group = createUniqueId();
  const { bringChoices, bringSides } = en.git;
  return (
    <div class="left-file" data-path={props.file.path}>
      <Show when={props.file.sides}>
        {(sides) => (
          <Fold label={en.left.compare}>
            <div class="left-sides">
              <Side label={bringSides.original} text={sides().now} />
              <Side label={bringSides.worktree} text={sides().before} />
            </div>
          </Fold>
        )}
      </Show>
      <fieldset class="left-choices" aria-label={en.left.decide(visibleLine(props.file.path))}>
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
              {bringChoices[choice]}
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
