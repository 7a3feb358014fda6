/** A small dialog. It traps the focus and returns it when it closes. */
import { Dialog } from '@kobalte/core/dialog';
import { createMemo, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { DialogClose, DialogFrame, focusLater, focusReturn } from '../kit/DialogFrame';
import type { Overlay } from '../store/app';
import { useApp } from '../store/context';
import './dialogs.css';

interface SmallDialogProps<N extends Overlay['name']> {
  readonly name: N;
  readonly title: string;
  readonly children: (place: Extract<Overlay, { name: N }>) => JSX.Element;
}

/** Shown while the overlay has this name; `[data-first]` inside gets the focus. */
export function SmallDialog<N extends Overlay['name']>(props: SmallDialogProps<N>) {
  const app = useApp();
  const place = createMemo(() => {
    const overlay = app.overlay();
    return overlay?.name === props.name ? (overlay as Extract<Overlay, { name: N }>) : undefined;
  });
  return (
    <DialogFrame at={place()} scrim="dialog-scrim" onClose={() => app.dismiss(props.name)}>
      {(shown) => <Window name={props.name} title={props.title} content={props.children(shown())} />}
    </DialogFrame>
  );
}

function Window(props: { name: string; title: string; content: JSX.Element }) {
  let content!: HTMLElement;
  // The menu item that opened it no longer exists when it closes.
  const giveBack = focusReturn('composer');
  return (
    <Dialog.Content
      class="panel dialog"
      ref={content}
      tabindex="-1"
      data-testid={`${props.name}-dialog`}
      onOpenAutoFocus={focusLater(() => (content.querySelector<HTMLElement>('[data-first]') ?? content).focus())}
      onCloseAutoFocus={giveBack}
    >
      <header class="dialog-head">
        <Dialog.Title class="dialog-title">{props.title}</Dialog.Title>
        <DialogClose label={en.settings.close} />
      </header>
      {props.content}
    </Dialog.Content>
  );
}
