/**
 * The first start: a model, the sessions of other agents, a project. Each step can be skipped, and the
 * prompt below works meanwhile; who sends it is welcomed.
 */
import FolderOpen from 'lucide-solid/icons/folder-open';
import { createSignal, For, Match, Show, Switch } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { Import } from '../settings/Import';
import { ProviderRow, statusOf } from '../settings/ProviderRow';
import { useApp } from '../store/context';
import { DEMO } from '../store/models';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';
import './welcome.css';

const STEPS = ['model', 'sessions', 'project'] as const;

export function Welcome() {
  const app = useApp();
  const [at, setAt] = createSignal(0);
  const step = () => STEPS[at()] ?? 'model';
  let title!: HTMLHeadingElement;
  const done = () => app.save({ welcomed: true, importOffered: true });
  const go = (to: number) => {
    setAt(to);
    // The button that was pressed may be gone.
    title.focus();
  };
  const openFolder = async () => {
    const before = app.project()?.id;
    await app.pickProject();
    if (app.project() !== undefined && app.project()?.id !== before) done();
  };

  return (
    <section class="empty welcome" data-state="welcome" data-step={step()} aria-labelledby="welcome-title">
      <p class="empty-note">{en.welcome.step(at() + 1, STEPS.length)}</p>
      <h2 id="welcome-title" ref={title} tabindex="-1">
        {en.welcome[step()].title}
      </h2>
      <Switch>
        <Match when={step() === 'model'}>
          <ModelStep />
        </Match>
        <Match when={step() === 'sessions'}>
          <div class="welcome-body">
            <Import onDone={() => {}} />
          </div>
        </Match>
        <Match when={step() === 'project'}>
          <p>{en.welcome.project.body}</p>
        </Match>
      </Switch>
      <div class="empty-actions">
        <Show when={at() > 0}>
          <Button data-testid="welcome-back" onClick={() => go(at() - 1)}>
            {en.welcome.back}
          </Button>
        </Show>
        <Show
          when={step() === 'project'}
          fallback={
            <Button
              data-testid="welcome-next"
              tone={step() === 'model' && app.models.connected() ? 'primary' : 'plain'}
              onClick={() => go(at() + 1)}
            >
              {step() === 'model' && app.models.connected() ? en.welcome.next : en.welcome.skip}
            </Button>
          }
        >
          <Button data-testid="welcome-done" onClick={done}>
            <Show when={app.project()} fallback={en.welcome.skip}>
              {(project) => en.welcome.project.sample(visibleLine(project().name ?? baseName(project().worktree)))}
            </Show>
          </Button>
          <Button tone="primary" icon={FolderOpen} data-testid="welcome-open" onClick={() => void openFolder()}>
            {en.sidebar.openFolder}
          </Button>
        </Show>
      </div>
    </section>
  );
}

/** What is ready to use, or a field for a key. */
function ModelStep() {
  const app = useApp();
  const all = () => app.models.list()?.providers.filter(({ id }) => id !== DEMO) ?? [];
  const ready = () => all().filter((provider) => provider.ready);
  const [chosen, setChosen] = createSignal<string | undefined>();
  const keyed = () => all().filter((provider) => provider.needsKey);
  const shown = () => keyed().find(({ id }) => id === chosen()) ?? keyed()[0];
  return (
    <div class="welcome-body">
      <p class="empty-lead">{en.welcome.model.lead}</p>
      <Show when={ready().length > 0} fallback={<p>{en.welcome.model.none}</p>}>
        <p>{en.welcome.model.found}</p>
        <ul class="welcome-found" data-testid="welcome-found">
          <For each={ready()}>
            {(provider) => (
              <li>
                <strong>{visibleLine(provider.name)}</strong> · {visibleLine(statusOf(provider))}
              </li>
            )}
          </For>
        </ul>
      </Show>
      <div class="welcome-key">
        <label>
          {en.welcome.model.provider}{' '}
          <select
            class="field"
            data-testid="welcome-provider"
            value={shown()?.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            <For each={keyed()}>{({ id, name }) => <option value={id}>{visibleLine(name)}</option>}</For>
          </select>
        </label>
        <Show when={shown()?.id} keyed>
          {(_id) => <Show when={shown()}>{(provider) => <ProviderRow provider={provider()} wanted={false} />}</Show>}
        </Show>
        <Button onClick={() => app.show({ name: 'settings', section: 'providers' })}>{en.welcome.model.more}</Button>
      </div>
    </div>
  );
}
