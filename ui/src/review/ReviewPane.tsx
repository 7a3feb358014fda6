/**
 * The files that the session or one of its turns changed, beside the timeline.
 *
 * A first form: it shows, and takes back a file or a hunk. Marks and remarks will find their
 * place in the head of a file.
 */
import Columns2 from 'lucide-solid/icons/columns-2';
import Rows2 from 'lucide-solid/icons/rows-2';
import Undo2 from 'lucide-solid/icons/undo-2';
import X from 'lucide-solid/icons/x';
import { createMemo, For, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { DiffView } from '../diff/DiffView';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { createNarrow } from '../kit/narrow';
import { visible, visibleLine } from '../kit/visible';
import type { FileDiffView, RevertTarget } from '../protocol';
import { useApp } from '../store/context';
import { ReviewConfirm } from './ReviewConfirm';
import { ReviewHandle } from './ReviewHandle';
import './review.css';

/** Room for two columns of code. */
const WIDE = 620;

export function ReviewPane() {
  const app = useApp();
  const { review } = app;
  const narrow = createNarrow();
  const files = createMemo(() => inOrder(review.diff()?.files ?? [], review.scope().path));
  const sum = (key: 'additions' | 'deletions') => files().reduce((all, file) => all + file[key], 0);
  const sideBySide = () => app.settings().review.sideBySide && !narrow() && app.settings().review.width >= WIDE;

  const target = (file: FileDiffView, hunk: number | undefined): RevertTarget => {
    const { turnID } = review.scope();
    const place = { ...(turnID === undefined ? {} : { messageID: turnID }), path: file.path };
    if (hunk === undefined) return { kind: 'file', ...place };
    return { kind: 'hunk', ...place, hunk, fingerprint: file.hunks[hunk]?.fingerprint ?? '' };
  };

  return (
    <aside class="review" data-testid="review" aria-label={en.review.label}>
      <ReviewHandle />
      <header class="review-head">
        <h2>{review.scope().turnID === undefined ? en.review.session : en.review.turn}</h2>
        <Show when={files().length > 0}>
          <span class="review-sum">
            {en.part.changed(files().length)} <Counts additions={sum('additions')} deletions={sum('deletions')} />
          </span>
        </Show>
        <Show when={review.scope().turnID !== undefined}>
          <Button class="review-all" data-testid="review-session" onClick={() => review.open({})}>
            {en.review.showSession}
          </Button>
        </Show>
        <IconButton
          icon={app.settings().review.sideBySide ? Rows2 : Columns2}
          label={app.settings().review.sideBySide ? en.diff.unified : en.diff.sideBySide}
          data-testid="review-mode"
          onClick={() => app.setReview({ sideBySide: !app.settings().review.sideBySide, width: widened(app.settings().review) })}
        />
        <IconButton icon={X} label={en.review.close} data-testid="close-review" onClick={() => review.close()} />
      </header>
      <Show when={review.canUndo()}>
        <div class="review-undo" role="status">
          <span>{en.review.canUndo}</span>
          <Button icon={Undo2} data-testid="review-undo" disabled={app.busy()} onClick={() => void review.undo()}>
            {en.session.undo}
          </Button>
        </div>
      </Show>
      <Show when={review.error()}>
        {(why) => (
          <p class="review-note" role="alert">
            {visible(why())}
          </p>
        )}
      </Show>
      <Show
        when={files().length > 0}
        fallback={
          <Show when={!review.error()}>
            <p class="review-note">{review.diff() ? en.review.nothing : en.review.loading}</p>
          </Show>
        }
      >
        <Show when={files().length > 1}>
          <FileNames files={files()} />
        </Show>
        <DiffView
          files={files()}
          headers
          fill
          label={en.review.files}
          sideBySide={sideBySide()}
          whole={(file) => review.whole(file)}
          actions={(file, hunk) => (
            <IconButton
              icon={Undo2}
              size={14}
              label={hunk === undefined ? en.review.takeBackFile(visibleLine(file.path)) : en.review.takeBackHunk}
              data-testid={hunk === undefined ? 'take-back-file' : 'take-back-hunk'}
              disabled={app.busy()}
              onClick={() => void review.ask(target(file, hunk))}
            />
          )}
        />
      </Show>
      <Show when={review.pending()} keyed>
        {(pending) => <ReviewConfirm pending={pending} />}
      </Show>
    </aside>
  );
}

/** Which files there are, before one scrolls to them. */
function FileNames(props: { files: readonly FileDiffView[] }) {
  const app = useApp();
  return (
    <ul class="review-files" aria-label={en.review.files}>
      <For each={props.files}>
        {(file) => (
          <li>
            <button
              type="button"
              class="review-file"
              data-path={file.path}
              onClick={() => app.review.open({ ...app.review.scope(), path: file.path })}
            >
              <span class="review-file-name">{visibleLine(file.path)}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
            </button>
          </li>
        )}
      </For>
    </ul>
  );
}

/** The file somebody asked for comes first. */
function inOrder(files: readonly FileDiffView[], first: string | undefined): readonly FileDiffView[] {
  const wanted = files.find((file) => file.path === first);
  return wanted ? [wanted, ...files.filter((file) => file !== wanted)] : files;
}

/** Two columns want room. */
function widened(review: { readonly width: number; readonly sideBySide: boolean }): number {
  return review.sideBySide ? review.width : Math.max(review.width, WIDE);
}
