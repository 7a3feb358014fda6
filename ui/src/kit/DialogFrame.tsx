/**
 * What the dialogs over the window have in common: they are open while there is something to show,
 * they trap the focus (Kobalte's doing), and they give it back where it was.
 */
import { Dialog } from '@kobalte/core/dialog';
import X from 'lucide-solid/icons/x';
import { Show, type Accessor, type JSX } from 'solid-js';
import { moveFocus, type FocusName } from './focus';

interface DialogFrameProps<T> {
  /** What is shown; undefined while the dialog is closed. */
  readonly at: T | undefined;
  /** The class of what lies between the dialog and the window. */
  readonly scrim: string;
  readonly onClose: () => void;
  /** Draws a `Dialog.Content`. */
  readonly children: (at: Accessor<NonNullable<T>>) => JSX.Element;
}

export function DialogFrame<T>(props: DialogFrameProps<T>) {
  return (
    <Dialog open={props.at !== undefined} onOpenChange={(open) => !open && props.onClose()} preventScroll={false}>
      <Dialog.Portal>
        <Dialog.Overlay class={props.scrim} />
        <Show when={props.at}>{(at) => props.children(at)}</Show>
      </Dialog.Portal>
    </Dialog>
  );
}

export function DialogClose(props: { label: string }) {
  return (
    <Dialog.CloseButton class="icon-button" aria-label={props.label} title={`${props.label} (Esc)`}>
      <X size={15} aria-hidden="true" />
    </Dialog.CloseButton>
  );
}

/** For `onOpenAutoFocus`. The dialog is told before it is in the document, where nothing has the focus yet. */
export function focusLater(focus: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    setTimeout(focus);
  };
}

/**
 * For `onCloseAutoFocus`: to where the focus is now, or to `otherwise` where that was nowhere or is
 * gone. Made when the dialog is, not in its properties: those are read when it closes.
 */
export function focusReturn(otherwise?: FocusName): (event: Event) => void {
  const before = document.activeElement;
  return (event) => {
    event.preventDefault();
    const home = before instanceof HTMLElement && before.isConnected && before !== document.body ? before : undefined;
    if (home) home.focus();
    else if (otherwise !== undefined) moveFocus(otherwise);
  };
}
