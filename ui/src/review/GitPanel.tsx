/** What git asks before it does something: a message, or whether it may. */
import Sparkles from 'lucide-solid/icons/sparkles';
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createSignal, For, Match, onMount, Show, Switch } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import type { BringBackChoice, ComparedWorktree } from '../protocol';
import { useApp } from '../store/context';
import type { GitTask } from '../store/git';
import { baseName } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { Notes } from './ReviewConfirm';
import { WorktreeConflict } from './WorktreeConflict';
import './decide.css';

type TaskOf<K extends GitTask['kind']> = Extract<GitTask, { kind: K }>;

export function GitPanel(props: { task: GitTask }) {
  const { git } = useApp();
  const as = <K extends GitTask['kind']>(kind: K) => (props.task.kind === kind ? (props.task as TaskOf<K>) : undefined);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    git.cancel();
  };
  return (
    <section class="review-confirm" data-testid="git-panel" aria-label={en.git.label} onKeyDown={onKeyDown}>
      <Switch>
        <Match when={as('commit')}>{(task) => <Commit amend={task().amend} />}</Match>
        <Match when={as('stash')}>
          <Stash />
        </Match>
        <Match when={as('compare')}>{(task) => <Compare found={task().found} />}</Match>
        <Match when={as('bringBack')}>{(task) => <BringBack task={task()} />}</Match>
        <Match when={as('removeWorktree')}>
          <Remove />
        </Match>
      </Switch>
    </section>
  );
}

function Commit(props: { amend: boolean }) {
  const app = useApp();
  const { git } = app;
  let area!: HTMLTextAreaElement;
  onMount(() => area.focus());
  const staged = () => git.status()?.staged ?? 0;
  const can = () => git.message().trim() !== '' && git.working() === undefined && (props.amend || staged() > 0) && !app.busy();
  return (
    <>
      <h3>{props.amend ? en.git.amendTitle : en.git.commitTitle}</h3>
      <Show when={!props.amend && staged() === 0}>
        <p class="review-notes-line">
          {en.git.nothingStaged}{' '}
          <button type="button" class="link-button" data-testid="stage-kept" disabled={git.working() !== undefined} onClick={() => void git.stageKept()}>
            {en.git.stageKept}
          </button>
        </p>
      </Show>
      <Show when={git.status()?.untrusted}>
        <p class="review-notes-line">{en.git.untrusted}</p>
      </Show>
      <textarea
        ref={area}
        rows="4"
        class="git-message"
        aria-label={en.git.message}
        placeholder={en.git.message}
        data-testid="commit-message"
        value={git.message()}
        onInput={(event) => git.setMessage(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && can() && void git.commit()}
      />
      <div class="card-actions">
        <Button tone="primary" data-testid="do-commit" disabled={!can()} onClick={() => void git.commit()}>
          {props.amend ? en.git.doAmend : en.git.doCommit}
        </Button>
        <Button icon={Sparkles} data-testid="draft-message" disabled={git.working() !== undefined || staged() === 0} onClick={() => void git.draft()}>
          {git.working() === en.git.drafting ? en.git.drafting : en.git.draftIt}
        </Button>
        <Button onClick={() => git.cancel()}>{en.review.cancel}</Button>
      </div>
    </>
  );
}

function Stash() {
  const { git } = useApp();
  let field!: HTMLInputElement;
  onMount(() => field.focus());
  return (
    <>
      <h3>{en.git.stashTitle}</h3>
      <input
        ref={field}
        type="text"
        class="field"
        aria-label={en.git.stashMessage}
        placeholder={en.git.stashMessage}
        value={git.message()}
        onInput={(event) => git.setMessage(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && void git.stash()}
      />
      <div class="card-actions">
        <Button tone="primary" data-testid="do-stash" disabled={git.working() !== undefined} onClick={() => void git.stash()}>
          {en.git.doStash}
        </Button>
        <Button onClick={() => git.cancel()}>{en.review.cancel}</Button>
      </div>
    </>
  );
}

/** The changes of a worktree against its original. */
function Compare(props: { found: ComparedWorktree }) {
  const { git } = useApp();
  let close!: HTMLButtonElement;
  onMount(() => close.focus());
  const words = () => {
    const tree = git.status()?.worktree;
    return tree ? en.git.against(tree.commits, tree.uncommitted) : '';
  };
  const isSame = () => props.found.files.length === 0 && (props.found.notShown ?? []).length === 0;
  return (
    <>
      <h3>{en.git.compareTitle(visibleLine(git.status()?.worktree?.originalBranch ?? baseName(git.status()?.worktree?.original ?? '')))}</h3>
      <p class="review-notes-line">{isSame() ? en.git.nothingAgainst : words()}</p>
      <ul data-testid="compared">
        <For each={props.found.files}>
          {(file) => (
            <li class="review-effect" data-status={file.status}>
              <code>{visibleLine(file.path)}</code>
              <span>{en.diff.status[file.status]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
            </li>
          )}
        </For>
      </ul>
      <Notes lines={props.found.notShown} />
      <div class="card-actions">
        <Show when={!isSame()}>
          <Button tone="primary" onClick={() => void git.beginBringBack('merge')}>
            {en.git.bringMerge}
          </Button>
          <Button onClick={() => void git.beginBringBack('apply')}>{en.git.bringApply}</Button>
        </Show>
        <Button ref={close} data-testid="close-compare" onClick={() => git.cancel()}>
          {en.git.close}
        </Button>
      </div>
    </>
  );
}

function BringBack(props: { task: TaskOf<'bringBack'> }) {
  const { git } = useApp();
  const [choices, setChoices] = createSignal<Readonly<Record<string, BringBackChoice>>>({});
  const preview = () => props.task.preview;
  const undecided = () => preview().files.some(({ path, change }) => change === 'conflict' && choices()[path] === undefined);
  return (
    <>
      <h3>{en.git.bringTitle[props.task.how]}</h3>
      <Show when={preview().problem}>{(problem) => <p class="review-notes-line">{visible(problem())}</p>}</Show>
      <ul>
        <For each={preview().files}>
          {(file) => (
            <li class="review-effect" data-change={file.change}>
              <Show when={file.change === 'conflict'}>
                <TriangleAlert size={13} aria-hidden="true" />
              </Show>
              <code>{visibleLine(file.path)}</code>
              <span>{en.git.bringChanges[file.change]}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
              <Show when={file.change === 'conflict'}>
                <WorktreeConflict
                  file={file}
                  choice={choices()[file.path]}
                  onChoose={(choice) => setChoices((now) => ({ ...now, [file.path]: choice }))}
                />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <div class="card-actions">
        <Button
          tone="primary"
          data-testid="do-bring-back"
          disabled={preview().problem !== undefined || undecided() || git.working() !== undefined}
          onClick={() => void git.bringBack(choices())}
        >
          {en.git.bring[props.task.how]}
        </Button>
        <Button onClick={() => git.cancel()}>{en.review.cancel}</Button>
      </div>
    </>
  );
}

function Remove() {
  const { git } = useApp();
  let cancel!: HTMLButtonElement;
  onMount(() => cancel.focus());
  return (
    <>
      <h3>{en.git.removeTitle}</h3>
      <p class="review-notes-line">{en.git.removeNote(visibleLine(git.status()?.worktree?.branch ?? ''))}</p>
      <div class="card-actions">
        <Button tone="danger" data-testid="do-remove-worktree" disabled={git.working() !== undefined} onClick={() => void git.removeWorktree()}>
          {en.git.remove}
        </Button>
        <Button ref={cancel} onClick={() => git.cancel()}>
          {en.review.cancel}
        </Button>
      </div>
    </>
  );
}
