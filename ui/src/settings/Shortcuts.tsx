/** The shortcuts of all actions: change and reset them. */
import RotateCcw from 'lucide-solid/icons/rotate-ccw';
import { createSignal, For, Show } from 'solid-js';
import type { Action } from '../actions/actions';
import { chordOf, isUsable, type Chord } from '../actions/chords';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { isTab } from '../kit/keys';
import { useApp } from '../store/context';

export function Shortcuts() {
  const app = useApp();
  const actions = useActions();
  const own = () => app.settings.shortcuts;
  const set = (id: string, chord: Chord | undefined) => {
    const { [id]: _before, ...rest } = own();
    app.save({ shortcuts: chord === undefined ? rest : { ...rest, [id]: chord } });
  };
  return (
    <>
      <div class="settings-heading-row settings-first">
        <h3 class="settings-heading">{en.settings.sections.shortcuts}</h3>
        <Button
          data-testid="reset-shortcuts"
          disabled={Object.keys(own()).length === 0}
          onClick={() => app.save({ shortcuts: {} })}
        >
          {en.shortcuts.resetAll}
        </Button>
      </div>
      <p class="settings-note">{en.shortcuts.note}</p>
      <ul class="settings-list shortcut-list">
        <For each={actions.list.filter((action) => action.inMenuOnly !== true)}>{(action) => <Row action={action} onSet={(chord) => set(action.id, chord)} />}</For>
      </ul>
      <h3 class="settings-heading settings-later">{en.shortcuts.fixed}</h3>
      <ul class="settings-list shortcut-list">
        <For each={en.shortcuts.fixedList}>
          {([keys, what]) => (
            <li>
              <span class="data-name">{what}</span>
              <span class="shortcut-keys">
                <kbd>{keys}</kbd>
              </span>
            </li>
          )}
        </For>
      </ul>
    </>
  );
}

function Row(props: { action: Action; onSet: (chord: Chord | undefined) => void }) {
  const app = useApp();
  const actions = useActions();
  const [listening, setListening] = createSignal(false);
  const [refused, setRefused] = createSignal(false);
  const name = () => en.actions.names[props.action.id];
  const changed = () => props.action.id in app.settings.shortcuts;
  const others = () => {
    const chord = actions.keysOf(props.action.id);
    const same = chord === undefined ? [] : actions.withKeys(chord);
    return same.filter((other) => other.id !== props.action.id).map((other) => en.actions.names[other.id]);
  };
  const stop = () => {
    setListening(false);
    setRefused(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!listening() || isTab(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return stop();
    if (event.key === 'Backspace' || event.key === 'Delete') {
      props.onSet('');
      return stop();
    }
    const chord = chordOf(event);
    if (chord === undefined) return;
    if (!isUsable(chord)) return void setRefused(true);
    props.onSet(chord === props.action.keys ? undefined : chord);
    stop();
  };
  return (
    <li data-action={props.action.id}>
      <span class="data-name">
        {name()}
        <Show when={others().length > 0}>
          <span class="settings-warning">{en.shortcuts.conflict(others().join(', '))}</span>
        </Show>
        <Show when={refused()}>
          <span class="settings-warning" role="alert">
            {en.shortcuts.unusable}
          </span>
        </Show>
      </span>
      <button
        type="button"
        class="shortcut-keys"
        data-listening={listening() ? '' : undefined}
        aria-label={en.shortcuts.change(name(), actions.nameOf(props.action.id) || en.shortcuts.none)}
        onClick={() => setListening(true)}
        onBlur={stop}
        onKeyDown={onKeyDown}
      >
        <kbd>{listening() ? en.shortcuts.press : actions.nameOf(props.action.id) || en.shortcuts.none}</kbd>
      </button>
      <span class="shortcut-reset">
        <Show when={changed()}>
          <IconButton icon={RotateCcw} size={13} label={en.shortcuts.resetOne(name())} onClick={() => props.onSet(undefined)} />
        </Show>
      </span>
    </li>
  );
}
