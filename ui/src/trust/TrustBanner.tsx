/**
 * Asks whether to trust a project's own config, and shows what it would do.
 *
 * Until then only its restrictions apply. After a change the person is asked again.
 */
import ShieldAlert from 'lucide-solid/icons/shield-alert';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { baseName } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import type { TrustView } from '../protocol';
import { useApp } from '../store/context';
import './trust.css';

export function TrustBanner() {
  const app = useApp();
  // "Not now" answers of this window; the core only stores trust.
  const [later, setLater] = createSignal<readonly string[]>([]);
  const asked = createMemo(() => {
    const view = app.environment.trust();
    const open = view?.state === 'untrusted' || view?.state === 'changed';
    return open && !later().includes(matter(view)) ? view : undefined;
  });
  /** "Not now" applies to the current config only; after a change the person is asked again. */
  const matter = (view: TrustView) => JSON.stringify([app.project()?.id, view]);
  const name = () => {
    const project = app.project();
    return project ? visibleLine(project.name ?? baseName(project.worktree)) : '';
  };
  return (
    <Show when={asked()}>
      {(view) => (
        <section class="trust" data-testid="trust-banner" aria-label={en.trust.label}>
          <ShieldAlert size={16} aria-hidden="true" />
          <div class="trust-body">
            <p>
              <strong>{view().state === 'changed' ? en.trust.changed(name()) : en.trust.untrusted(name())}</strong>{' '}
              {en.trust.note}
            </p>
            <ul class="trust-wants">
              <For each={view().wants}>
                {(want) => (
                  <li>
                    <span>{visible(want.text)}</span> <code>{visibleLine(want.file)}</code>
                  </li>
                )}
              </For>
            </ul>
          </div>
          <div class="trust-actions">
            <Button data-testid="trust-later" onClick={() => setLater((all) => [...all, matter(view())])}>
              {en.trust.later}
            </Button>
            <Button tone="primary" data-testid="trust-yes" onClick={() => void app.environment.allow(view())}>
              {en.trust.yes}
            </Button>
          </div>
        </section>
      )}
    </Show>
  );
}
