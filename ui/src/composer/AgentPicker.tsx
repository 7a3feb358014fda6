import Bot from 'lucide-solid/icons/bot';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { Choice } from '../kit/Choice';
import { focusable } from '../kit/focus';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';

/** Chooses the agent. Tab in the composer goes through the same list. */
export function AgentPicker() {
  const app = useApp();
  const options = () =>
    app.agents.list().map((agent) => ({ value: agent.name, label: agent.name, note: agent.description }));
  return (
    <Show when={app.agents.list().length > 1}>
      <Choice
        label={en.agents.label}
        keys="Tab"
        testID="agent-picker"
        triggerRef={focusable('agentPicker')}
        options={options()}
        value={app.agents.current() ?? ''}
        onChoose={(name) => app.agents.choose(name)}
      >
        <Bot size={13} aria-hidden="true" />
      </Choice>
      <span class="visually-hidden" aria-live="polite">
        {en.agents.current(visibleLine(app.agents.current() ?? ''))}
      </span>
    </Show>
  );
}
