import { createSignal, onCleanup, type Accessor } from 'solid-js';
import type { Theme } from '../protocol';

/** Whether the window is dark: as chosen, or as the system is. */
export function createDark(theme: Accessor<Theme>): Accessor<boolean> {
  const system = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
  const [dark, setDark] = createSignal(system?.matches ?? false);
  const look = () => setDark(system?.matches ?? false);
  system?.addEventListener('change', look);
  onCleanup(() => system?.removeEventListener('change', look));
  return () => (theme() === 'system' ? dark() : theme() === 'dark');
}
