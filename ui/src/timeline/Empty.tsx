/** What the centre shows instead of a timeline. */
import FolderOpen from 'lucide-solid/icons/folder-open';
import { For, Show, type JSX } from 'solid-js';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { baseName } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import type { UiError } from '../protocol';
import { useApp } from '../store/context';
import { DEMO } from '../store/models';
import './empty.css';

function Page(props: { title: string; state: string; children?: JSX.Element }) {
  return (
    <section class="empty" data-state={props.state}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

export function NoProject() {
  const app = useApp();
  const actions = useActions();
  return (
    <Page title={en.empty.welcome} state="no-project">
      <p class="empty-lead">{en.tagline}</p>
      <p>{en.empty.welcomeBody}</p>
      <div class="empty-actions">
        <Button
          tone="primary"
          icon={FolderOpen}
          data-testid="welcome-open-folder"
          onClick={() => void app.pickProject()}
        >
          {en.sidebar.openFolder}
        </Button>
        <Show when={actions.nameOf('openFolder')}>{(keys) => <kbd>{keys()}</kbd>}</Show>
      </div>
    </Page>
  );
}

export function EmptySession() {
  const app = useApp();
  const name = () => {
    const project = app.project();
    return project ? visibleLine(project.name ?? baseName(project.worktree)) : '';
  };
  /** Only the demo model can give the tour. */
  const suggestions = () =>
    app.models.current()?.model.providerID === DEMO ? [en.empty.tour, ...en.empty.suggestions] : en.empty.suggestions;
  return (
    <Page title={en.empty.session} state="empty-session">
      <p title={visibleLine(app.project()?.worktree ?? '')}>{en.empty.sessionIn(name())}</p>
      <ul class="suggestions">
        <For each={suggestions()}>
          {(suggestion) => (
            <li>
              <button type="button" class="suggestion" onClick={() => void app.send(suggestion.prompt)}>
                <span class="suggestion-title">{suggestion.title}</span>
                <span class="suggestion-prompt">{suggestion.prompt}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
      <Show when={app.models.list() && !app.models.connected()}>
        <p class="empty-note">{en.empty.demo}</p>
        <Button data-testid="connect-model" onClick={() => app.show({ name: 'settings', section: 'providers' })}>
          {en.empty.connect}
        </Button>
      </Show>
    </Page>
  );
}

export function OpenFailed(props: { error: UiError }) {
  const app = useApp();
  const again = () => {
    const id = app.selected();
    if (id !== undefined) void app.select(id);
  };
  return (
    <Page title={en.timeline.openFailed} state="open-failed">
      <p role="alert">{visible(props.error.message)}</p>
      <div class="empty-actions">
        <Button onClick={again}>{en.timeline.tryAgain}</Button>
      </div>
    </Page>
  );
}

export function StartFailed(props: { error: UiError }) {
  const app = useApp();
  return (
    <Page title={en.empty.offline} state="start-failed">
      <p role="alert">{visible(props.error.message)}</p>
      <p>{en.empty.offlineBody}</p>
      <div class="empty-actions">
        <Button onClick={() => void app.start()}>{en.timeline.tryAgain}</Button>
      </div>
    </Page>
  );
}

/** Not animated, because a session opens quickly. */
export function SessionSkeleton() {
  return (
    <div class="skeleton" role="status" aria-label={en.timeline.loading}>
      <div class="skeleton-prompt" />
      <div class="skeleton-line" />
      <div class="skeleton-line" />
      <div class="skeleton-line skeleton-short" />
    </div>
  );
}
