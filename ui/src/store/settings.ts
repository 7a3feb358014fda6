/** What the person has set. One slice of the state; every field is a signal. */
import type { Host } from '../host/host';
import type { Settings } from '../protocol';
import { createFields } from './reactive';

export interface SettingsSlice {
  readonly settings: Readonly<Settings>;
  /** As the host has them. */
  load(settings: Settings): void;
  /** Rejects if they could not be stored; they hold for this window all the same. */
  save(change: Partial<Settings>): Promise<void>;
}

export const DEFAULTS: Settings = {
  theme: 'system',
  sidebarOpen: true,
  sidebarWidth: 264,
  favouriteModels: [],
  recentModels: [],
  allowAll: false,
  variants: {},
  zoom: 100,
  reducedMotion: false,
  menuBar: true,
  notify: true,
  shortcuts: {},
  editor: { kind: 'system' },
  review: { width: 460, sideBySide: false, opens: true },
  shell: '',
  privateHosts: [],
  importOffered: false,
};

export function createSettings(host: Pick<Host, 'saveSettings'>): SettingsSlice {
  const [settings, set] = createFields(DEFAULTS);
  return {
    settings,
    load: set,
    save(change) {
      set(change);
      return host.saveSettings({ ...settings });
    },
  };
}
