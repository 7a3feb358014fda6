import ShieldAlert from 'lucide-solid/icons/shield-alert';
import ShieldCheck from 'lucide-solid/icons/shield-check';
import ShieldQuestion from 'lucide-solid/icons/shield-question-mark';
import { For, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { Choice } from '../kit/Choice';
import { visible } from '../text/visible';
import type { PermissionMode } from '../protocol';
import { useApp } from '../store/context';
import { MODES } from '../store/mode';

const ICONS: { [M in PermissionMode]: Icon } = { ask: ShieldQuestion, auto: ShieldCheck, full: ShieldAlert };

/** How much the agent may do without a question. In sight at all times; red while nothing is asked. */
export function ModePicker() {
  const app = useApp();
  const actions = useActions();
  const { mode } = app;
  const sandbox = () => mode.view()?.sandbox;
  const noteOf = (one: PermissionMode) =>
    mode.isOffered(one)
      ? en.mode.notes[one]
      : en.mode.unavailable(visible(sandbox()?.unavailable ?? en.mode.noSandbox));
  const options = () =>
    MODES.map((one) => ({
      value: one,
      label: en.mode.names[one],
      note: noteOf(one),
      disabled: !mode.isOffered(one),
      ...(one === 'full' && { tone: 'danger' as const }),
    }));
  return (
    <>
      <Choice
        label={en.mode.label}
        keys={actions.nameOf('nextMode')}
        testID="mode-picker"
        options={options()}
        value={mode.current()}
        tone={mode.current() === 'full' ? 'danger' : undefined}
        keepWords
        onChoose={(value) => void mode.choose(value as PermissionMode)}
        footer={
          <Show when={(sandbox()?.notCovered.length ?? 0) > 0}>
            <div class="menu-foot">
              <p>{en.mode.notCovered}</p>
              <ul>
                <For each={sandbox()?.notCovered}>{(one) => <li>{visible(one)}</li>}</For>
              </ul>
            </div>
          </Show>
        }
      >
        <Dynamic component={ICONS[mode.current()]} size={13} aria-hidden="true" />
      </Choice>
      <span class="visually-hidden" aria-live="polite">
        {en.mode.current(en.mode.names[mode.current()])}
      </span>
    </>
  );
}
