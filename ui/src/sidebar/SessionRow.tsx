import Archive from 'lucide-solid/icons/archive';
import ArchiveRestore from 'lucide-solid/icons/archive-restore';
import Ellipsis from 'lucide-solid/icons/ellipsis';
import GitBranch from 'lucide-solid/icons/git-branch';
import GitFork from 'lucide-solid/icons/git-fork';
import FileDown from 'lucide-solid/icons/file-down';
import Pencil from 'lucide-solid/icons/pencil';
import Share2 from 'lucide-solid/icons/share-2';
import Trash from 'lucide-solid/icons/trash';
import { createMemo, Match, Show, Switch } from 'solid-js';
import { en } from '../i18n/en';
import { ago, clock } from '../text/format';
import { isComposing } from '../kit/keys';
import { Menu, type MenuItem } from '../kit/Menu';
import { offer } from '../kit/offers';
import { useApp } from '../store/context';
import { useNow } from '../store/clock';
import { projectOf, rootOf } from '../store/projects';
import { titleOf, writtenTitle } from '../store/titles';
import { visibleLine } from '../text/visible';

export function SessionRow(props: { sessionID: string; depth: number; onNavigate: () => void }) {
  const app = useApp();
  const now = useNow();
  const renaming = () => app.renaming() === props.sessionID;
  const setRenaming = (on: boolean) => app.setRenaming(on ? props.sessionID : undefined);
  let row: HTMLButtonElement | undefined;

  const session = createMemo(() => app.sessions.get(props.sessionID));
  const title = () => titleOf(session());
  const archived = () => session()?.time.archived !== undefined;
  const status = createMemo(() => app.activity.status(props.sessionID).type);
  const failed = createMemo(() => app.activity.isFailed(props.sessionID));
  const waiting = createMemo(() => app.activity.waiting().includes(props.sessionID));
  const unread = createMemo(() => app.activity.isUnread(props.sessionID));
  const folder = createMemo(() => app.folders.of(session()?.directory ?? ''));
  /** In a checkout of its own, unlike most sessions of the project. */
  const apart = createMemo(() => {
    const [one, projects] = [session(), app.sessions.projects()];
    const project = one && projectOf(projects, one);
    return one !== undefined && project !== undefined && rootOf(project, one) !== project.worktree;
  });
  const branch = () => visibleLine(folder()?.branch ?? en.git.detached);
  const inGit = () => {
    const found = folder();
    return found ? [`${en.git.branch(branch())}, ${en.git.uncommitted(found.uncommitted)}`] : [];
  };
  const current = () => app.selected() === props.sessionID;

  const items = createMemo<MenuItem[]>(() => [
    { label: en.session.rename, icon: Pencil, keys: 'F2', run: () => queueMicrotask(() => setRenaming(true)) },
    archived()
      ? { label: en.session.unarchive, icon: ArchiveRestore, run: () => void app.archive(props.sessionID, false) }
      : { label: en.session.archive, icon: Archive, run: () => void app.archive(props.sessionID, true) },
    { label: en.session.share, icon: Share2, run: () => app.show({ name: 'share', sessionID: props.sessionID }) },
    { label: en.session.export, icon: FileDown, run: () => void app.transfer.exportSession(props.sessionID) },
    { label: en.session.delete, icon: Trash, keys: 'Del', tone: 'danger', run: () => void app.remove(props.sessionID) },
  ]);

  const onOpen = () => {
    // Not every webview focuses a clicked button, but F2 and Delete need the focus.
    row?.focus();
    void app.select(props.sessionID).then(props.onNavigate);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'F2') setRenaming(true);
    else if (event.key === 'Delete') removeByKey();
    else return;
    event.preventDefault();
  };
  /** Moves the focus to the next row, so that it stays in the list. */
  const removeByKey = () => {
    const item = row?.closest('li');
    const near = item?.nextElementSibling ?? item?.previousElementSibling;
    void app.remove(props.sessionID).then(() => near?.querySelector<HTMLElement>('[data-row]')?.focus());
  };
  const finish = (text?: string) => {
    setRenaming(false);
    row?.focus();
    if (text !== undefined) void app.rename(props.sessionID, text);
  };

  return (
    <li
      class="session-row"
      ref={(item) => offer(item, () => (renaming() ? [] : items()))}
      data-session-id={props.sessionID}
      data-current={current() ? '' : undefined}
      data-unread={unread() ? '' : undefined}
      data-apart={apart() && folder() ? '' : undefined}
      data-depth={props.depth > 0 ? Math.min(props.depth, 3) : undefined}
    >
      <Show when={!renaming()} fallback={<RenameField title={writtenTitle(session())} onDone={finish} />}>
        <button
          ref={row}
          type="button"
          class="session-open"
          data-row
          aria-current={current() ? 'true' : undefined}
          title={[title(), ...inGit(), clock(session()?.time.updated ?? 0)].join('\n')}
          onClick={onOpen}
          onDblClick={() => setRenaming(true)}
          onKeyDown={onKeyDown}
        >
          <Show when={props.depth > 0}>
            <GitFork class="session-fork" size={12} aria-hidden="true" />
            <span class="visually-hidden">{en.session.fork}</span>
          </Show>
          <span class="session-title">{title()}</span>
          <Show when={apart() && folder()}>
            {(found) => (
              <span class="session-branch" data-testid="session-branch">
                <GitBranch size={11} aria-hidden="true" />
                <span class="session-branch-name">{branch()}</span>
                <Show when={found().uncommitted > 0}>
                  <span>{en.git.uncommitted(found().uncommitted)}</span>
                </Show>
              </span>
            )}
          </Show>
          <Switch fallback={<span class="session-age">{ago(session()?.time.updated ?? 0, now())}</span>}>
            <Match when={waiting()}>
              <span class="mark" data-mark="waiting" />
              <span class="visually-hidden">{en.session.waiting}</span>
            </Match>
            <Match when={status() === 'busy'}>
              <span class="mark spinner" />
              <span class="visually-hidden">{en.session.busy}</span>
            </Match>
            <Match when={status() === 'retry'}>
              <span class="mark" data-mark="retry" />
              <span class="visually-hidden">{en.session.retrying}</span>
            </Match>
            <Match when={failed()}>
              <span class="mark" data-mark="failed" />
              <span class="visually-hidden">{en.session.failed}</span>
            </Match>
            <Match when={unread()}>
              <span class="mark" data-mark="unread" />
              <span class="visually-hidden">{en.session.unread}</span>
            </Match>
          </Switch>
        </button>
        <Menu class="session-menu" label={en.session.menu(title())} items={items()}>
          <Ellipsis size={15} aria-hidden="true" />
        </Menu>
      </Show>
    </li>
  );
}

function RenameField(props: { title: string; onDone: (title?: string) => void }) {
  let settled = false;
  const done = (text?: string) => {
    if (settled) return;
    settled = true;
    props.onDone(text);
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (isComposing(event)) return;
    if (event.key === 'Enter') done(event.currentTarget.value);
    else if (event.key === 'Escape') done();
    else return;
    event.preventDefault();
  };
  return (
    <input
      class="session-rename"
      ref={(field) =>
        queueMicrotask(() => {
          field.focus();
          field.select();
        })
      }
      aria-label={en.session.renameLabel}
      value={props.title}
      onKeyDown={onKeyDown}
      onBlur={(event) => done(event.currentTarget.value)}
    />
  );
}
