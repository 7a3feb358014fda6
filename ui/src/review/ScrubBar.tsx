/** The steps of the session on a line: go to one, play them, and bring the files back to one. */
import ChevronLeft from 'lucide-solid/icons/chevron-left';
import ChevronRight from 'lucide-solid/icons/chevron-right';
import FolderTree from 'lucide-solid/icons/folder-tree';
import GitBranch from 'lucide-solid/icons/git-branch';
import GitFork from 'lucide-solid/icons/git-fork';
import History from 'lucide-solid/icons/rotate-ccw-clock';
import Ellipsis from 'lucide-solid/icons/ellipsis';
import ListFilter from 'lucide-solid/icons/list-filter';
import Pause from 'lucide-solid/icons/pause';
import Play from 'lucide-solid/icons/play';
import { createMemo, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { Menu, type MenuItem } from '../kit/Menu';
import { useApp } from '../store/context';
import { baseName, clock } from '../text/format';
import { visibleLine } from '../text/visible';

export function ScrubBar() {
  const app = useApp();
  const { review } = app;
  const { steps } = review;
  const { steps: words } = en.review;
  const count = () => steps.list().length;
  /** Behind the last step is the present. */
  const at = () => steps.at() ?? count();
  const step = () => steps.list()[at()];
  const only = () => review.scope().kind === 'step';
  const names = () => (step()?.files ?? []).map((path) => visibleLine(baseName(path))).join(', ');
  const setOnly = () => {
    const now = step();
    if (now) review.setScope({ kind: only() ? 'until' : 'step', messageID: now.messageID, partID: now.partID });
  };
  let range!: HTMLInputElement;
  /** The button goes, and must not take the focus with it. */
  const toNow = () => {
    steps.go(count());
    range.focus();
  };
  const fork = (worktree: boolean) => async () => {
    const [now, id] = [step(), app.selected()];
    if (!now || id === undefined) return;
    const made = await app.attempt(() => app.host.forkAt(id, { messageID: now.messageID, partID: now.partID }, worktree));
    if (made) await app.select(made.id);
  };
  const items = createMemo<MenuItem[]>(() => {
    const now = step();
    if (!now) return [];
    return [
      { label: only() ? words.until : words.only, icon: ListFilter, run: setOnly },
      ...(app.busy() ? [] : [{ label: words.restore, icon: History, run: () => void steps.ask({ messageID: now.messageID, partID: now.partID }) }]),
      { label: words.fork, icon: GitFork, run: () => void fork(false)() },
      ...(app.project()?.vcs === 'git' ? [{ label: words.forkWorktree, icon: GitBranch, run: () => void fork(true)() }] : []),
    ];
  });
  return (
    <div class="scrub-bar" role="group" aria-label={words.label} data-testid="scrub-bar" data-at={steps.at()}>
      <IconButton
        icon={steps.playing() ? Pause : Play}
        size={14}
        label={steps.playing() ? words.pause : words.play}
        data-testid="play-steps"
        onClick={() => (steps.playing() ? steps.pause() : steps.play())}
      />
      <IconButton icon={ChevronLeft} size={14} label={words.previous} data-testid="previous-step" disabled={at() === 0} onClick={() => steps.go(at() - 1)} />
      <input
        ref={range}
        type="range"
        class="scrub-range"
        data-step={step() ? '' : undefined}
        min="0"
        max={count()}
        value={at()}
        aria-label={words.label}
        aria-valuetext={step() ? `${words.at(at() + 1, count())}: ${names()}` : words.now}
        data-testid="scrub-range"
        onInput={(event) => steps.go(Number(event.currentTarget.value))}
      />
      <IconButton icon={ChevronRight} size={14} label={words.next} data-testid="next-step" disabled={at() >= count()} onClick={() => steps.go(at() + 1)} />
      <Show when={step()} fallback={<span class="scrub-words">{words.now}</span>}>
        {(now) => (
          <>
            <span class="scrub-words" title={clock(now().time)}>
              <span>{words.at(at() + 1, count())}</span>
              <code>{names()}</code>
              <Counts additions={now().additions} deletions={now().deletions} />
            </span>
            <IconButton
              icon={FolderTree}
              size={14}
              label={steps.browsing() ? words.changedOnly : words.browse}
              aria-pressed={steps.browsing()}
              data-testid="browse-step"
              onClick={() => steps.setBrowsing(!steps.browsing())}
            />
            <Button class="review-act" data-testid="to-now" title={words.presentTitle} onClick={toNow}>
              {words.present}
            </Button>
            <Menu label={words.actions} items={items()}>
              <Ellipsis size={14} aria-hidden="true" />
            </Menu>
          </>
        )}
      </Show>
    </div>
  );
}
