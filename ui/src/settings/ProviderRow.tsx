import { createSignal, For, onMount, Show } from 'solid-js';
import { uiError } from '../host/host';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible, visibleLine } from '../text/visible';
import type { ConnectionReport, ProviderView } from '../protocol';
import { useApp } from '../store/context';

/**
 * One provider. A key is read from the field when it is saved, and is stored nowhere else in the window:
 * not in a signal, and not in the page once the core has it.
 */
export function ProviderRow(props: { provider: ProviderView; wanted: boolean }) {
  const app = useApp();
  const [filled, setFilled] = createSignal(false);
  const [busy, setBusy] = createSignal(false);
  const [report, setReport] = createSignal<ConnectionReport | undefined>();
  let field: HTMLInputElement | undefined;
  // From an answer that the provider refused: the key is what is wanted.
  onMount(() => props.wanted && requestAnimationFrame(() => (field?.focus(), field?.scrollIntoView?.({ block: 'center' }))));
  const id = () => props.provider.id;
  const name = () => visibleLine(props.provider.name);

  const run = async (work: () => Promise<ConnectionReport | undefined>) => {
    setBusy(true);
    setReport(undefined);
    try {
      setReport(await work());
    } catch (reason) {
      setReport({ ok: false, message: uiError(reason).message });
    }
    setBusy(false);
  };
  const save = () =>
    run(async () => {
      const key = field?.value.trim() ?? '';
      if (key === '') return undefined;
      await app.models.setKey(id(), key);
      if (field) field.value = '';
      setFilled(false);
      return { ok: true, message: en.settings.saved };
    });
  const remove = () =>
    run(async () => {
      await app.models.removeKey(id());
      return { ok: true, message: en.settings.removed };
    });

  return (
    <section
      class="provider"
      data-testid={`provider-${id()}`}
      data-wanted={props.wanted ? '' : undefined}
      data-ready={props.provider.ready ? '' : undefined}
      aria-label={name()}
    >
      <div class="provider-head">
        <h4 class="provider-name">{name()}</h4>
        <span class="provider-status">{statusOf(props.provider)}</span>
      </div>
      <div class="provider-actions">
        <Show when={props.provider.needsKey}>
          <form
            class="provider-form"
            onSubmit={(event) => {
              event.preventDefault();
              void save();
            }}
          >
            <input
              ref={field}
              type="password"
              class="field"
              data-testid={`key-input-${id()}`}
              aria-label={en.settings.keyFor(name())}
              placeholder={props.provider.key ? en.settings.replaceKey : en.settings.enterKey}
              autocomplete="off"
              spellcheck={false}
              disabled={busy()}
              onInput={(event) => setFilled(event.currentTarget.value.trim() !== '')}
            />
            <Button
              type="submit"
              data-testid={`save-key-${id()}`}
              tone={filled() ? 'primary' : 'plain'}
              disabled={!filled() || busy()}
            >
              {en.settings.save}
            </Button>
          </form>
        </Show>
        <Show when={props.provider.key?.stored}>
          <Button tone="danger" data-testid={`remove-key-${id()}`} disabled={busy()} onClick={() => void remove()}>
            {en.settings.remove}
          </Button>
        </Show>
        <Show when={props.provider.ready}>
          <Button
            data-testid={`test-connection-${id()}`}
            disabled={busy()}
            onClick={() => void run(() => app.host.testConnection(id(), app.project()?.id))}
          >
            {en.settings.test}
          </Button>
        </Show>
      </div>
      <p class="provider-report" role="status" data-ok={report()?.ok ? '' : undefined}>
        {busy() ? en.settings.working : visible(report()?.message ?? '')}
      </p>
      <Show when={props.provider.needsKey}>
        <p class="provider-hint">
          <Show when={props.provider.keyPage}>
            {(page) => (
              <>
                <a href={page()}>{en.settings.getKey}</a>
                {' · '}
              </>
            )}
          </Show>
          <Show when={props.provider.keyEnv.length > 0}>
            {en.settings.orSet}{' '}
            <For each={props.provider.keyEnv}>
              {(variable, at) => (
                <>
                  {at() > 0 ? `${en.settings.or} ` : ''}
                  <code>{visibleLine(variable)}</code>{' '}
                </>
              )}
            </For>
          </Show>
        </p>
      </Show>
    </section>
  );
}

export function statusOf(provider: ProviderView): string {
  const { key, local, ready, needsKey, models } = provider;
  if (local) return ready ? en.settings.running(models.length) : en.settings.notRunning;
  if (key) return en.settings.hasKey(key.hint, en.settings.sources[key.source] ?? key.source);
  return needsKey ? en.settings.noKey : en.settings.needsNone;
}
