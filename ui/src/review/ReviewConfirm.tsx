import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createMemo, For, onCleanup, onMount, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible, visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import type { Pending } from '../store/review';
import { isLeft, isUndecided } from '../store/review/left';
import type { RevertFile } from '../protocol';
import { ChooseAll, LeftFile } from './LeftFile';
import './decide.css';

/** The preview of a revert, with its confirmation. `giveBack` moves the focus to what there is in the review. */
export function ReviewConfirm(props: { pending: Pending; giveBack: () => void }) {
  const { review } = useApp();
  let confirm!: HTMLButtonElement;
  let cancel!: HTMLButtonElement;
  const files = () => props.pending.preview.files;
  const undecided = createMemo(() => files().filter((file) => isUndecided(file) && canDecide(file)).map(({ path }) => path));
  const hides = () => props.pending.target.kind === 'message' || props.pending.target.kind === 'part';
  /** Messages stay while it is not known what they did, unless the person wants otherwise. */
  const stays = () =>
    hides() && ((props.pending.preview.unknown ?? []).length > 0 || files().some(({ change }) => change === 'unknown'));
  const chosen = () => Object.keys(review.choices()).length > 0 || review.forced();
  const can = () => files().some((file) => !isLeft(file.change)) || (hides() && !stays() && !props.pending.again);
  const possible = () => can() || chosen();
  const restoring = () => props.pending.target.kind === 'snapshot';
  const title = () => {
    if (props.pending.again) return en.left.title(undecided().length);
    if (!can() && undecided().length === 0) return en.review.cannot;
    if (!can()) return en.left.cannotAlone;
    return restoring() ? en.review.confirmBack : en.review.confirm;
  };
  const force = (forced: boolean) => {
    review.setForced(forced);
    if (forced) review.choose('before', ...undecided().filter((path) => review.choices()[path] === undefined));
  };
  onMount(() => {
    const before = document.activeElement;
    (possible() ? confirm : cancel).focus();
    onCleanup(() => {
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
      // The change that had the focus may be gone before the answer to the revert is there.
      else props.giveBack();
    });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    review.cancel();
  };
  return (
    <section class="review-confirm" data-testid="review-confirm" aria-label={title()} onKeyDown={onKeyDown}>
      <h3>{title()}</h3>
      <ul>
        <For each={files()}>
          {(file) => (
            <li class="review-effect" data-change={file.change}>
              <Show when={isLeft(file.change)}>
                <TriangleAlert size={13} aria-hidden="true" />
              </Show>
              <code>{visibleLine(file.path)}</code>
              <span>{en.review.changes[file.change]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
              <Show when={canDecide(file)}>
                <LeftFile
                  file={file}
                  names={en.left.choices}
                  choice={review.choices()[file.path]}
                  onChoose={(choice) => review.choose(choice, file.path)}
                />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={undecided().length > 1}>
        <ChooseAll names={en.left.choices} onChoose={(choice) => review.choose(choice, ...undecided())} />
      </Show>
      <Notes lines={props.pending.preview.unknown} />
      <Notes lines={props.pending.preview.notKept} />
      <Show when={stays()}>
        <label class="review-force">
          <input
            type="checkbox"
            data-testid="force-take-back"
            checked={review.forced()}
            onChange={(event) => force(event.currentTarget.checked)}
          />
          {en.left.force}
        </label>
      </Show>
      <div class="card-actions">
        <Button
          ref={confirm}
          tone="primary"
          data-testid="confirm-take-back"
          disabled={!possible()}
          onClick={() => void review.confirm()}
        >
          {props.pending.again ? en.left.apply : restoring() ? en.review.restore : en.review.revert}
        </Button>
        <Button ref={cancel} data-testid="cancel-take-back" onClick={() => review.cancel()}>
          {props.pending.again ? en.left.leave : en.review.cancel}
        </Button>
      </div>
    </section>
  );
}

/** A hunk has no content of its own to go back to. */
function canDecide(file: RevertFile): boolean {
  return isLeft(file.change) && file.sides !== undefined;
}

/** What was not, or cannot be reverted: one sentence each. */
export function Notes(props: { lines: readonly string[] | undefined }) {
  return (
    <Show when={(props.lines ?? []).length > 0}>
      <ul class="review-notes">
        <For each={props.lines}>{(line) => <li>{visible(line)}</li>}</For>
      </ul>
    </Show>
  );
}
