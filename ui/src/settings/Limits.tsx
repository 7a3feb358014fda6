/** Where a turn pauses and asks. All limits are off until one is entered. */
import { createSignal, For } from 'solid-js';
import { en } from '../i18n/en';
import type { Limits as LimitSettings } from '../protocol';
import { useApp } from '../store/context';
import { TextField } from './TextField';

type LimitName = keyof LimitSettings;

const KINDS: { [N in LimitName]-?: 'money' | 'count' } = {
  sessionCost: 'money',
  dayCost: 'money',
  turnSteps: 'count',
  turnMinutes: 'count',
};

export function Limits() {
  return (
    <section data-testid="limits">
      <h3 class="settings-heading settings-later">{en.limits.title}</h3>
      <p class="settings-note">{en.limits.note}</p>
      <div class="settings-fields">
        <For each={Object.keys(KINDS) as LimitName[]}>{(name) => <LimitField name={name} />}</For>
      </div>
    </section>
  );
}

function LimitField(props: { name: LimitName }) {
  const app = useApp();
  const kind = () => KINDS[props.name];
  const [text, setText] = createSignal(String(app.settings.limits[props.name] ?? ''));
  const [wrong, setWrong] = createSignal(false);
  const type = (value: string) => {
    setText(value);
    setWrong(false);
  };
  // Not with every key: a limit of 5 must not hold while 50 is typed.
  const done = () => {
    const limit = limitOf(text(), kind());
    setWrong(limit === 'wrong');
    if (limit === 'wrong') return;
    const { [props.name]: _before, ...others } = app.settings.limits;
    app.save({ limits: limit === undefined ? others : { ...others, [props.name]: limit } });
  };
  return (
    <TextField
      label={en.limits.fields[props.name]}
      placeholder={en.limits.none}
      value={text()}
      wrong={wrong() ? en.limits.wrong[kind()] : undefined}
      onType={type}
      onDone={done}
    />
  );
}

/** Undefined for no limit. A limit that cannot be read is not saved. */
function limitOf(text: string, kind: 'money' | 'count'): number | undefined | 'wrong' {
  const written = text.trim();
  if (written === '') return undefined;
  const fits = kind === 'money' ? /^\d{1,7}([.,]\d{1,4})?$/ : /^\d{1,6}$/;
  const value = Number(written.replace(',', '.'));
  return fits.test(written) && value > 0 ? value : 'wrong';
}
