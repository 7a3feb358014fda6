/** What the person has set. One slice of the state; every field is a signal. */
import { DEFAULTS } from '../host/defaults';
import type { Host } from '../host/host';
import type { Settings } from '../protocol';
import { createFields } from './reactive';

interface SettingsSlice {
  readonly settings: Readonly<Settings>;
  /** As the host has them. */
  load(settings: Settings): void;
  /** Rejects if they could not be stored; they hold for this window all the same. Stored one after
   * the other, so that the last choice is what remains. */
  save(change: Partial<Settings>): Promise<void>;
}

export function createSettings(host: Pick<Host, 'saveSettings'>): SettingsSlice {
  const [settings, set] = createFields(DEFAULTS);
  let underway: Promise<void> | undefined;
  return {
    settings,
    load: set,
    save(change) {
      set(change);
      const store = () => host.saveSettings({ ...settings });
      // Without a save before it, at once: a window that closes now has asked for it.
      const stored = underway ? underway.then(store, store) : store();
      underway = stored;
      const settle = () => {
        if (underway === stored) underway = undefined;
      };
      stored.then(settle, settle);
      return stored;
    },
  };
}
