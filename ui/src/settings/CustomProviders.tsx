/** Providers that the person sets up here: a list, and the form to add or change one. */
import Plus from 'lucide-solid/icons/plus';
import { createResource, createSignal, For, Show } from 'solid-js';
import { uiError, type AddedProvider } from '../host/host';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { ProviderForm } from './ProviderForm';
import './custom-providers.css';

export function CustomProviders() {
  const app = useApp();
  const [added, { refetch }] = createResource(() => app.host.addedProviders());
  /** The one in the form; `null` is a new one. */
  const [edited, setEdited] = createSignal<AddedProvider | null | undefined>();
  const [wrong, setWrong] = createSignal('');
  /** Reading a rejected resource would throw, and take the whole window down. */
  const list = () => (added.error === undefined ? (added.latest ?? []) : []);
  let add: HTMLButtonElement | undefined;

  const leave = () => {
    setEdited(undefined);
    queueMicrotask(() => add?.focus());
  };
  const change = async (work: () => Promise<void>): Promise<string | undefined> => {
    try {
      await work();
      await refetch();
      return undefined;
    } catch (reason) {
      return uiError(reason).message;
    }
  };
  const remove = async (provider: AddedProvider) => setWrong((await change(() => app.models.removeProvider(provider.name))) ?? '');

  return (
    <section aria-label={en.work.provider.title} data-testid="custom-providers">
      <div class="settings-heading-row">
        <h3 class="settings-heading">{en.work.provider.title}</h3>
        <Show when={edited() === undefined}>
          <Button ref={add} icon={Plus} data-testid="add-provider" onClick={() => setEdited(null)}>
            {en.work.provider.add}
          </Button>
        </Show>
      </div>
      <p class="settings-note">{en.work.provider.note}</p>
      <Show when={wrong() !== ''}>
        <p class="settings-wrong" role="alert">{wrong()}</p>
      </Show>
      <Show when={added.error !== undefined}>
        <p class="settings-wrong" role="alert">{uiError(added.error).message}</p>
      </Show>
      <Show when={edited() !== undefined}>
        <ProviderForm
          provider={edited() ?? undefined}
          onCancel={leave}
          onSave={async (provider, key) => {
            const failed = await change(() => app.models.saveProvider(provider, key));
            if (failed === undefined) leave();
            return failed;
          }}
        />
      </Show>
      <ul class="custom-providers">
        <For each={list()}>
          {(provider) => (
            <li class="custom-provider">
              <span class="custom-provider-name">{visibleLine(provider.name)}</span>
              <code class="custom-provider-url">{visibleLine(provider.baseUrl)}</code>
              <Button aria-label={en.work.provider.editOne(visibleLine(provider.name))} onClick={() => setEdited(provider)}>
                {en.work.provider.edit}
              </Button>
              <Button
                tone="danger"
                aria-label={en.work.provider.removeOne(visibleLine(provider.name))}
                onClick={() => void remove(provider)}
              >
                {en.work.provider.remove}
              </Button>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}
