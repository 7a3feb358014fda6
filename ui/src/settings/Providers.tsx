import RefreshCw from 'lucide-solid/icons/refresh-cw';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Banner } from '../kit/Banner';
import { Button } from '../kit/Button';
import { visible } from '../text/visible';
import { useApp } from '../store/context';
import { DEMO } from '../store/models';
import { CustomProviders } from './CustomProviders';
import { ProviderRow } from './ProviderRow';

/** Providers and their keys, model servers on this machine, and problems in the config. */
export function Providers(props: { place: { readonly providerID?: string } }) {
  const app = useApp();
  const [looking, setLooking] = createSignal(false);
  // Keyed by id, so that a new list does not replace a row and the text typed in it.
  const ids = createMemo(
    () => {
      const all = app.models.list()?.providers.filter((provider) => provider.id !== DEMO) ?? [];
      return {
        remote: all.filter((provider) => !provider.local).map((provider) => provider.id),
        local: all.filter((provider) => provider.local).map((provider) => provider.id),
      };
    },
    undefined,
    { equals: (a, b) => `${a.remote} ${a.local}` === `${b.remote} ${b.local}` },
  );
  const provider = (id: string) => app.models.list()?.providers.find((one) => one.id === id);
  const look = async () => {
    setLooking(true);
    await app.models.lookForLocal();
    setLooking(false);
  };

  return (
    <>
      <Show when={(app.models.list()?.problems.length ?? 0) > 0}>
        <Banner tone="warn">
          <strong>{en.settings.problems}</strong>
          <ul class="settings-problems">
            <For each={app.models.list()?.problems}>{(problem) => <li>{visible(problem)}</li>}</For>
          </ul>
        </Banner>
      </Show>
      <h3 class="settings-heading">{en.settings.keys}</h3>
      <p class="settings-note">{en.settings.keysNote}</p>
      <For each={ids().remote}>
        {(id) => (
          <Show when={provider(id)}>
            {(shown) => <ProviderRow provider={shown()} wanted={props.place.providerID === id} />}
          </Show>
        )}
      </For>
      <CustomProviders />
      <div class="settings-heading-row">
        <h3 class="settings-heading">{en.settings.local}</h3>
        <Button icon={RefreshCw} data-testid="look-again" disabled={looking()} onClick={() => void look()}>
          {looking() ? en.settings.looking : en.settings.lookAgain}
        </Button>
      </div>
      <p class="settings-note">{en.settings.localNote}</p>
      <For each={ids().local}>
        {(id) => (
          <Show when={provider(id)}>
            {(shown) => <ProviderRow provider={shown()} wanted={props.place.providerID === id} />}
          </Show>
        )}
      </For>
    </>
  );
}
