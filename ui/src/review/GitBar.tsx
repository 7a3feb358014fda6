/** The branch of the session's folder, what is uncommitted, and what can be done with it. */
import Archive from 'lucide-solid/icons/archive';
import ArchiveRestore from 'lucide-solid/icons/archive-restore';
import Copy from 'lucide-solid/icons/copy';
import Download from 'lucide-solid/icons/download';
import Ellipsis from 'lucide-solid/icons/ellipsis';
import FileDiff from 'lucide-solid/icons/file-diff';
import GitBranch from 'lucide-solid/icons/git-branch';
import GitCommit from 'lucide-solid/icons/git-commit-horizontal';
import GitMerge from 'lucide-solid/icons/git-merge';
import ListChecks from 'lucide-solid/icons/list-checks';
import ListX from 'lucide-solid/icons/list-x';
import Trash from 'lucide-solid/icons/trash';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { copyText } from '../kit/clipboard';
import { Menu, type MenuItem } from '../kit/Menu';
import type { GitStatus } from '../protocol';
import { useApp } from '../store/context';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';

export function GitBar(props: { status: GitStatus }) {
  const app = useApp();
  const { git } = app;
  const { git: words } = en;
  const uncommitted = () => props.status.staged + props.status.unstaged + props.status.untracked;
  const facts = () => {
    const { ahead, behind, conflicts, operation, staged } = props.status;
    return [
      words.uncommitted(uncommitted()),
      staged > 0 && words.stagedCount(staged),
      ahead > 0 && words.ahead(ahead),
      behind > 0 && words.behind(behind),
      conflicts > 0 && words.conflicts(conflicts),
      operation && words.operations[operation],
    ].filter((fact) => fact);
  };
  const copy = async () => {
    const text = await git.copyPatch();
    if (text === undefined) return;
    await copyText(text);
    app.toasts.show({ tone: 'info', text: words.copied });
  };
  const items = createMemo<MenuItem[]>(() => {
    const { staged, stashes, worktree, head } = props.status;
    return [
      { label: words.stageKept, icon: ListChecks, run: () => void git.stageKept() },
      ...(staged > 0 ? [{ label: words.unstage, icon: ListX, run: () => void git.unstage() }] : []),
      { label: words.commit, icon: GitCommit, run: () => void git.beginCommit(false) },
      ...(head === undefined ? [] : [{ label: words.amend, icon: GitCommit, run: () => void git.beginCommit(true) }]),
      ...(uncommitted() > 0 && head !== undefined ? [{ label: words.stash, icon: Archive, run: () => git.beginStash() }] : []),
      ...(stashes > 0 ? [{ label: words.unstash, icon: ArchiveRestore, run: () => void git.unstash() }] : []),
      { label: words.copyPatch, icon: Copy, run: () => void copy() },
      { label: words.savePatch, icon: Download, run: () => void git.savePatch() },
      ...(worktree
        ? [
            { label: words.compare, icon: FileDiff, run: () => void git.beginCompare() },
            { label: words.bringMerge, icon: GitMerge, run: () => void git.beginBringBack('merge') },
            { label: words.bringApply, icon: GitMerge, run: () => void git.beginBringBack('apply') },
            { label: words.removeWorktree, icon: Trash, tone: 'danger' as const, run: () => git.beginRemove() },
          ]
        : []),
    ];
  });
  return (
    <div class="git-bar" role="group" aria-label={words.label} data-testid="git-bar">
      <GitBranch size={13} aria-hidden="true" />
      <span class="git-branch" data-testid="git-branch">{visibleLine(props.status.branch ?? words.detached)}</span>
      <span class="git-facts">
        {facts().join(' · ')}
        <Show when={props.status.worktree}>
          {(tree) => (
            <span title={`${visibleLine(tree().original)}\n${words.against(tree().commits, tree().uncommitted)}`}>
              {' '}
              · {words.worktree(visibleLine(baseName(tree().original)))}
            </span>
          )}
        </Show>
      </span>
      <Show when={git.working()}>
        {(doing) => (
          <span class="review-doing" role="status">
            <span class="spinner" aria-hidden="true" />
            {doing()}
          </span>
        )}
      </Show>
      <Show when={props.status.staged > 0}>
        <Button class="review-act" data-testid="git-commit" disabled={app.busy()} onClick={() => void git.beginCommit(false)}>
          {words.commit}
        </Button>
      </Show>
      <Menu label={words.actions} items={items()}>
        <Ellipsis size={14} aria-hidden="true" />
      </Menu>
    </div>
  );
}
