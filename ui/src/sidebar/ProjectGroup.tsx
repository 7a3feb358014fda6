import ChevronRight from 'lucide-solid/icons/chevron-right';
import GitBranch from 'lucide-solid/icons/git-branch';
import Plus from 'lucide-solid/icons/plus';
import { createEffect, createMemo, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { copyText } from '../kit/clipboard';
import type { MenuItem } from '../kit/Menu';
import { offer } from '../kit/offers';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';
import type { Project, Session } from '../protocol';
import { useApp } from '../store/context';
import { forkTree } from './forks';
import { listOf } from '../store/projects';
import { SessionRow } from './SessionRow';

/** Rows shown at once; more on demand, so that thousands of sessions stay fast. */
const CHUNK = 60;

export function ProjectGroup(props: { project: Project; filter: string; onNavigate: () => void }) {
  const app = useApp();
  const [folded, setFolded] = createSignal<boolean | undefined>();
  const name = () => visibleLine(props.project.name ?? baseName(props.project.worktree));
  const open = () => props.filter !== '' || !(folded() ?? app.project()?.id !== props.project.id);
  const listed = () => app.sessions.isListed(props.project.id);

  createEffect(() => {
    if (!open()) return;
    void app.listProject(props.project.id);
    app.folders.follow(props.project.id);
  });

  const sessions = createMemo(() => {
    const all = listOf(app.sessions.all(), app.sessions.projects(), props.project.id);
    return props.filter === '' ? all : all.filter((one) => one.title.toLowerCase().includes(props.filter));
  });
  const waits = createMemo(() => sessions().filter((one) => app.activity.waiting().includes(one.id)).length);
  const current = createMemo(() => sessions().filter((session) => session.time.archived === undefined));
  const archived = createMemo(() => sessions().filter((session) => session.time.archived !== undefined));

  const folder = createMemo(() => app.folders.of(props.project.worktree));
  const branch = () => visibleLine(folder()?.branch ?? en.git.detached);
  const begin = () => void app.create(props.project.id).then(props.onNavigate);
  const items = (): MenuItem[] => [
    { label: en.sidebar.newSession, run: begin },
    { label: open() ? en.menu.collapse : en.menu.expand, run: () => setFolded(open()) },
    { label: en.menu.copyPath, run: () => void copyText(props.project.worktree) },
  ];

  return (
    <Show when={props.filter === '' || sessions().length > 0}>
      <section class="project" data-project-id={props.project.id}>
        <div class="project-head" ref={(head) => offer(head, items)}>
          <button
            type="button"
            class="project-name"
            data-row
            aria-expanded={open()}
            title={visibleLine(props.project.worktree)}
            onClick={() => setFolded(open())}
          >
            <ChevronRight class="chevron" size={14} aria-hidden="true" />
            <span>{name()}</span>
            <Show when={open() && folder()}>
              {(found) => (
                <span class="project-branch" data-testid="project-branch" title={`${en.git.branch(branch())}, ${en.git.uncommitted(found().uncommitted)}`}>
                  <GitBranch size={11} aria-hidden="true" />
                  <span>{branch()}</span>
                  <Show when={found().uncommitted > 0}>
                    <span class="visually-hidden">{en.git.uncommitted(found().uncommitted)}</span>
                    <span aria-hidden="true">{found().uncommitted}</span>
                  </Show>
                </span>
              )}
            </Show>
            <Show when={!open() && waits() > 0}>
              <span class="mark" data-mark="waiting" />
              <span class="visually-hidden">{en.waiting.badge(waits())}</span>
            </Show>
          </button>
          <IconButton
            class="project-new"
            icon={Plus}
            label={en.sidebar.newSessionIn(name())}
            onClick={begin}
          />
        </div>
        <Show when={open()}>
          <Show when={listed()} fallback={<p class="sidebar-note">{en.sidebar.loading}</p>}>
            <SessionList sessions={current()} onNavigate={props.onNavigate} />
            <Show when={sessions().length === 0}>
              <p class="sidebar-note">{en.sidebar.noSessions}</p>
            </Show>
            <Archive sessions={archived()} open={props.filter !== ''} onNavigate={props.onNavigate} />
          </Show>
        </Show>
      </section>
    </Show>
  );
}

function SessionList(props: { sessions: readonly Session[]; onNavigate: () => void }) {
  const [shown, setShown] = createSignal(CHUNK);
  // Keyed by id: a changed session keeps its row and its focus.
  const tree = createMemo(() => forkTree(props.sessions));
  const ids = createMemo(() => tree().slice(0, shown()).map((row) => row.session.id));
  const depth = (id: string) => tree().find((row) => row.session.id === id)?.depth ?? 0;
  return (
    <ul class="session-list">
      <For each={ids()}>{(id) => <SessionRow sessionID={id} depth={depth(id)} onNavigate={props.onNavigate} />}</For>
      <Show when={props.sessions.length > shown()}>
        <li>
          <button type="button" class="sidebar-more" data-row onClick={() => setShown(shown() + CHUNK * 4)}>
            {en.sidebar.more(props.sessions.length - shown())}
          </button>
        </li>
      </Show>
    </ul>
  );
}

function Archive(props: { sessions: readonly Session[]; open: boolean; onNavigate: () => void }) {
  const [unfolded, setUnfolded] = createSignal(false);
  const open = () => props.open || unfolded();
  return (
    <Show when={props.sessions.length > 0}>
      <button
        type="button"
        class="project-name archive-name"
        data-row
        data-testid="archived"
        aria-expanded={open()}
        onClick={() => setUnfolded(!open())}
      >
        <ChevronRight class="chevron" size={14} aria-hidden="true" />
        <span>{en.sidebar.archived(props.sessions.length)}</span>
      </button>
      <Show when={open()}>
        <SessionList sessions={props.sessions} onNavigate={props.onNavigate} />
      </Show>
    </Show>
  );
}
