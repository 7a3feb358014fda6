/** Everything by its name: actions with their keys, sessions, projects. */
import { Dialog } from '@kobalte/core/dialog';
import ChevronRight from 'lucide-solid/icons/chevron-right';
import Folder from 'lucide-solid/icons/folder';
import MessageSquare from 'lucide-solid/icons/message-square';
import Search from 'lucide-solid/icons/search';
import { createEffect, createMemo, createSignal, createUniqueId, For, on, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { baseName } from '../kit/format';
import { isComposing } from '../kit/keys';
import { visibleLine } from '../kit/visible';
import { useApp } from '../store/context';
import { projectOf } from '../store/projects';
import { ranked } from './match';
import './palette.css';

interface Entry {
  readonly key: string;
  readonly section: keyof typeof en.palette.sections;
  readonly label: string;
  readonly detail?: string;
  readonly keys?: string;
  readonly run: () => void;
}

const ICONS: Record<Entry['section'], Icon> = { actions: ChevronRight, sessions: MessageSquare, projects: Folder };
/** Sessions shown before anything is typed. */
const RECENT = 6;
const MOST = 60;

export function Palette() {
  const app = useApp();
  const open = () => app.overlay()?.name === 'palette';
  return (
    <Dialog open={open()} onOpenChange={(shown) => !shown && app.dismiss('palette')} preventScroll={false}>
      <Dialog.Portal>
        <Dialog.Overlay class="palette-scrim" />
        <Show when={open()}>
          <Window />
        </Show>
      </Dialog.Portal>
    </Dialog>
  );
}

function Window() {
  const app = useApp();
  const before = document.activeElement;
  const id = createUniqueId();
  const [typed, setTyped] = createSignal('');
  const [marked, setMarked] = createSignal(0);
  let field!: HTMLInputElement;
  let rows!: HTMLDivElement;

  const entries = useEntries(typed);
  const sections = createMemo(() => {
    const names = [...new Set(entries().map((entry) => entry.section))];
    return names.map((name) => ({ name, entries: entries().filter((entry) => entry.section === name) }));
  });
  const flat = createMemo(() => sections().flatMap((section) => section.entries));
  const active = () => flat()[marked()];
  createEffect(on(typed, () => setMarked(0), { defer: true }));
  createEffect(
    on(active, () => requestAnimationFrame(() => rows.querySelector('[data-active]')?.scrollIntoView?.({ block: 'nearest' }))),
  );

  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    app.dismiss('palette');
    // After the focus is back where it was, so that the action may move it.
    setTimeout(() => entry.run());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const count = flat().length;
    if (event.key === 'ArrowDown') setMarked((marked() + 1) % Math.max(1, count));
    else if (event.key === 'ArrowUp') setMarked((marked() - 1 + count) % Math.max(1, count));
    else if (event.key === 'Home' && event.ctrlKey) setMarked(0);
    else if (event.key === 'Enter') run(active());
    else return;
    event.preventDefault();
  };
  const giveBack = (event: Event) => {
    event.preventDefault();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  const rowID = (entry: Entry) => `${id}-${entry.key}`;

  return (
    <Dialog.Content
      class="palette"
      data-testid="palette"
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        setTimeout(() => field.focus());
      }}
      onCloseAutoFocus={giveBack}
    >
      <Dialog.Title class="visually-hidden">{en.palette.title}</Dialog.Title>
      <div class="palette-field">
        <Search size={15} aria-hidden="true" />
        <input
          ref={field}
          type="text"
          role="combobox"
          data-testid="palette-field"
          aria-label={en.palette.title}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active() ? rowID(active() as Entry) : undefined}
          placeholder={en.palette.placeholder}
          spellcheck={false}
          autocomplete="off"
          value={typed()}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="palette-list" role="listbox" id={id} aria-label={en.palette.title} ref={rows} tabindex="-1">
        <For each={sections()}>
          {(section) => (
            <div role="group" aria-label={en.palette.sections[section.name]}>
              <div class="palette-section" role="presentation">
                {en.palette.sections[section.name]}
              </div>
              <For each={section.entries}>
                {(entry) => (
                  <div
                    id={rowID(entry)}
                    role="option"
                    class="palette-row"
                    data-entry={entry.key}
                    data-active={active() === entry ? '' : undefined}
                    aria-selected={active() === entry}
                    onPointerMove={() => setMarked(flat().indexOf(entry))}
                    onClick={() => run(entry)}
                  >
                    <Dynamic component={ICONS[entry.section]} size={14} aria-hidden="true" />
                    <span class="palette-label">{visibleLine(entry.label)}</span>
                    <Show when={entry.detail}>
                      {(detail) => <span class="palette-detail">{visibleLine(detail())}</span>}
                    </Show>
                    <Show when={entry.keys}>
                      <kbd>{entry.keys}</kbd>
                    </Show>
                  </div>
                )}
              </For>
            </div>
          )}
        </For>
      </div>
      <Show when={flat().length === 0}>
        <p class="palette-none" role="status">
          {en.palette.none(typed().trim())}
        </p>
      </Show>
      <footer class="palette-foot">{en.palette.keys}</footer>
    </Dialog.Content>
  );
}

function useEntries(typed: () => string) {
  const app = useApp();
  const actions = useActions();
  // A session can be found only in lists that are here.
  createEffect(() => {
    if (typed().trim() !== '') for (const project of app.state().projects) void app.listProject(project.id);
  });
  const actionEntries = createMemo((): Entry[] =>
    actions.list
      .filter((action) => action.id !== 'palette' && action.enabled?.() !== false)
      .map((action) => ({
        key: `action-${action.id}`,
        section: 'actions',
        label: en.actions.names[action.id],
        keys: actions.nameOf(action.id) || undefined,
        run: () => void actions.run(action.id),
      })),
  );
  const sessionEntries = createMemo((): Entry[] =>
    Object.values(app.state().sessions)
      .filter((session) => session.parentID === undefined && session.id !== app.selected())
      .sort((a, b) => b.time.updated - a.time.updated)
      .map((session) => {
        const project = projectOf(app.state().projects, session);
        return {
          key: `session-${session.id}`,
          section: 'sessions',
          label: session.title || en.session.untitled,
          detail: project ? (project.name ?? baseName(project.worktree)) : undefined,
          run: () => void app.select(session.id),
        };
      }),
  );
  const projectEntries = createMemo((): Entry[] =>
    app.state().projects.map((project) => ({
      key: `project-${project.id}`,
      section: 'projects',
      label: en.sidebar.newSessionIn(project.name ?? baseName(project.worktree)),
      detail: project.worktree,
      run: () => void app.create(project.id),
    })),
  );
  return createMemo(() => {
    const words = typed();
    const best = (entries: Entry[]) => ranked(entries, (entry) => entry.label, words);
    const sessions = best(sessionEntries());
    const recent = words.trim() === '' ? sessions.slice(0, RECENT) : sessions;
    return [...best(actionEntries()), ...recent.slice(0, MOST), ...best(projectEntries())];
  });
}
