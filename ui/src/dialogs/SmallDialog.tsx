/** A dialog for one short task. The focus stays inside until it closes, and goes back where it was. */
import { Dialog } from '@kobalte/core/dialog';
import X from 'lucide-solid/icons/x';
import { createMemo, Show, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import type { Overlay } from '../store/app';
import { useApp } from '../store/context';
import './dialogs.css';

export interface SmallDialogProps<N extends Overlay['name']> {
  readonly name: N;
  readonly title: string;
  readonly children: (place: Extract<Overlay, { name: N }>) => JSX.Element;
}

/** Shown while `name` lies over the window; `[data-first]` inside gets the focus. */
export function SmallDialog<N extends Overlay['name']>(props: SmallDialogProps<N>) {
  const app = useApp();
  const place = createMemo(() => {
    const overlay = app.overlay();
    return overlay?.name === props.name ? (overlay as Extract<Overlay, { name: N }>) : undefined;
  });
  return (
    <Dialog open={place() !== undefined} onOpenChange={(open) => !open && app.dismiss(props.name)} preventScroll={false}>
      <Dialog.Portal>
        <Dialog.Overlay class="dialog-scrim" />
        <Show when={place()} keyed>
          {(shown) => <Window {...props} place={shown} />}
        </Show>
      </Dialog.Portal>
    </Dialog>
  );
}

function Window<N extends Overlay['name']>(props: SmallDialogProps<N> & { place: Extract<Overlay, { name: N }> }) {
  const before = document.activeElement;
  let content!: HTMLElement;
  const begin = (event: Event) => {
    event.preventDefault();
    // The window is told before it is in the document, where nothing can have the focus yet.
    setTimeout(() => (content.querySelector<HTMLElement>('[data-first]') ?? content).focus());
  };
  const giveBack = (event: Event) => {
    event.preventDefault();
    // A menu item that opened it is gone by now.
    const home = before instanceof HTMLElement && before.isConnected && before !== document.body ? before : undefined;
    (home ?? document.querySelector<HTMLElement>('.composer-input'))?.focus();
  };
  return (
    <Dialog.Content
      class="dialog"
      ref={content}
      tabindex="-1"
      data-testid={`${props.name}-dialog`}
      onOpenAutoFocus={begin}
      onCloseAutoFocus={giveBack}
    >
      <header class="dialog-head">
        <Dialog.Title class="dialog-title">{props.title}</Dialog.Title>
        <Dialog.CloseButton class="icon-button" aria-label={en.settings.close} title={`${en.settings.close} (Esc)`}>
          <X size={15} aria-hidden="true" />
        </Dialog.CloseButton>
      </header>
      {props.children(props.place)}
    </Dialog.Content>
  );
}
