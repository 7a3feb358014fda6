import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { For, onCleanup, onMount, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible, visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import type { Pending } from '../store/review';

/** The preview of a revert, with its confirmation. */
export function ReviewConfirm(props: { pending: Pending }) {
  const { review } = useApp();
  let confirm!: HTMLButtonElement;
  let cancel!: HTMLButtonElement;
  const files = () => props.pending.preview.files;
  const possible = () => files().some((file) => file.change !== 'conflict');
  const restoring = () => props.pending.target.kind === 'snapshot';
  const title = () => {
    if (!possible()) return en.review.cannot;
    return restoring() ? en.review.confirmRestore : en.review.confirm;
  };
  onMount(() => {
    const before = document.activeElement;
    (possible() ? confirm : cancel).focus();
    onCleanup(() => {
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
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
              <Show when={file.change === 'conflict'}>
                <TriangleAlert size={13} aria-hidden="true" />
              </Show>
              <code>{visibleLine(file.path)}</code>
              <span>{en.review.changes[file.change]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
            </li>
          )}
        </For>
      </ul>
      <div class="card-actions">
        <Button
          ref={confirm}
          tone="primary"
          data-testid="confirm-take-back"
          disabled={!possible()}
          onClick={() => void review.confirm()}
        >
          {restoring() ? en.review.restore : en.review.takeBack}
        </Button>
        <Button ref={cancel} onClick={() => review.cancel()}>
          {en.review.cancel}
        </Button>
      </div>
    </section>
  );
}
