/** The frame: sidebar, centre, and room for the review at the right. */
import FileDiff from 'lucide-solid/icons/file-diff';
import PanelLeft from 'lucide-solid/icons/panel-left';
import { createEffect, createMemo, createSignal, Match, onCleanup, onMount, Show, Switch } from 'solid-js';
import { Composer } from './composer/Composer';
import { DropOverlay } from './composer/DropOverlay';
import { en } from './i18n/en';
import { Banner } from './kit/Banner';
import { IconButton } from './kit/Button';
import { baseName } from './kit/format';
import { keyName, modelKey, useShortcuts } from './kit/keys';
import { followLinks, followLinksByKey, type Ways } from './kit/links';
import { Toasts } from './kit/Toasts';
import { createNarrow } from './kit/narrow';
import { Lightbox } from './media/Lightbox';
import { ReviewPlace } from './review/ReviewPlace';
import { SettingsDialog } from './settings/SettingsDialog';
import { Sidebar } from './sidebar/Sidebar';
import { useApp } from './store/context';
import { EmptySession, NoProject, OpenFailed, SessionSkeleton, StartFailed } from './timeline/Empty';
import { TaskBar } from './timeline/TaskBar';
import { Timeline } from './timeline/Timeline';
import { TodoPanel } from './todos/TodoPanel';
import './frame.css';

export function App() {
  const app = useApp();
  const narrow = createNarrow();
  // In a narrow window the sidebar is a visit, not a setting.
  const [visiting, setVisiting] = createSignal(false);
  const sidebarOpen = () => (narrow() ? visiting() : app.settings().sidebarOpen);
  const setSidebarOpen = (open: boolean) => (narrow() ? setVisiting(open) : app.setSidebar({ sidebarOpen: open }));
  const covered = () => narrow() && visiting();

  /** Nothing happens behind the settings or a picture. */
  const inFront = (run: () => void) => () => {
    const overlay = app.overlay()?.name;
    if (overlay !== 'settings' && overlay !== 'lightbox') run();
  };
  useShortcuts({
    command: {
      b: inFront(() => setSidebarOpen(!sidebarOpen())),
      [modelKey]: inFront(() => {
        setVisiting(false);
        if (app.project()) app.show({ name: 'models' });
      }),
      n: inFront(() => void app.create()),
      o: inFront(() => void app.pickProject()),
      ',': () => app.phase().name === 'ready' && app.show({ name: 'settings', section: 'providers' }),
    },
    escape: () => {
      if (covered()) setVisiting(false);
      else void app.stop();
    },
  });

  createEffect(() => {
    const { theme } = app.settings();
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  });
  createEffect(() => {
    const title = app.session()?.title;
    document.title = title ? `${title} – ${en.app}` : en.app;
  });
  const ways: Ways = {
    open: (url) => void app.attempt(() => app.host.openExternal(url)),
    edit: (path, line) => app.openFile(path, line),
  };
  const onClick = (event: MouseEvent) => followLinks(event, ways);
  const onKeyDown = (event: KeyboardEvent) => followLinksByKey(event, ways);
  onMount(() => {
    document.addEventListener('click', onClick);
    document.addEventListener('keydown', onKeyDown);
  });
  onCleanup(() => {
    document.removeEventListener('click', onClick);
    document.removeEventListener('keydown', onKeyDown);
  });
  onMount(() => void app.start());

  return (
    <div class="frame" data-narrow={narrow() ? '' : undefined} data-phase={app.phase().name}>
      <Show when={app.phase().name === 'ready' && sidebarOpen()}>
        <div
          class="frame-side"
          ref={(side) => createEffect(() => (side.style.width = `${app.settings().sidebarWidth}px`))}
        >
          <Sidebar onHide={() => setSidebarOpen(false)} onNavigate={() => setVisiting(false)} />
        </div>
        <Show when={covered()}>
          <div class="frame-scrim" onClick={() => setVisiting(false)} />
        </Show>
      </Show>
      <main class="frame-main" inert={covered()}>
        <TitleBar sidebarOpen={sidebarOpen()} onShowSidebar={() => setSidebarOpen(true)} />
        <Show when={app.state().storeProblem}>
          {(problem) => (
            <Banner tone="danger">
              <strong>{en.error.store}.</strong> {problem()}
            </Banner>
          )}
        </Show>
        <Centre />
      </main>
      <ReviewPlace />
      <SettingsDialog />
      <Lightbox />
      <DropOverlay />
      <Toasts toasts={app.toasts} />
    </div>
  );
}

function TitleBar(props: { sidebarOpen: boolean; onShowSidebar: () => void }) {
  const app = useApp();
  const place = () => {
    const project = app.project();
    return project ? (project.name ?? baseName(project.worktree)) : '';
  };
  return (
    <header class="title-bar">
      <Show when={app.phase().name === 'ready' && !props.sidebarOpen}>
        <IconButton
          icon={PanelLeft}
          label={en.sidebar.show}
          keys={keyName('B')}
          data-testid="show-sidebar"
          aria-expanded="false"
          onClick={props.onShowSidebar}
        />
      </Show>
      <h1 class="title-bar-title">{app.session()?.title ?? en.app}</h1>
      <span class="title-bar-place" title={app.project()?.worktree}>
        {place()}
      </span>
      <Show when={app.selected() !== undefined}>
        <IconButton
          icon={FileDiff}
          label={app.review.shown() ? en.review.hide : en.review.show}
          keys={keyName('D')}
          data-testid="toggle-review"
          aria-pressed={app.review.shown()}
          onClick={() => (app.review.shown() ? app.review.close() : app.review.open())}
        />
      </Show>
    </header>
  );
}

function Centre() {
  const app = useApp();
  const failure = createMemo(() => {
    const phase = app.phase();
    return phase.name === 'failed' ? phase.error : undefined;
  });
  const open = createMemo(() => {
    const shown = app.state().open;
    return shown && shown.sessionID === app.selected() ? shown : undefined;
  });
  const empty = () => app.selected() === undefined || (open()?.messages.length === 0 && !app.busy());

  return (
    <Switch>
      <Match when={failure()}>{(error) => <StartFailed error={error()} />}</Match>
      <Match when={app.phase().name === 'starting'}>
        <SessionSkeleton />
      </Match>
      <Match when={!app.project()}>
        <NoProject />
      </Match>
      <Match when={true}>
        <Show when={(open()?.damaged.length ?? 0) > 0}>
          <Banner tone="warn">{en.timeline.damaged(open()?.damaged.length ?? 0)}</Banner>
        </Show>
        <TaskBar />
        <div class="centre-row">
          <div class="centre-split">
            <div class="centre-column">
              <div class="centre">
                <Switch fallback={<SessionSkeleton />}>
                  <Match when={app.openError()}>{(error) => <OpenFailed error={error()} />}</Match>
                  <Match when={empty()}>
                    <EmptySession />
                  </Match>
                  <Match when={open()?.sessionID} keyed>
                    {(_sessionID) => <Show when={open()}>{(shown) => <Timeline open={shown()} />}</Show>}
                  </Match>
                </Switch>
              </div>
              <Composer />
            </div>
            <TodoPanel />
          </div>
        </div>
      </Match>
    </Switch>
  );
}
