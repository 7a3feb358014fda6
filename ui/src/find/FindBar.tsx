/** Find in session: the field, the number of matches, and the buttons for next and previous. */
import ChevronDown from 'lucide-solid/icons/chevron-down';
import ChevronUp from 'lucide-solid/icons/chevron-up';
import X from 'lucide-solid/icons/x';
import { createEffect, on, Show } from 'solid-js';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { isComposing } from '../kit/keys';
import { useApp } from '../store/context';
import { useMarks } from './marks';
import './find.css';

/** The core reports at most this many matches. */
const MOST = 5000;

export function FindBar() {
  const app = useApp();
  return (
    <Show when={app.finder.shown()}>
      <Bar />
    </Show>
  );
}

function Bar() {
  const app = useApp();
  const actions = useActions();
  const { finder } = app;
  const before = document.activeElement;
  let field!: HTMLInputElement;

  createEffect(
    on(finder.asked, () => {
      // After the key press that opened it has been handled.
      queueMicrotask(() => {
        field.focus();
        field.select();
      });
    }),
  );
  useMarks(() => finder.text().trim(), app.target);

  const close = () => {
    finder.close();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Enter') finder.step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  const said = () => {
    if (finder.text().trim() === '') return '';
    if (finder.looking()) return en.find.looking;
    const count = finder.hits().length;
    return count === 0 ? en.find.none : en.find.count(finder.at() + 1, count, count >= MOST);
  };
  const nothing = () => finder.hits().length === 0;

  return (
    <search class="find-bar" data-testid="find-bar" aria-label={en.find.label} onKeyDown={onKeyDown}>
      <input
        ref={field}
        type="text"
        data-testid="find-field"
        aria-label={en.find.label}
        placeholder={en.find.placeholder}
        spellcheck={false}
        autocomplete="off"
        value={finder.text()}
        onInput={(event) => finder.look(event.currentTarget.value)}
      />
      <span class="find-count" role="status" data-testid="find-count">
        {said()}
      </span>
      <IconButton
        icon={ChevronUp}
        label={en.find.previous}
        keys={actions.nameOf('findPrevious')}
        disabled={nothing()}
        onClick={() => finder.step(-1)}
      />
      <IconButton
        icon={ChevronDown}
        label={en.find.next}
        keys={actions.nameOf('findNext')}
        disabled={nothing()}
        onClick={() => finder.step(1)}
      />
      <IconButton icon={X} label={en.find.close} onClick={close} />
    </search>
  );
}
