/** The frame: sidebar, centre, and room for the review at the right. */
import FileDiff from 'lucide-solid/icons/file-diff';
import GitBranch from 'lucide-solid/icons/git-branch';
import PanelLeft from 'lucide-solid/icons/panel-left';
import Share2 from 'lucide-solid/icons/share-2';
import { createEffect, createMemo, createSignal, Match, onCleanup, onMount, Show, Switch } from 'solid-js';
import { createActions, type Actions } from './actions/actions';
import { ActionsProvider, useActionKeys, useActions } from './actions/context';
import { watchFaults } from './actions/diagnostics';
import { actionList } from './actions/list';
import { stepPane } from './actions/panes';
import { Composer } from './composer/Composer';
import { DropOverlay } from './composer/DropOverlay';
import { FullAccessDialog } from './dialogs/FullAccessDialog';
import { MakeFinalDialog } from './dialogs/MakeFinalDialog';
import { ShareDialog } from './dialogs/ShareDialog';
import { SnapshotDialog } from './dialogs/SnapshotDialog';
import { en } from './i18n/en';
import { choose } from './i18n/languages';
import { Banner } from './kit/Banner';
import { IconButton } from './kit/Button';
import { firstButton, focusHandle, moveFocus, registerFocus } from './kit/focus';
import { baseName } from './text/format';
import { useShortcuts } from './kit/keys';
import { followLinks, followLinksByKey, type Ways } from './kit/links';
import { Toasts } from './kit/Toasts';
import { createNarrow } from './kit/narrow';
import { offer } from './kit/offers';
import { visible, visibleLine } from './text/visible';
import { Lightbox } from './media/Lightbox';
import { ContextMenu } from './menus/ContextMenu';
import { Palette } from './palette/Palette';
import { RevertedDialog } from './review/RevertedDialog';
import { ReviewDock } from './review/ReviewDock';
import { createTight } from './review/room';
import { FindBar } from './find/FindBar';
import { ImportOffer } from './settings/Import';
import { SettingsDialog } from './settings/SettingsDialog';
import { Sidebar } from './sidebar/Sidebar';
import type { App as Store } from './store/app';
import { useApp } from './store/context';
import { rootOf } from './store/projects';
import { titleOf } from './store/titles';
import { EmptySession, NoProject, OpenFailed, SessionSkeleton, StartFailed } from './timeline/Empty';
import { Outline } from './timeline/Outline';
import { TaskBar } from './timeline/TaskBar';
import { Timeline } from './timeline/Timeline';
import { TodoPanel } from './todos/TodoPanel';
import { ConfigProblems } from './trust/ConfigProblems';
import { TrustBanner } from './trust/TrustBanner';
import { Welcome } from './welcome/Welcome';
import './frame.css';

export function App() {
  const app = useApp();
  const narrow = createNarrow();
  // In a narrow window the sidebar covers the timeline for a moment; the setting is not changed.
  const [visiting, setVisiting] = createSignal(false);
  const sidebarOpen = () => (narrow() ? visiting() : app.settings.sidebarOpen);
  const setSidebarOpen = (open: boolean) => (narrow() ? setVisiting(open) : app.setSidebar({ sidebarOpen: open }));
  const behindSidebar = () => narrow() && visiting();
  const tight = createTight(app);
  const behindReview = () => tight() && app.review.shown() && app.selected() !== undefined;

  const list = actionList(app, {
    toggleSidebar: () => setSidebarOpen(!sidebarOpen()),
    showSidebar: () => setSidebarOpen(true),
    // After the elements that the action opened are in the document.
    focus: (name) => setTimeout(() => moveFocus(name)),
    stepPane,
  });
  /** No action runs behind a dialog or a picture; the list of models counts as a menu. */
  const covers = () => (app.overlay()?.name ?? 'models') !== 'models';
  const actions = createActions(list, { settings: app.settings, covered: covers });
  useActionKeys(actions);
  useMenuBar(app, actions);
  useShortcuts({
    escape: () => {
      // The topmost thing first. A dialog that is not drawn yet has no keys of its own.
      const overlay = app.overlay();
      if (overlay) app.dismiss(overlay.name);
      else if (behindSidebar()) setVisiting(false);
      else if (app.review.pending()) app.review.cancel();
      else if (behindReview()) app.review.close();
      else if (app.finder.shown()) app.finder.close();
      else void app.stop();
    },
  });

  createEffect(() => void choose(app.settings.language));
  createEffect(() => {
    const { theme } = app.settings;
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  });
  createEffect(() => {
    document.documentElement.toggleAttribute('data-reduced-motion', app.settings.reducedMotion);
  });
  createEffect(() => {
    const session = app.session();
    const waiting = app.activity.waiting().length;
    if (waiting > 0) document.title = en.waiting.title(waiting);
    else document.title = session ? `${titleOf(session)} – ${en.app}` : en.app;
  });
  // Its absence is no fault worth a message: most systems show none.
  createEffect(() => void app.host.setBadge(app.activity.waiting().length).catch(() => {}));
  // The model list is in the timeline's column, which the narrow sidebar covers.
  createEffect(() => app.overlay()?.name === 'models' && setVisiting(false));
  createEffect(() => {
    const used = (app.timeline.open()?.messages.length ?? 0) > 0;
    if (used && !app.settings.welcomed) app.save({ welcomed: true });
  });
  const ways: Ways = {
    open: (url) => void app.attempt(() => app.host.openExternal(url)),
    go: ({ sessionID, ...place }) => void app.select(sessionID, place),
    edit: (path, line) => app.openFile(path, line),
  };
  const onClick = (event: MouseEvent) => followLinks(event, ways);
  const onKeyDown = (event: KeyboardEvent) => followLinksByKey(event, ways);
  // Config files may have changed while another window had the focus.
  const onFocus = () => void Promise.all([app.environment.refresh(), app.mode.refresh(), app.lookAround()]);
  onMount(() => {
    window.addEventListener('focus', onFocus);
    document.addEventListener('click', onClick);
    document.addEventListener('keydown', onKeyDown);
  });
  onCleanup(() => {
    window.removeEventListener('focus', onFocus);
    document.removeEventListener('click', onClick);
    document.removeEventListener('keydown', onKeyDown);
  });
  onMount(() => void app.attempt(() => watchFaults(app, () => location.reload())));
  onMount(() => void app.start());

  return (
    <ActionsProvider value={actions}>
      <div class="frame" data-narrow={narrow() ? '' : undefined} data-phase={app.phase().name}>
        <Show when={app.phase().name === 'ready' && sidebarOpen()}>
          <div
            class="frame-side"
            ref={(side) => createEffect(() => (side.style.width = `${app.settings.sidebarWidth}px`))}
          >
            <Sidebar onHide={() => setSidebarOpen(false)} onNavigate={() => setVisiting(false)} />
          </div>
          <Show when={behindSidebar()}>
            <div class="frame-scrim" onClick={() => setVisiting(false)} />
          </Show>
        </Show>
        <main class="frame-main" inert={behindSidebar() || behindReview()}>
          <TitleBar sidebarOpen={sidebarOpen()} onShowSidebar={() => setSidebarOpen(true)} />
          <Show when={app.storeProblem()}>
            {(problem) => (
              <Banner tone="danger">
                <strong>{en.error.store}.</strong> {visible(problem())}
              </Banner>
            )}
          </Show>
          <TrustBanner />
          <ConfigProblems />
          <ImportOffer />
          <Centre />
        </main>
        <Toasts toasts={app.toasts} />
        <ReviewDock />
        <SettingsDialog />
        <Palette />
        <ShareDialog />
        <SnapshotDialog />
        <RevertedDialog />
        <FullAccessDialog />
        <MakeFinalDialog />
        <Lightbox />
        <DropOverlay />
        <ContextMenu />
      </div>
    </ActionsProvider>
  );
}

/** The menu bar shows the current shortcuts and runs the same actions as the palette. */
function useMenuBar(app: Store, actions: Actions): void {
  createEffect(() => {
    const menus = actions.menus();
    if (app.phase().name === 'ready') void app.attempt(() => app.host.setMenu(menus));
  });
  onMount(() => void app.attempt(() => app.host.onMenuChosen((id) => actions.run(id))));
}

function TitleBar(props: { sidebarOpen: boolean; onShowSidebar: () => void }) {
  const app = useApp();
  const actions = useActions();
  /** A fork may have a worktree of its own. */
  const root = () => rootOf(app.project(), app.session());
  const place = () => {
    const project = app.project();
    if (!project) return '';
    return visibleLine(root() === project.worktree ? (project.name ?? baseName(root())) : baseName(root()));
  };
  const uncommitted = () => {
    const status = app.git.status();
    return status ? status.staged + status.unstaged + status.untracked : 0;
  };
  return (
    <header class="title-bar">
      <Show when={app.phase().name === 'ready' && !props.sidebarOpen}>
        <IconButton
          icon={PanelLeft}
          label={en.sidebar.show}
          keys={actions.nameOf('toggleSidebar')}
          data-testid="show-sidebar"
          aria-expanded="false"
          onClick={props.onShowSidebar}
        />
      </Show>
      <h1 class="title-bar-title">{app.session() ? titleOf(app.session()) : en.app}</h1>
      <Show when={!props.sidebarOpen && app.activity.waiting().length > 0}>
        <button type="button" class="waiting-badge" onClick={() => app.goToWaiting()}>
          {en.waiting.badge(app.activity.waiting().length)}
        </button>
      </Show>
      <Show when={app.session()?.share !== undefined}>
        <IconButton
          icon={Share2}
          label={en.share.shared}
          data-testid="shared"
          onClick={() => app.show({ name: 'share', sessionID: app.selected() ?? '' })}
        />
      </Show>
      <span class="title-bar-place" title={visibleLine(root())}>
        {place()}
      </span>
      <Show when={app.git.status()?.branch}>
        {(branch) => (
          <span class="title-bar-branch" data-testid="branch" title={en.git.branch(visibleLine(branch()))}>
            <GitBranch size={12} aria-hidden="true" />
            {visibleLine(branch())}
            <Show when={uncommitted() > 0}>
              <span class="title-bar-dirty" title={en.git.uncommitted(uncommitted())}>
                {uncommitted()}
              </span>
            </Show>
          </span>
        )}
      </Show>
      <Show when={app.selected() !== undefined}>
        <Outline />
        <IconButton
          icon={FileDiff}
          label={app.review.shown() ? en.review.hide : en.review.show}
          keys={actions.nameOf('toggleReview')}
          data-testid="toggle-review"
          aria-pressed={app.review.shown()}
          onClick={() => app.review.toggle()}
        />
      </Show>
    </header>
  );
}

function Centre() {
  const app = useApp();
  const actions = useActions();
  const failure = createMemo(() => {
    const phase = app.phase();
    return phase.name === 'failed' ? phase.error : undefined;
  });
  const open = createMemo(() => {
    const shown = app.timeline.open();
    return shown && shown.sessionID === app.selected() ? shown : undefined;
  });
  const empty = () => app.selected() === undefined || (open()?.messages.length === 0 && !app.busy());
  const registerCentre = (element: HTMLElement) => {
    offer(element, () => actions.items(['find', 'compact', 'fork', 'share', 'exportSession']));
    registerFocus('centre', () => ({
      element,
      target: () => focusHandle('timeline')?.target() ?? firstButton(element),
    }));
  };

  return (
    <Switch>
      <Match when={failure()}>{(error) => <StartFailed error={error()} />}</Match>
      <Match when={app.phase().name === 'starting'}>
        <SessionSkeleton />
      </Match>
      <Match when={!app.project()}>
        <Show when={app.settings.welcomed} fallback={<Welcome />}>
          <NoProject />
        </Show>
      </Match>
      <Match when={true}>
        <Show when={(open()?.damaged.length ?? 0) > 0}>
          <Banner tone="warn">{en.timeline.damaged(open()?.damaged.length ?? 0)}</Banner>
        </Show>
        <TaskBar />
        <div class="centre-column">
          <div class="centre" ref={registerCentre}>
            <FindBar />
            <Switch fallback={<SessionSkeleton />}>
              <Match when={app.openError()}>{(error) => <OpenFailed error={error()} />}</Match>
              <Match when={empty()}>
                <Show when={app.settings.welcomed} fallback={<Welcome />}>
                  <EmptySession />
                </Show>
              </Match>
              <Match when={open()?.sessionID} keyed>
                {(_sessionID) => <Show when={open()}>{(shown) => <Timeline open={shown()} />}</Show>}
              </Match>
            </Switch>
          </div>
          <TodoPanel />
          <Composer />
        </div>
      </Match>
    </Switch>
  );
}
