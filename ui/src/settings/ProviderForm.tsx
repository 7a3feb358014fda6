/**
 * The form of a provider: name, base URL, API, key, and the models to offer.
 *
 * The key is read from its field when it is used, and is stored nowhere else in the window.
 */
import { createSignal, createUniqueId, For, onMount, Show } from 'solid-js';
import { uiError, type AddedProvider, type ProviderApi } from '../host/host';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible, visibleLine } from '../text/visible';
import { useApp } from '../store/context';

interface ProviderFormProps {
  /** Undefined for a new one. */
  readonly provider: AddedProvider | undefined;
  readonly onCancel: () => void;
  /** Returns why it could not be saved. */
  readonly onSave: (provider: AddedProvider, key: string) => Promise<string | undefined>;
}

const APIS: readonly ProviderApi[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'];

export function ProviderForm(props: ProviderFormProps) {
  const app = useApp();
  const id = createUniqueId();
  const [busy, setBusy] = createSignal(false);
  const [report, setReport] = createSignal<{ readonly ok: boolean; readonly text: string } | undefined>();
  const [listed, setListed] = createSignal<readonly string[]>(props.provider?.models ?? []);
  const [chosen, setChosen] = createSignal<ReadonlySet<string>>(new Set(props.provider?.models));
  let name!: HTMLInputElement;
  let url!: HTMLInputElement;
  let api!: HTMLSelectElement;
  let key!: HTMLInputElement;
  let own!: HTMLInputElement;
  onMount(() => (props.provider ? url : name).focus());

  const input = (): AddedProvider => ({
    name: name.value.trim(),
    baseUrl: url.value.trim().replace(/\/+$/, ''),
    api: APIS.find((one) => one === api.value) ?? 'openai-chat',
    models: listed().filter((model) => chosen().has(model)),
  });
  /** What is missing is said at the first field that lacks it. */
  const isComplete = (): boolean => {
    const missing = [name, url].find((field) => field.value.trim() === '');
    missing?.focus();
    if (missing) setReport({ ok: false, text: en.work.provider.missing });
    return missing === undefined;
  };
  const working = async (work: () => Promise<string | undefined>, done: (failed: string | undefined) => void) => {
    if (!isComplete()) return;
    setBusy(true);
    setReport(undefined);
    done(await work().catch((reason: unknown) => uiError(reason).message));
    setBusy(false);
  };
  const connect = (take: boolean) =>
    working(
      async () => {
        const found = await app.host.tryProvider(input(), key.value.trim());
        if (take) {
          const all = [...new Set([...listed(), ...found])];
          setListed(all);
          setChosen(new Set(chosen().size === 0 ? all : chosen()));
        }
        setReport({ ok: true, text: en.work.provider.answers(found.length) });
        return undefined;
      },
      (failed) => failed !== undefined && setReport({ ok: false, text: failed }),
    );
  const save = () =>
    working(
      () => props.onSave(input(), key.value.trim()),
      (failed) => failed !== undefined && setReport({ ok: false, text: failed }),
    );
  const addOwn = () => {
    const model = own.value.trim();
    if (model === '') return;
    setListed((all) => (all.includes(model) ? all : [...all, model]));
    setChosen((all) => new Set(all).add(model));
    own.value = '';
  };
  const toggle = (model: string) =>
    setChosen((all) => {
      const next = new Set(all);
      if (!next.delete(model)) next.add(model);
      return next;
    });

  return (
    <form
      class="provider-setup"
      data-testid="provider-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Closes the form, not the dialog.
        event.stopPropagation();
        props.onCancel();
      }}
    >
      <label for={`${id}-name`}>{en.work.provider.name}</label>
      <input
        id={`${id}-name`}
        ref={name}
        class="field"
        autocomplete="off"
        spellcheck={false}
        value={props.provider?.name ?? ''}
        readOnly={props.provider !== undefined}
        placeholder={en.work.provider.namePlaceholder}
      />
      <label for={`${id}-url`}>{en.work.provider.url}</label>
      <input
        id={`${id}-url`}
        ref={url}
        class="field"
        type="url"
        autocomplete="off"
        spellcheck={false}
        value={props.provider?.baseUrl ?? ''}
        placeholder={en.work.provider.urlPlaceholder}
      />
      <label for={`${id}-api`}>{en.work.provider.api}</label>
      <select id={`${id}-api`} ref={api} class="field" value={props.provider?.api ?? 'openai-chat'}>
        <For each={APIS}>{(one) => <option value={one}>{en.work.provider.apis[one]}</option>}</For>
      </select>
      <label for={`${id}-key`}>{en.work.provider.key}</label>
      <input
        id={`${id}-key`}
        ref={key}
        class="field"
        type="password"
        autocomplete="off"
        placeholder={props.provider ? en.work.provider.sameKey : en.work.provider.noKey}
      />
      <div class="provider-setup-row">
        <Button data-testid="list-models" disabled={busy()} onClick={() => void connect(true)}>
          {en.work.provider.list}
        </Button>
        <Button data-testid="test-provider" disabled={busy()} onClick={() => void connect(false)}>
          {en.work.provider.test}
        </Button>
        <p class="provider-report" role="status" data-ok={report()?.ok ? '' : undefined}>
          {busy() ? en.settings.working : visible(report()?.text ?? '')}
        </p>
      </div>
      <Show when={listed().length > 0}>
        <ul class="provider-models" aria-label={en.work.provider.models} tabindex="0">
          <For each={listed()}>
            {(model) => (
              <li>
                <label>
                  <input type="checkbox" checked={chosen().has(model)} onChange={() => toggle(model)} />
                  {visibleLine(model)}
                </label>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <label for={`${id}-own`}>{en.work.provider.ownModel}</label>
      <div class="provider-setup-row">
        <input
          id={`${id}-own`}
          ref={own}
          class="field"
          autocomplete="off"
          spellcheck={false}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            addOwn();
          }}
        />
        <Button onClick={addOwn}>{en.work.provider.addModel}</Button>
      </div>
      <div class="provider-setup-row provider-setup-end">
        <Button onClick={props.onCancel}>{en.work.provider.cancel}</Button>
        <Button type="submit" tone="primary" data-testid="save-provider" disabled={busy()}>
          {en.work.provider.save}
        </Button>
      </div>
    </form>
  );
}
