/** The data folder: its size, cleaning up, and checking for damage. */
import FolderOpen from 'lucide-solid/icons/folder-open';
import { createResource, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { bytes } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import type { DataKind, DataReport } from '../protocol';
import { useApp } from '../store/context';
import { Confirm } from './Confirm';
import { Import } from './Import';
import { Trash } from './Trash';

export function Data() {
  const app = useApp();
  const [data, { mutate, refetch }] = createResource(() => app.attempt(() => app.host.dataUse()));
  const [busy, setBusy] = createSignal<DataKind | undefined>();
  const [trash, { refetch: lookIntoTrash }] = createResource(() => app.attempt(() => app.host.listTrash()));
  const [asking, setAsking] = createSignal(false);
  const clean = async (kind: DataKind) => {
    setAsking(false);
    setBusy(kind);
    const now = await app.attempt(() => app.host.cleanData(kind));
    setBusy(undefined);
    if (now) mutate(now);
    if (kind === 'trash') await lookIntoTrash();
  };
  /** Emptying the trash cannot be undone. */
  const begin = (kind: DataKind) => (kind === 'trash' ? setAsking(true) : void clean(kind));
  const cleaning = (kind: DataKind) => (en.data.clean as Partial<Record<DataKind, string>>)[kind];

  return (
    <>
      <div class="settings-heading-row settings-first">
        <h3 class="settings-heading">{en.data.place}</h3>
        <Button icon={FolderOpen} onClick={() => void app.attempt(() => app.host.showData())}>
          {en.data.show}
        </Button>
      </div>
      <p class="settings-path">{visibleLine(data()?.path ?? '')}</p>
      <h3 class="settings-heading settings-later">{en.data.size}</h3>
      <ul class="settings-list" data-testid="data-use">
        <For each={data()?.uses}>
          {(use) => (
            <li data-kind={use.kind}>
              <span class="data-name">{en.data.kinds[use.kind]}</span>
              <span class="data-size" title={en.data.files(use.files)}>
                {bytes(use.bytes)}
              </span>
              <span class="data-action">
                <Show when={cleaning(use.kind)}>
                  {(label) => (
                    <Button
                      disabled={busy() !== undefined || use.bytes === 0}
                      aria-label={`${label()}: ${en.data.kinds[use.kind]}`}
                      onClick={() => begin(use.kind)}
                    >
                      {busy() === use.kind ? en.settings.working : label()}
                    </Button>
                  )}
                </Show>
              </span>
            </li>
          )}
        </For>
      </ul>
      <Show when={asking()}>
        <Confirm
          question={en.data.confirmTrash(trash()?.length ?? 0)}
          yes={en.data.clean.trash}
          onYes={() => void clean('trash')}
          onNo={() => setAsking(false)}
        />
      </Show>
      <Trash
        sessions={trash() ?? []}
        onDone={() => {
          void lookIntoTrash();
          void refetch();
        }}
      />
      <Import onDone={refetch} />
      <Check onRepaired={refetch} />
    </>
  );
}

function Check(props: { onRepaired: () => void }) {
  const app = useApp();
  const [report, setReport] = createSignal<DataReport | undefined>();
  const [said, setSaid] = createSignal('');
  const [busy, setBusy] = createSignal(false);
  const look = async (repair: boolean) => {
    setBusy(true);
    setSaid(en.data.checking);
    const found = await app.attempt(() => app.host.checkData(repair));
    setBusy(false);
    setReport(repair ? undefined : found);
    if (!found) setSaid('');
    else if (repair) {
      setSaid(en.data.repaired);
      props.onRepaired();
    } else setSaid(isGood(found) ? en.data.good(found.records) : en.data.bad(found.damaged.length, found.strays.length));
  };
  const broken = () => {
    const found = report();
    return found !== undefined && !isGood(found) ? found : undefined;
  };
  return (
    <>
      <h3 class="settings-heading settings-later">{en.data.check}</h3>
      <p class="settings-note">{en.data.checkNote}</p>
      <div class="settings-actions">
        <Button disabled={busy()} data-testid="check-data" onClick={() => void look(false)}>
          {en.data.checkNow}
        </Button>
        <Show when={broken()}>
          <Button disabled={busy()} data-testid="repair-data" onClick={() => void look(true)}>
            {en.data.repair}
          </Button>
        </Show>
        <span role="status" class="settings-said" data-testid="check-said">
          {said()}
        </span>
      </div>
      <Show when={broken()}>
        {(found) => (
          <ul class="settings-problems">
            <For each={found().damaged}>
              {(one) => (
                <li>
                  <code>{visibleLine(one.key)}</code>: {visible(one.reason)}
                </li>
              )}
            </For>
            <For each={found().strays}>
              {(one) => (
                <li>
                  <code>{visibleLine(one)}</code>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
    </>
  );
}

function isGood(report: DataReport): boolean {
  return report.damaged.length === 0 && report.strays.length === 0;
}
