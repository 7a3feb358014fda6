/** Short notices with at most one action. They disappear after a while; errors stay until they are read. */
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
  /** Returns its number, to dismiss it when what it says is no longer so. */
  show(toast: Omit<Toast, 'id'>): number;
  dismiss(id: number): void;
  /** While the pointer or the focus is on a toast, none of them disappears. */
  hold(held: boolean): void;
}

export const TOAST_MILLIS = 8000;
const AT_MOST = 6;

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
    if (list().find((toast) => toast.id === id)?.tone === 'error') return;
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
      setList((toasts) => room([...toasts.filter((one) => !isSame(one, toast)), { ...toast, id }]));
      if (!held) arm(id);
      return id;
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

/** The same error again replaces the earlier one. */
function isSame(one: Toast, next: Omit<Toast, 'id'>): boolean {
  return one.tone === 'error' && next.tone === 'error' && one.text === next.text && one.detail === next.detail;
}

/** The oldest ones make room, errors last. */
function room(toasts: readonly Toast[]): readonly Toast[] {
  const over = toasts.length - AT_MOST;
  if (over <= 0) return toasts;
  const going = [...toasts.filter(({ tone }) => tone === 'info'), ...toasts.filter(({ tone }) => tone === 'error')];
  const gone = new Set(going.slice(0, over));
  return toasts.filter((toast) => !gone.has(toast));
}
