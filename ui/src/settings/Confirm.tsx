import { onMount } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';

/** Replaces a button by a confirmation. "No" has the focus, so that nothing happens by accident. */
export function Confirm(props: { question: string; yes: string; onYes: () => void; onNo: () => void }) {
  let no!: HTMLButtonElement;
  onMount(() => no.focus());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Otherwise Escape would close the dialog.
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
