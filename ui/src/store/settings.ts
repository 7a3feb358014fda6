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
  let stored: Promise<void> = Promise.resolve();
  return {
    settings,
    load: set,
    save(change) {
      set(change);
      const store = () => host.saveSettings({ ...settings });
      stored = stored.then(store, store);
      return stored;
    },
  };
}
