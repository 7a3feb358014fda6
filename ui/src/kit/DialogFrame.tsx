/**
 * What all dialogs have in common: they are open while there is something to show, they trap the focus
 * (done by Kobalte), and they return it when they close.
 */
import { Dialog } from '@kobalte/core/dialog';
import X from 'lucide-solid/icons/x';
import { Show, type Accessor, type JSX } from 'solid-js';
import { moveFocus, type FocusName } from './focus';

interface DialogFrameProps<T> {
  /** What is shown; undefined while the dialog is closed. */
  readonly at: T | undefined;
  /** The class of the overlay behind the dialog. */
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

/** For `onOpenAutoFocus`, which is called before the dialog is in the document. */
export function focusLater(focus: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    setTimeout(focus);
  };
}

/**
 * For `onCloseAutoFocus`: returns the focus to the element that has it now, or to `otherwise` if there is
 * none or it is gone. Call it when the dialog opens, not inside a property, which is read on closing.
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
