/** A clock that ticks once a minute, for "5m ago". One timer for the whole window. */
import { createSignal } from 'solid-js';

const [now, setNow] = createSignal(Date.now());
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): () => number {
  timer ??= setInterval(() => {
    if (!document.hidden) setNow(Date.now());
  }, 60_000);
  return now;
}
