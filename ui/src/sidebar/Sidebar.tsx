import FolderOpen from 'lucide-solid/icons/folder-open';
import PanelLeft from 'lucide-solid/icons/panel-left';
import SettingsIcon from 'lucide-solid/icons/settings';
import SquarePen from 'lucide-solid/icons/square-pen';
import X from 'lucide-solid/icons/x';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { offer } from '../kit/offers';
import { firstButton, focusable, focusHandle, registerFocus } from '../kit/focus';
import { ThemeToggle } from './ThemeToggle';
import { useApp } from '../store/context';
import { ProjectGroup } from './ProjectGroup';
import { ResizeHandle } from './ResizeHandle';
import { SearchResults } from './SearchResults';
import './sidebar.css';

export function Sidebar(props: { onHide: () => void; onNavigate: () => void }) {
  const app = useApp();
  const actions = useActions();
  const [words, setWords] = createSignal('');
  const filter = createMemo(() => words().trim().toLowerCase());

  const onFilter = (text: string) => {
    setWords(text);
    // Only listed sessions can be filtered.
    if (text.trim() !== '') for (const project of app.sessions.projects()) void app.listProject(project.id);
  };
  const onFilterKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || words() === '') return;
    event.preventDefault();
    setWords('');
  };
  let nav!: HTMLElement;
  registerFocus('sidebar', () => ({
    element: nav,
    target: () =>
      nav.querySelector<HTMLElement>('[data-row][aria-current]') ??
      focusHandle('sessionFilter')?.target() ??
      firstButton(nav),
  }));
  const nothingFound = () =>
    filter() !== '' &&
    !app.sessions.all().some((session) => session.title.toLowerCase().includes(filter()));

  return (
    <nav class="sidebar" ref={nav} data-testid="sidebar" aria-label={en.sidebar.label} onKeyDown={moveBetweenRows}>
      <header class="sidebar-bar">
        <span class="sidebar-name">{en.app}</span>
        <Show when={app.activity.waiting().length > 0}>
          <button
            type="button"
            class="waiting-badge"
            data-testid="waiting-badge"
            title={withKeys(en.waiting.badge(app.activity.waiting().length), actions.nameOf('nextWaiting'))}
            aria-label={en.waiting.badge(app.activity.waiting().length)}
            onClick={() => app.goToWaiting()}
          >
            {app.activity.waiting().length}
          </button>
        </Show>
        <IconButton
          icon={PanelLeft}
          label={en.sidebar.hide}
          keys={actions.nameOf('toggleSidebar')}
          aria-expanded="true"
          onClick={props.onHide}
        />
      </header>
      <div class="sidebar-actions">
        <Button
          class="sidebar-new"
          data-testid="new-session"
          icon={SquarePen}
          title={withKeys(en.sidebar.newSession, actions.nameOf('newSession'))}
          disabled={!app.project()}
          onClick={() => void app.create().then(props.onNavigate)}
        >
          {en.sidebar.newSession}
        </Button>
        <IconButton
          class="sidebar-folder"
          data-testid="open-folder"
          icon={FolderOpen}
          label={en.sidebar.openFolder}
          keys={actions.nameOf('openFolder')}
          onClick={() => void app.pickProject()}
        />
      </div>
      <Show when={app.sessions.projects().length > 0}>
        <div class="sidebar-filter">
          <input
            type="text"
            ref={focusable('sessionFilter')}
            data-testid="session-filter"
            aria-label={en.sidebar.filter}
            placeholder={en.sidebar.filter}
            spellcheck={false}
            value={words()}
            onInput={(event) => onFilter(event.currentTarget.value)}
            onKeyDown={onFilterKey}
          />
          <Show when={words() !== ''}>
            <IconButton icon={X} size={13} label={en.sidebar.clearFilter} onClick={() => setWords('')} />
          </Show>
        </div>
      </Show>
      <div class="sidebar-list" ref={(list) => offer(list, () => actions.items(['newSession', 'openFolder', 'importSession']))}>
        <For each={app.sessions.projects()}>
          {(project) => <ProjectGroup project={project} filter={filter()} onNavigate={props.onNavigate} />}
        </For>
        <Show when={nothingFound()}>
          <p class="sidebar-note">{en.sidebar.noMatch(words().trim())}</p>
        </Show>
        <SearchResults words={words()} onNavigate={props.onNavigate} />
      </div>
      <footer class="sidebar-foot">
        <Button
          class="sidebar-settings"
          data-testid="settings-button"
          icon={SettingsIcon}
          title={withKeys(en.settings.title, actions.nameOf('settings'))}
          onClick={() => app.show({ name: 'settings', section: 'providers' })}
        >
          {en.settings.title}
        </Button>
        <ThemeToggle />
      </footer>
      <ResizeHandle />
    </nav>
  );
}

function withKeys(label: string, keys: string): string {
  return keys === '' ? label : `${label} (${keys})`;
}

/** Up and Down move between rows, across groups. */
function moveBetweenRows(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const row = event.target instanceof Element ? event.target.closest('[data-row]') : null;
  if (step === 0 || !row || event.defaultPrevented) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  rows[rows.indexOf(row as HTMLElement) + step]?.focus();
  event.preventDefault();
}
