import { createContext, onCleanup, onMount, useContext } from 'solid-js';
import { isComposing } from '../kit/keys';
import type { Actions } from './actions';
import { chordOf } from './chords';

const ActionsContext = createContext<Actions>();

export const ActionsProvider = ActionsContext.Provider;

export function useActions(): Actions {
  const actions = useContext(ActionsContext);
  if (!actions) throw new Error('useActions outside of ActionsProvider');
  return actions;
}

/** Listens for shortcuts. Keys that a field or a dialog has handled are ignored. */
export function useActionKeys(actions: Actions): void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.repeat || isComposing(event) || event.getModifierState('AltGraph')) return;
    const chord = chordOf(event);
    const action = chord === undefined ? undefined : actions.withKeys(chord)[0];
    if (!action) return;
    // Prevents the webview's own find or print dialog, also if the action cannot run now.
    event.preventDefault();
    actions.run(action.id);
  };
  onMount(() => window.addEventListener('keydown', onKeyDown));
  onCleanup(() => window.removeEventListener('keydown', onKeyDown));
}
