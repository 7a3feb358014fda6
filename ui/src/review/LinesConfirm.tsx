/** A revert that meets a person's edits: what would happen, and the overlaps with both sides and a choice. */
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createUniqueId, For, onCleanup, onMount, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { DiffView } from '../diff/DiffView';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import type { FileDiffView, LineConflict, RevertChoice, RevertLinesFile } from '../protocol';
import { useApp } from '../store/context';
import type { Asked } from '../store/review/judge';
import { isLeft, isUndecided } from '../store/review/left';
import { visible, visibleLine } from '../text/visible';
import { ChooseAll } from './LeftFile';
import './decide.css';

const CHOICES: readonly RevertChoice[] = ['mine', 'before', 'both'];
/** Of a file that is no text, or that is there on one side only. */
const WHOLE: readonly RevertChoice[] = ['mine', 'before'];

export function LinesConfirm(props: { asked: Asked; giveBack: () => void }) {
  const { judge } = useApp().review;
  let confirm!: HTMLButtonElement;
  let cancel!: HTMLButtonElement;
  const files = () => props.asked.preview.files;
  const undecided = () => files().filter(({ path, conflicts }) => conflicts.length > 0 && props.asked.choices[path] === undefined);
  const does = ({ path, change }: RevertLinesFile) => !isLeft(change) || props.asked.choices[path] !== undefined;
  /** Several files with the same question are answered at once. */
  const open = () => files().filter(isUndecided).map(({ path }) => path);
  const can = () => files().some(does) && undecided().length === 0;
  const title = () => {
    if (props.asked.spot.selection.kind === 'all') return en.review.confirmAll;
    return files().some(({ merged, conflicts }) => merged || conflicts.length > 0) ? en.review.confirmMerge : en.review.confirm;
  };
  onMount(() => {
    (can() ? confirm : cancel).focus();
    onCleanup(() => props.giveBack());
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    judge.cancel();
  };
  return (
    <section class="review-confirm" data-testid="lines-confirm" aria-label={title()} onKeyDown={onKeyDown}>
      <h3>{title()}</h3>
      <ul>
        <For each={files()}>
          {(file) => (
            <li class="review-effect" data-change={file.change} data-path={file.path}>
              <Show when={isLeft(file.change)}>
                <TriangleAlert size={13} aria-hidden="true" />
              </Show>
              <code>{visibleLine(file.path)}</code>
              <span>{file.merged ? en.review.merged : en.review.changes[file.change]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
              <Show when={file.merged && file.hunks.length > 0}>
                <div class="review-effect-diff">
                  <DiffView files={[asDiff(file)]} sideBySide={false} />
                </div>
              </Show>
              <For each={file.conflicts}>{(conflict) => <Overlap conflict={conflict} />}</For>
              <Show when={isLeft(file.change) || file.conflicts.length > 0}>
                <Choice file={file} choice={props.asked.choices[file.path]} onChoose={(choice) => judge.choose(file.path, choice)} />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={open().length > 1}>
        <ChooseAll names={en.review.conflictChoices} onChoose={(choice) => open().forEach((path) => judge.choose(path, choice))} />
      </Show>
      <div class="card-actions">
        <Button ref={confirm} tone="primary" data-testid="confirm-revert" disabled={!can()} onClick={() => void judge.confirm()}>
          {en.review.revert}
        </Button>
        <Button ref={cancel} data-testid="cancel-revert" onClick={() => judge.cancel()}>
          {en.review.cancel}
        </Button>
      </div>
    </section>
  );
}

function asDiff({ path, additions, deletions, hunks }: RevertLinesFile): FileDiffView {
  return { path, status: 'modified', additions, deletions, hunks };
}

function Overlap(props: { conflict: LineConflict }) {
  const sides = () => [
    { label: en.review.conflictMine, text: props.conflict.mine },
    { label: en.review.conflictBefore, text: props.conflict.before },
    { label: en.review.conflictAgent, text: props.conflict.agent },
  ];
  return (
    <div class="review-overlap">
      <p>{en.review.conflict(props.conflict.line)}</p>
      <div class="left-sides">
        <For each={sides()}>
          {(side) => (
            <div class="left-side">
              <span class="left-label">{side.label}</span>
              <pre tabindex="0" aria-label={side.label}>
                {visible(side.text)}
              </pre>
            </div>
          )}
        </For>
      </div>
    </div>
  );
}

function Choice(props: { file: RevertLinesFile; choice: RevertChoice | undefined; onChoose: (choice: RevertChoice) => void }) {
  const group = createUniqueId();
  return (
    <fieldset class="left-choices" aria-label={en.left.decide(visibleLine(props.file.path))}>
      <For each={props.file.conflicts.length > 0 ? CHOICES : WHOLE}>
        {(choice) => (
          <label>
            <input
              type="radio"
              name={group}
              data-choice={choice}
              checked={props.choice === choice}
              onChange={() => props.onChoose(choice)}
            />
            {en.review.conflictChoices[choice]}
          </label>
        )}
      </For>
    </fieldset>
  );
}
