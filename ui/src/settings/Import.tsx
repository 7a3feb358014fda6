/** Imports sessions of other programs and reports what could not be read. Their data is not changed. */
import { createResource, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Banner } from '../kit/Banner';
import { Button } from '../kit/Button';
import { visible, visibleLine } from '../text/visible';
import type { ImportProgress, ImportReport } from '../protocol';
import { useApp } from '../store/context';

export function Import(props: { onDone: () => void }) {
  const app = useApp();
  const [sources] = createResource(() => app.attempt(() => app.host.findImports()));
  const [busy, setBusy] = createSignal<string | undefined>();
  const [report, setReport] = createSignal<ImportReport | undefined>();
  const [progress, setProgress] = createSignal<ImportProgress | undefined>();
  const bring = async (path: string) => {
    setBusy(path);
    setReport(undefined);
    setReport(await app.attempt(() => app.host.importFrom(path, setProgress)));
    setBusy(undefined);
    setProgress(undefined);
    app.save({ importOffered: true });
    props.onDone();
    // The sidebar must list the new projects and sessions.
    await app.refresh();
  };
  return (
    <>
      <h3 class="settings-heading settings-later">{en.imports.title}</h3>
      <p class="settings-note">{en.imports.note}</p>
      <Show when={(sources()?.length ?? 0) > 0} fallback={<p class="settings-note">{en.imports.none}</p>}>
        <ul class="settings-list">
          <For each={sources()}>
            {(source) => (
              <li>
                <span class="data-name settings-path">{visibleLine(source.path)}</span>
                <span class="data-size">
                  {en.imports.programs[source.kind]}, {en.imports.sessions(source.sessions)}
                </span>
                <Button
                  disabled={busy() !== undefined}
                  aria-label={en.imports.bringFrom(visibleLine(source.path))}
                  onClick={() => void bring(source.path)}
                >
                  {busy() === source.path ? en.settings.working : en.imports.bring}
                </Button>
                <Show when={busy() === source.path}>
                  <Button data-testid="import-stop" onClick={() => void app.attempt(() => app.host.stopImport())}>
                    {en.imports.stop}
                  </Button>
                </Show>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <p role="status" class="settings-said" data-testid="import-said">
        {said(report(), progress())}
      </p>
      <Show when={(report()?.left_out.length ?? 0) > 0}>
        <details class="settings-note">
          <summary>{en.imports.leftOut}</summary>
          <ul class="settings-problems">
            <For each={report()?.left_out}>
              {(one) => (
                <li>
                  {one.count} × <code>{visibleLine(one.what)}</code>: {visible(one.why)}
                </li>
              )}
            </For>
          </ul>
        </details>
      </Show>
      <Show when={(report()?.unreadable.length ?? 0) > 0}>
        <Banner tone="warn">
          {en.imports.unreadable}
          <ul class="settings-problems">
            <For each={report()?.unreadable}>
              {(one) => (
                <li>
                  <code>{visibleLine(one.what)}</code>: {visible(one.why)}
                </li>
              )}
            </For>
          </ul>
        </Banner>
      </Show>
    </>
  );
}

function said(report: ImportReport | undefined, progress: ImportProgress | undefined): string {
  if (report) {
    const done = en.imports.done(report.added, report.already) + en.imports.grown(report.grown);
    return report.stopped ? `${done} ${en.imports.stopped}` : done;
  }
  return progress ? en.imports.progress(progress.done, progress.files, progress.messages) : '';
}

/** Offered once, on a first start that finds something. */
export function ImportOffer() {
  const app = useApp();
  const wanted = () => app.phase().name === 'ready' && app.settings.welcomed && !app.settings.importOffered;
  const [sources] = createResource(wanted, (ask) => (ask ? app.attempt(() => app.host.findImports()) : undefined));
  const count = () => sources()?.reduce((sum, source) => sum + source.sessions, 0) ?? 0;
  const decide = () => app.save({ importOffered: true });
  return (
    <Show when={wanted() && count() > 0}>
      <section class="trust trust-short" data-testid="import-offer" aria-label={en.imports.title}>
        <div class="trust-body">
          <p>{en.imports.offer(count())}</p>
        </div>
        <div class="trust-actions">
          <Button onClick={decide}>{en.trust.later}</Button>
          <Button
            tone="primary"
            onClick={() => {
              decide();
              app.show({ name: 'settings', section: 'data' });
            }}
          >
            {en.imports.look}
          </Button>
        </div>
      </section>
    </Show>
  );
}
