/**
 * What the agent changed, beside the timeline: to read, to keep or revert, to answer, and to commit.
 */
import { createEffect, createMemo, createSignal, onCleanup, onMount, Show } from 'solid-js';
import { DiffList } from '../diff/DiffList';
import { createFolds } from '../diff/folds';
import { isFocusLost, keepFocus } from '../diff/keep-focus';
import type { DiffHandle } from '../diff/keyboard';
import type { DiffFile, RowRange } from '../diff/model';
import type { Extra } from '../diff/rows';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { registerFocus } from '../kit/focus';
import { hasCommandKey, keyName } from '../kit/keys';
import type { ReviewFile } from '../protocol';
import { useApp } from '../store/context';
import { rootOf } from '../store/projects';
import type { Wanted } from '../store/review';
import { visible } from '../text/visible';
import { ChangeActions, UndoHere } from './ChangeActions';
import { changeItems } from './change-items';
import { CommentField, CommentsBar, CommentView } from './CommentView';
import { FileTree } from './FileTree';
import { GitBar } from './GitBar';
import { GitPanel } from './GitPanel';
import { HaltedConfirm } from './HaltedConfirm';
import { LinesConfirm } from './LinesConfirm';
import { Pictures } from './Pictures';
import { RestoreConfirm } from './RestoreConfirm';
import { Notes, ReviewConfirm } from './ReviewConfirm';
import { ReviewHandle } from './ReviewHandle';
import { ReviewToolbar } from './ReviewToolbar';
import { createTight } from './room';
import { ScrubBar } from './ScrubBar';
import { SelectionBar } from './SelectionBar';
import { StepBrowser } from './StepBrowser';
import { createTools } from './tools';
import { inTreeOrder } from './tree';
import './review.css';

/** The least width for two columns of code, and for the list of files beside the code. */
const TWO_COLUMNS = 560;
const TREE_BESIDE = 820;

const EDITOR = 'draft';
/** From the pane to its first change. */
const ENTER_KEYS = ['ArrowDown', 'n', 'N'];

export function ReviewPane() {
  const app = useApp();
  const { review, git } = app;
  const { judge, comments } = review;
  const over = createTight(app);
  const waits = () => app.requests().permissions.length + app.requests().questions.length > 0;
  const found = () => review.files.found();
  const notShown = () => [...(found()?.unknown ?? []), ...(found()?.notShown ?? [])];
  /** With the files that were reverted a moment ago, which keep their places. */
  const files = createMemo<readonly ReviewFile[]>((before) => {
    const there = found()?.files ?? [];
    const gone = [...judge.gone().values()].filter((file) => !there.some(({ path }) => path === file.path));
    const all = [...there, ...gone].sort((a, b) => (a.path < b.path ? -1 : 1));
    const next = inTreeOrder(all);
    return next.length === before.length && next.every((file, index) => file === before[index]) ? before : next;
  }, []);
  const isGone = (path: string) => !found()?.files.some((file) => file.path === path);
  const shown = createMemo<readonly DiffFile[]>((before) => {
    const known = new Map(before.map((file) => [file.path, file]));
    return files().map((file): DiffFile => {
      if (!isGone(file.path)) return file;
      const old = known.get(file.path);
      return old?.gone ? old : { ...file, gone: true };
    });
  }, []);
  /** The fold state of the diff belongs to one session and scope. */
  const place = createMemo(() => (files().length > 0 ? `${app.selected()} ${JSON.stringify(review.scope())}` : undefined));
  /** Paths in the diff are relative to the project's folder, links to the session's. */
  const root = () => {
    const folder = rootOf(app.project(), app.session());
    return folder === app.session()?.directory ? undefined : folder;
  };
  const tools = createTools(app, root);

  let pane!: HTMLElement;
  let diff: DiffHandle | undefined;
  /** As wide as it is drawn: the window may have less room than the person chose. */
  const [width, setWidth] = createSignal(app.settings.review.width);
  const sideBySide = () => app.settings.review.sideBySide && width() >= TWO_COLUMNS;
  const [current, setCurrent] = createSignal<string | undefined>();
  const [selection, setSelection] = createSignal<RowRange | undefined>();
  const selectedFile = () => files().find(({ path, version }) => path === selection()?.path && version === selection()?.version);
  const selectedHunk = () => {
    const [file, range] = [selectedFile(), selection()];
    return file && range && review.source.body(file)?.hunks[range.hunk];
  };

  /** Comments, and the field for one, below their lines. */
  const extras = createMemo<ReadonlyMap<string, readonly Extra[]>>((before) => {
    const now = new Map<string, Extra[]>();
    const add = (path: string, extra: Extra) => now.set(path, [...(now.get(path) ?? []), extra]);
    for (const { id, path, side, to } of found()?.comments ?? []) add(path, { key: id, side, line: to });
    const draft = comments.draft();
    if (draft && draft.id === undefined) add(draft.path, { key: EDITOR, side: draft.side, line: draft.to });
    for (const [path, list] of now) {
      const old = before.get(path);
      if (old && JSON.stringify(old) === JSON.stringify(list)) now.set(path, old as Extra[]);
    }
    return now;
  }, new Map());
  const openComments = () => found()?.comments.filter(({ state, sent }) => state === 'open' && sent === undefined).length ?? 0;

  // Scrolls to the requested file, also if the pane was already open.
  let led: Wanted | undefined;
  createEffect(() => {
    const [wanted, list] = [review.wanted(), files()];
    const file = list.find(({ path }) => path === wanted.path) ?? list.find((one) => isNamed(one, wanted.path));
    if (wanted === led || !file) return;
    led = wanted;
    diff?.reveal(file.path);
  });
  /** Its bar has its place from the beginning: the one above must not move under the pointer. */
  const gitIsRead = () => app.project()?.vcs === 'git' && git.status() === undefined;
  const giveBack = () => (diff && files().length > 0 ? diff.giveBack() : pane.focus());
  const step = (work: () => Promise<void>) => async () => {
    if (app.busy()) return;
    await work();
    if (isFocusLost()) giveBack();
  };
  const undo = step(() => (found()?.undo || !review.canUndo() ? judge.undo() : review.undo()));
  const redo = step(() => judge.redo());
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
    if (event.defaultPrevented || isField(event.target)) return;
    const enters = event.target === pane && ENTER_KEYS.includes(event.key) && files().length > 0;
    if (hasCommandKey(event) && event.key.toLowerCase() === 'z' && !event.altKey) void (event.shiftKey ? redo() : undo());
    else if (event.key === 'Escape' && selection()) setSelection(undefined);
    else if (enters) diff?.giveBack();
    else return;
    event.preventDefault();
  };

  onMount(() => {
    const sizes = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    sizes.observe(pane);
    onCleanup(() => sizes.disconnect());
  });
  registerFocus('review', () => ({ element: pane, target: () => pane }));

  return (
    <aside
      class="review"
      data-testid="review"
      data-tree={width() >= TREE_BESIDE ? 'beside' : 'above'}
      aria-label={en.review.label}
      aria-busy={review.files.loading()}
      tabindex="-1"
      ref={pane}
      onKeyDown={onKeyDown}
    >
      <ReviewHandle />
      <ReviewToolbar
        files={found()?.files ?? []}
        tools={tools}
        waits={over() && waits()}
        onUndo={() => void undo()}
        onRedo={() => void redo()}
      />
      <Show when={review.files.error()}>
        {(why) => (
          <div class="review-note" role="alert">
            <p>{visible(why())}</p>
            <Button data-testid="review-again" onClick={() => void review.files.again()}>
              {en.reverted.retry}
            </Button>
          </div>
        )}
      </Show>
      <Show when={review.steps.browsing() && review.steps.place()}>{(at) => <StepBrowser at={at()} root={root()} />}</Show>
      <Show
        when={!review.steps.browsing() && place()}
        keyed
        fallback={
          <Show when={!review.files.error() && !review.steps.browsing()}>
            <Empty loaded={found() !== undefined} busy={app.busy()} named={notShown().length > 0} />
          </Show>
        }
      >
        {(_place) => {
          const folds = createFolds();
          return (
            <div class="review-body">
              <Show when={review.view.state.tree && files().length > 1}>
                <FileTree
                  files={files()}
                  isGone={isGone}
                  comments={found()?.comments ?? []}
                  current={current() ?? files()[0]?.path}
                  onShow={(file) => diff?.show(file.path)}
                  onKeep={(file) => tools.keep(file, undefined)}
                  onRevert={(file) => tools.revert(file, undefined)}
                  onEdit={(file) => tools.edit(file, undefined)}
                  menu={(file) => changeItems(tools, file, undefined)}
                  onViewed={(file, viewed) => {
                    folds.setClosed(file.path, viewed ? true : undefined);
                    void review.setViewed(file, viewed);
                  }}
                />
              </Show>
              <div class="review-diff">
                <DiffList
                  files={shown()}
                  source={review.source}
                  folds={folds}
                  headers
                  fill
                  root={root()}
                  label={en.review.files}
                  sideBySide={sideBySide()}
                  wrap={review.view.state.wrap}
                  extras={(path) => extras().get(path)}
                  tombs={(path) => judge.tombs(path)}
                  keys={tools.keys}
                  menu={(file, hunk) => changeItems(tools, file, hunk)}
                  selection={selection()}
                  onSelect={setSelection}
                  onCurrent={setCurrent}
                  ref={(made) => (diff = made)}
                  actions={(file, hunk) => <ChangeActions file={file} hunk={hunk} tools={tools} />}
                  tomb={(_file, tomb) => <UndoHere name={tomb.key} />}
                  pictures={(file) => <Pictures file={file} />}
                  extra={(_file, extra) => (
                    <Show
                      when={found()?.comments.find(({ id }) => id === extra.key)}
                      fallback={
                        <Show when={extra.key === EDITOR}>
                          <CommentField />
                        </Show>
                      }
                    >
                      {(comment) => <CommentView comment={comment()} />}
                    </Show>
                  )}
                />
                <Show when={selectedFile() && selectedHunk() && selection()}>
                  {(range) => (
                    <SelectionBar
                      file={selectedFile() as ReviewFile}
                      range={range()}
                      hunk={selectedHunk() as NonNullable<ReturnType<typeof selectedHunk>>}
                      tools={tools}
                      onDone={() => setSelection(undefined)}
                    />
                  )}
                </Show>
              </div>
            </div>
          );
        }}
      </Show>
      <Notes lines={notShown()} />
      <p class="review-keys" aria-hidden="true">
        {en.review.keys(keyName('Z'))}
      </p>
      <Show when={openComments() > 0}>
        <CommentsBar open={openComments()} />
      </Show>
      <Show when={review.steps.list().length > 1 || review.steps.at() !== undefined}>
        <ScrubBar />
      </Show>
      <Show when={git.status()} fallback={<Show when={gitIsRead()}><div class="git-bar" aria-hidden="true" /></Show>}>
        {(status) => <GitBar status={status()} />}
      </Show>
      <Show when={judge.asked()}>{(asked) => <LinesConfirm asked={asked()} giveBack={giveBack} />}</Show>
      <Show when={judge.halted()} keyed>
        {(halted) => <HaltedConfirm halted={halted} giveBack={giveBack} />}
      </Show>
      <Show when={review.steps.restoring()} keyed>
        {(restoring) => <RestoreConfirm restoring={restoring} />}
      </Show>
      <Show when={git.task()}>{(task) => <GitPanel task={task()} />}</Show>
      <Show when={review.pending()} keyed>
        {(pending) => <ReviewConfirm pending={pending} giveBack={giveBack} />}
      </Show>
    </aside>
  );
}

function Empty(props: { loaded: boolean; busy: boolean; named: boolean }) {
  const words = () => {
    if (props.named) return en.review.onlyNamed;
    return props.busy ? en.review.nothingYet : en.review.nothing;
  };
  return (
    <Show
      when={props.loaded}
      fallback={
        <p class="review-note" role="status">
          <span class="spinner" aria-hidden="true" /> {en.review.loading}
        </p>
      }
    >
      <p class="review-note">{words()}</p>
    </Show>
  );
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('textarea, input:not([type=checkbox], [type=range])');
}

/** Paths in the timeline are relative to the session's folder, which may be below the project's. */
function isNamed({ path }: { path: string }, name: string | undefined): boolean {
  return name !== undefined && (path === name || path.endsWith(`/${name}`) || name.endsWith(`/${path}`));
}
