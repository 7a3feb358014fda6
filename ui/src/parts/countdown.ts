import { createSignal, onCleanup, type Accessor } from 'solid-js';

/** Whole seconds until a time, at least 0. */
export function createCountdown(until: Accessor<number>): Accessor<number> {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), 1000);
  onCleanup(() => clearInterval(timer));
  return () => Math.max(0, Math.ceil((until() - now()) / 1000));
}
