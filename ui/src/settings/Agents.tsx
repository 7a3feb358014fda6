/** The agents of the project and where they are defined. */
import { createResource, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { baseName } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { useApp } from '../store/context';

export function Agents() {
  const app = useApp();
  const [agents] = createResource(
    () => app.project()?.id,
    (id) => app.attempt(() => app.host.listAgents(id)),
  );
  const place = () => {
    const project = app.project();
    return project ? visibleLine(project.name ?? baseName(project.worktree)) : '';
  };
  return (
    <>
      <h3 class="settings-heading">{en.agentSettings.title(place())}</h3>
      <p class="settings-note">{en.agentSettings.note}</p>
      <ul class="settings-list">
        <For each={agents()}>
          {(agent) => (
            <li data-agent={agent.name}>
              <span class="data-name">
                <strong>{visibleLine(agent.name)}</strong>
                <span class="settings-note">{visible(agent.description)}</span>
              </span>
              <span class="agent-about">
                <span>{en.agentSettings.modes[agent.mode]}</span>
                <Show when={agent.model}>
                  {(model) => <span>{visibleLine(`${model().providerID}/${model().modelID}`)}</span>}
                </Show>
                <span>{agent.builtIn ? en.agentSettings.builtIn : en.agentSettings.own}</span>
              </span>
            </li>
          )}
        </For>
      </ul>
    </>
  );
}
