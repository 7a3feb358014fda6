/** What a restore of the files to a step would do. */
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createSignal, For, onMount, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import type { RevertChoice } from '../protocol';
import { useApp } from '../store/context';
import { isLeft } from '../store/review/left';
import type { Restoring } from '../store/review/steps';
import { visible, visibleLine } from '../text/visible';
import { LeftFile } from './LeftFile';
import { Notes } from './ReviewConfirm';
import './decide.css';

export function RestoreConfirm(props: { restoring: Restoring }) {
  const { review } = useApp();
  const [choices, setChoices] = createSignal<Readonly<Record<string, RevertChoice>>>({});
  let confirm!: HTMLButtonElement;
  onMount(() => confirm.focus());
  const preview = () => props.restoring.preview;
  const title = () => {
    if (preview().files.length > 0) return en.review.confirmRestore;
    return (preview().unknown ?? []).length > 0 ? en.review.cannot : en.review.nothingToDo;
  };
  const can = () => preview().files.some(({ path, change }) => !isLeft(change) || choices()[path] !== undefined);
  const run = () => {
    const decided = choices();
    void review.restore(Object.keys(decided).length > 0 ? { force: false, choices: { ...decided } } : undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    review.steps.cancel();
  };
  return (
    <section class="review-confirm" data-testid="restore-confirm" aria-label={en.review.confirmRestore} onKeyDown={onKeyDown}>
      <h3>{title()}</h3>
      <ul>
        <For each={preview().files}>
          {(file) => (
            <li class="review-effect" data-change={file.change}>
              <Show when={isLeft(file.change)}>
                <TriangleAlert size={13} aria-hidden="true" />
              </Show>
              <code>{visibleLine(file.path)}</code>
              <span>{en.review.changes[file.change]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
              <Show when={isLeft(file.change) && file.sides}>
                <LeftFile
                  file={file}
                  names={en.left.choices}
                  choice={choices()[file.path]}
                  onChoose={(choice) => setChoices((now) => ({ ...now, [file.path]: choice }))}
                />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Notes lines={preview().unknown} />
      <Notes lines={preview().notKept} />
      <div class="card-actions">
        <Button ref={confirm} tone="primary" data-testid="confirm-restore" disabled={!can()} onClick={run}>
          {en.review.restore}
        </Button>
        <Button onClick={() => review.steps.cancel()}>{en.review.cancel}</Button>
      </div>
    </section>
  );
}
