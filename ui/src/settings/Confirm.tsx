import { onMount } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';

/** Asks in place of the button that was pressed. Nothing happens by accident: "no" has the focus. */
export function Confirm(props: { question: string; yes: string; onYes: () => void; onNo: () => void }) {
  let no!: HTMLButtonElement;
  onMount(() => no.focus());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // The dialog would take it as its own.
    event.preventDefault();
    event.stopPropagation();
    props.onNo();
  };
  return (
    <div class="settings-actions" role="group" aria-label={props.question} onKeyDown={onKeyDown}>
      <span>{props.question}</span>
      <Button tone="danger" onClick={() => props.onYes()}>
        {props.yes}
      </Button>
      <Button ref={no} onClick={() => props.onNo()}>
        {en.settings.cancel}
      </Button>
    </div>
  );
}
