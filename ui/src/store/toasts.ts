/** Short notices with at most one action. They disappear after a while. */
import { createSignal, type Accessor } from 'solid-js';

interface Toast {
  readonly id: number;
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly detail?: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export interface Toasts {
  readonly list: Accessor<readonly Toast[]>;
  show(toast: Omit<Toast, 'id'>): void;
  dismiss(id: number): void;
  /** While the pointer or the focus is on a toast, none of them disappears. */
  hold(held: boolean): void;
}

export const TOAST_MILLIS = 8000;
const AT_MOST = 4;

export function createToasts(): Toasts {
  const [list, setList] = createSignal<readonly Toast[]>([]);
  const timers = new Map<number, ReturnType<typeof setTimeout>>();
  let next = 1;
  let held = false;

  const dismiss = (id: number) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    setList((toasts) => toasts.filter((toast) => toast.id !== id));
  };
  const arm = (id: number) => {
    clearTimeout(timers.get(id));
    timers.set(
      id,
      setTimeout(() => dismiss(id), TOAST_MILLIS),
    );
  };

  return {
    list,
    dismiss,
    show(toast) {
      const id = next++;
      setList((toasts) => [...toasts, { ...toast, id }].slice(-AT_MOST));
      if (!held) arm(id);
    },
    hold(on) {
      held = on;
      for (const toast of list()) {
        if (on) clearTimeout(timers.get(toast.id));
        else arm(toast.id);
      }
    },
  };
}
