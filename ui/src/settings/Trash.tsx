/** Deleted sessions, which can be restored until they are removed for good. */
import { createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { baseName, clock } from '../text/format';
import { visibleLine } from '../text/visible';
import type { TrashedSession } from '../protocol';
import { useApp } from '../store/context';

export function Trash(props: { sessions: readonly TrashedSession[]; onDone: () => void }) {
  const app = useApp();
  const [busy, setBusy] = createSignal<string | undefined>();
  const bringBack = async (id: string) => {
    setBusy(id);
    const done = await app.attempt(() => app.host.restoreSession(id).then(() => true));
    setBusy(undefined);
    props.onDone();
    // The sidebar must list it again.
    if (done) await app.refresh();
  };
  return (
    <>
      <h3 class="settings-heading settings-later">{en.data.trash}</h3>
      <p class="settings-note">{props.sessions.length > 0 ? en.data.trashNote : en.data.trashEmpty}</p>
      <Show when={props.sessions.length > 0}>
        <ul class="settings-list" data-testid="trash">
          <For each={props.sessions}>
            {(session) => (
              <li>
                <span class="data-name trash-title">{visibleLine(session.title)}</span>
                <span class="data-size" title={visibleLine(session.directory)}>
                  {visibleLine(baseName(session.directory))}
                </span>
                <time class="data-size" datetime={new Date(session.removed).toISOString()}>
                  {clock(session.removed)}
                </time>
                <Button
                  disabled={busy() !== undefined}
                  aria-label={en.data.bringBackOne(visibleLine(session.title))}
                  onClick={() => void bringBack(session.id)}
                >
                  {busy() === session.id ? en.settings.working : en.data.bringBack}
                </Button>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </>
  );
}
