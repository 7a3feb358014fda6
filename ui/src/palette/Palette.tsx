/** The command palette: actions with their shortcuts, sessions, projects. */
import { Dialog } from '@kobalte/core/dialog';
import ChevronRight from 'lucide-solid/icons/chevron-right';
import Folder from 'lucide-solid/icons/folder';
import MessageSquare from 'lucide-solid/icons/message-square';
import { createEffect, createMemo, createSignal, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { DialogFrame, focusLater, focusReturn } from '../kit/DialogFrame';
import { FilterList, type FilterRow } from '../kit/FilterList';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { titleOf, writtenTitle } from '../store/titles';
import { projectOf } from '../store/projects';
import { ranked } from '../text/match';
import { placeOfLink, type LinkedPlace } from '../text/place-link';
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
  const open = () => (app.overlay()?.name === 'palette' ? true : undefined);
  return (
    <DialogFrame at={open()} scrim="palette-scrim" onClose={() => app.dismiss('palette')}>
      {() => <Window />}
    </DialogFrame>
  );
}

function Window() {
  const app = useApp();
  const giveBack = focusReturn();
  const [typed, setTyped] = createSignal('');
  let field!: HTMLInputElement;

  const entries = useEntries(typed);
  const sections = createMemo(() => {
    const names = [...new Set(entries().map((entry) => entry.section))];
    return names.map((name) => ({
      title: en.palette.sections[name],
      entries: entries().filter((entry) => entry.section === name),
    }));
  });
  const run = (entry: Entry) => {
    app.dismiss('palette');
    // After the focus has returned, so that the action can move it.
    setTimeout(() => entry.run());
  };

  return (
    <Dialog.Content
      class="panel filter-panel palette"
      data-testid="palette"
      onOpenAutoFocus={focusLater(() => field.focus())}
      onCloseAutoFocus={giveBack}
    >
      <Dialog.Title class="visually-hidden">{en.palette.title}</Dialog.Title>
      <FilterList
        label={en.palette.title}
        placeholder={en.palette.placeholder}
        testID="palette-field"
        query={typed()}
        sections={sections()}
        none={en.palette.none(typed().trim())}
        foot={en.palette.keys}
        ref={(made) => (field = made)}
        onQuery={setTyped}
        onChoose={run}
      >
        {(entry, row) => <PaletteRow entry={entry} row={row} />}
      </FilterList>
    </Dialog.Content>
  );
}

function PaletteRow(props: { entry: Entry; row: FilterRow }) {
  return (
    <div
      id={props.row.id}
      role="option"
      class="filter-row palette-row"
      data-entry={props.entry.key}
      data-active={props.row.active() ? '' : undefined}
      aria-selected={props.row.active()}
      onPointerMove={() => props.row.mark()}
      onClick={() => props.row.choose()}
    >
      <Dynamic component={ICONS[props.entry.section]} size={14} aria-hidden="true" />
      <span class="palette-label">{visibleLine(props.entry.label)}</span>
      <Show when={props.entry.detail}>
        {(detail) => <span class="palette-detail">{visibleLine(detail())}</span>}
      </Show>
      <Show when={props.entry.keys}>
        <kbd>{props.entry.keys}</kbd>
      </Show>
    </div>
  );
}

function useEntries(typed: () => string) {
  const app = useApp();
  const actions = useActions();
  // Only listed sessions can be found.
  createEffect(() => {
    if (typed().trim() !== '') for (const project of app.sessions.projects()) void app.listProject(project.id);
  });
  const actionEntries = createMemo((): Entry[] =>
    actions.list
      .filter((action) => action.id !== 'palette' && action.inMenuOnly !== true && action.enabled?.() !== false)
      .map((action) => ({
        key: `action-${action.id}`,
        section: 'actions',
        label: en.actions.names[action.id],
        keys: actions.nameOf(action.id) || undefined,
        run: () => void actions.run(action.id),
      })),
  );
  const sessionEntries = createMemo((): Entry[] =>
    app.sessions.all()
      .filter((session) => session.parentID === undefined && session.id !== app.selected())
      .sort((a, b) => b.time.updated - a.time.updated)
      .map((session) => {
        const project = projectOf(app.sessions.projects(), session);
        return {
          key: `session-${session.id}`,
          section: 'sessions',
          label: writtenTitle(session),
          detail: project ? (project.name ?? baseName(project.worktree)) : undefined,
          run: () => void app.select(session.id),
        };
      }),
  );
  const linkEntry = ({ sessionID, ...place }: LinkedPlace): Entry => ({
    key: 'link',
    section: 'sessions',
    label: en.work.link.go(titleOf(app.sessions.get(sessionID))),
    run: () => void app.select(sessionID, place),
  });
  const projectEntries = createMemo((): Entry[] =>
    app.sessions.projects().map((project) => ({
      key: `project-${project.id}`,
      section: 'projects',
      label: en.sidebar.newSessionIn(project.name ?? baseName(project.worktree)),
      detail: project.worktree,
      run: () => void app.create(project.id),
    })),
  );
  return createMemo(() => {
    const words = typed();
    const place = placeOfLink(words);
    if (place) return [linkEntry(place)];
    const best = (entries: Entry[]) => ranked(entries, (entry) => entry.label, words);
    const sessions = best(sessionEntries());
    const recent = words.trim() === '' ? sessions.slice(0, RECENT) : sessions;
    return [...best(actionEntries()), ...recent.slice(0, MOST), ...best(projectEntries())];
  });
}
