/** What is wrong in the config files: what it is, and the file and line to mend it in. */
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import type { ConfigProblem } from '../protocol';
import { useApp } from '../store/context';
import { visible, visibleLine } from '../text/visible';
import './trust.css';

/** A file with many mistakes must not fill the window. */
const SHOWN = 5;

export function ConfigProblems() {
  const app = useApp();
  // What was hidden in this window. Another problem, or another project, is shown again.
  const [hidden, setHidden] = createSignal<readonly string[]>([]);
  const matter = () => JSON.stringify([app.project()?.id, app.environment.problems()]);
  const problems = createMemo(() => (hidden().includes(matter()) ? [] : app.environment.problems()));
  const open = ({ file, line }: ConfigProblem) => {
    const project = app.project();
    if (project) void app.attempt(() => app.host.openConfigFile(project.id, file, line ?? null));
  };
  return (
    <Show when={problems().length > 0}>
      <section class="trust" data-testid="config-problems" aria-label={en.configProblems.label}>
        <TriangleAlert size={16} aria-hidden="true" />
        <div class="trust-body">
          <p>
            <strong>{en.configProblems.title(problems().length)}</strong>
          </p>
          <ul class="trust-wants">
            <For each={problems().slice(0, SHOWN)}>
              {(problem) => (
                <li>
                  <Show when={problem.key !== ''}>
                    <code>{visibleLine(problem.key)}</code>{' '}
                  </Show>
                  <span>{visible(problem.message)}</span>{' '}
                  <Show when={problem.file !== ''}>
                    <button
                      type="button"
                      class="config-place"
                      aria-label={en.configProblems.open(place(problem))}
                      onClick={() => open(problem)}
                    >
                      {place(problem)}
                    </button>
                  </Show>
                </li>
              )}
            </For>
            <Show when={problems().length > SHOWN}>
              <li>{en.configProblems.more(problems().length - SHOWN)}</li>
            </Show>
          </ul>
        </div>
        <div class="trust-actions">
          <Button data-testid="hide-config-problems" onClick={() => setHidden((all) => [...all, matter()])}>
            {en.configProblems.hide}
          </Button>
        </div>
      </section>
    </Show>
  );
}

function place({ file, line }: ConfigProblem): string {
  return visibleLine(line === undefined ? file : `${file}:${line}`);
}
