/**
 * The files that the session or one of its turns changed, beside the timeline. Files and hunks can be
 * reverted.
 */
import Columns2 from 'lucide-solid/icons/columns-2';
import Rows2 from 'lucide-solid/icons/rows-2';
import Undo2 from 'lucide-solid/icons/undo-2';
import X from 'lucide-solid/icons/x';
import { createEffect, createMemo, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { DiffView } from '../diff/DiffView';
import { isFocusLost, keepFocus } from '../diff/keep-focus';
import type { DiffHandle } from '../diff/keyboard';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { registerFocus } from '../kit/focus';
import { hasCommandKey, keyName } from '../kit/keys';
import { createNarrow } from '../kit/narrow';
import { visible, visibleLine } from '../text/visible';
import type { FileDiffView, RevertTarget } from '../protocol';
import { useApp } from '../store/context';
import { rootOf } from '../store/projects';
import { FileNames } from './FileNames';
import { ReviewConfirm } from './ReviewConfirm';
import { ReviewHandle } from './ReviewHandle';
import type { Scope } from '../store/review';
import './review.css';

/** The minimum width for two columns of code. */
const WIDE = 620;

export function ReviewPane() {
  const app = useApp();
  const { review } = app;
  const narrow = createNarrow();
  const files = createMemo(() => inOrder(review.diff()?.files ?? [], review.scope().path));
  /** The fold state of the diff belongs to one session or turn. */
  const place = createMemo(() => {
    const diff = files().length > 0 ? review.diff() : undefined;
    return diff && `${diff.sessionID} ${diff.messageID ?? ''}`;
  });
  /** Paths in the diff are relative to the project's folder, links to the session's. */
  const root = () => {
    const folder = rootOf(app.project(), app.session());
    return folder === app.session()?.directory ? undefined : folder;
  };
  const sum = (key: 'additions' | 'deletions') => files().reduce((all, file) => all + file[key], 0);
  const sideBySide = () => app.settings.review.sideBySide && !narrow() && app.settings.review.width >= WIDE;

  const target = (file: FileDiffView, hunk: number | undefined): RevertTarget => {
    const { turnID } = review.scope();
    const place = { ...(turnID === undefined ? {} : { messageID: turnID }), path: file.path };
    if (hunk === undefined) return { kind: 'file', ...place };
    return { kind: 'hunk', ...place, hunk, fingerprint: file.hunks[hunk]?.fingerprint ?? '' };
  };

  let pane!: HTMLElement;
  let diff: DiffHandle | undefined;
  // Scrolls to the requested file, also if the pane was already open.
  let led: Scope | undefined;
  createEffect(() => {
    const [scope, first] = [review.scope(), files()[0]];
    if (scope === led || !first || !isNamed(first, scope.path)) return;
    led = scope;
    diff?.reveal(first.path);
  });
  const takeBack = (file: FileDiffView, hunk?: number) => {
    if (app.busy()) return;
    diff?.remember();
    void review.ask(target(file, hunk));
  };
  const undo = async () => {
    if (app.busy() || !review.canUndo()) return;
    await review.undo();
    // The undo button is gone if nothing is left to undo.
    if (isFocusLost()) (diff ? diff.giveBack() : pane.focus());
  };
  // Keeps the focus on the same file; without files, the pane takes it, to receive the keys.
  keepFocus(
    files,
    () => (pane?.contains(document.activeElement) ? ((document.activeElement as HTMLElement).dataset.path ?? '') : undefined),
    (path) => {
      const names = [...pane.querySelectorAll<HTMLElement>('.review-file')];
      const name = path === '' ? undefined : (names.find((one) => one.dataset.path === path) ?? names[0]);
      if (name) name.focus();
      else if (files().length === 0) pane.focus();
    },
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return;
    const enters = event.target === pane && event.key === 'ArrowDown' && files().length > 0;
    if (hasCommandKey(event) && event.key.toLowerCase() === 'z' && !event.shiftKey && !event.altKey) void undo();
    else if (enters) diff?.giveBack();
    else return;
    event.preventDefault();
  };

  registerFocus('review', () => ({ element: pane, target: () => pane }));

  return (
    <aside class="review" data-testid="review" aria-label={en.review.label} tabindex="-1" ref={pane} onKeyDown={onKeyDown}>
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
          icon={app.settings.review.sideBySide ? Rows2 : Columns2}
          label={app.settings.review.sideBySide ? en.diff.unified : en.diff.sideBySide}
          data-testid="review-mode"
          onClick={() => app.setReview({ sideBySide: !app.settings.review.sideBySide, width: widened(app.settings.review) })}
        />
        <IconButton icon={X} label={en.review.close} data-testid="close-review" onClick={() => review.close()} />
      </header>
      <Show when={review.canUndo()}>
        <div class="review-undo" role="status">
          <span>{en.review.canUndo}</span>
          <Button
            icon={Undo2}
            data-testid="review-undo"
            title={`${en.session.undo} (${keyName('Z')})`}
            disabled={app.busy()}
            onClick={() => void undo()}
          >
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
        when={place()}
        keyed
        fallback={
          <Show when={!review.error()}>
            <p class="review-note">{review.diff() ? en.review.nothing : en.review.loading}</p>
          </Show>
        }
      >
        <Show when={files().length > 1}>
          <FileNames files={files()} onShow={(file) => diff?.show(file.path)} onTakeBack={(file) => takeBack(file)} />
        </Show>
        <DiffView
          files={files()}
          headers
          fill
          root={root()}
          ref={(made) => (diff = made)}
          onTakeBack={takeBack}
          label={en.review.files}
          sideBySide={sideBySide()}
          whole={(file) => review.whole(file)}
          unfolded={(file) => review.unfolded(file)}
          actions={(file, hunk) => (
            <IconButton
              icon={Undo2}
              size={14}
              label={hunk === undefined ? en.review.takeBackFile(visibleLine(file.path)) : en.review.takeBackHunk}
              keys={en.review.takeBackKey}
              data-testid={hunk === undefined ? 'take-back-file' : 'take-back-hunk'}
              disabled={app.busy()}
              onClick={() => takeBack(file, hunk)}
            />
          )}
        />
        <p class="review-keys" aria-hidden="true">
          {en.review.keys(keyName('Z'))}
        </p>
      </Show>
      <Show when={review.pending()} keyed>
        {(pending) => <ReviewConfirm pending={pending} />}
      </Show>
    </aside>
  );
}

/** The requested file comes first. */
function inOrder(files: readonly FileDiffView[], first: string | undefined): readonly FileDiffView[] {
  const wanted = files.find((file) => file.path === first) ?? files.find((file) => isNamed(file, first));
  return wanted ? [wanted, ...files.filter((file) => file !== wanted)] : files;
}

/** Paths in the timeline are relative to the session's folder, which may be below the project's. */
function isNamed({ path }: FileDiffView, name: string | undefined): boolean {
  return name !== undefined && (path === name || path.endsWith(`/${name}`) || name.endsWith(`/${path}`));
}

/** Widens the pane for two columns. */
function widened(review: { readonly width: number; readonly sideBySide: boolean }): number {
  return review.sideBySide ? review.width : Math.max(review.width, WIDE);
}
