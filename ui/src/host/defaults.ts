/** The settings of a first start, as the core has them. They hold until the host has answered. */
import type { Settings } from '../protocol';

export const DEFAULTS: Settings = {
  language: '',
  theme: 'system',
  sidebarOpen: true,
  sidebarWidth: 264,
  favouriteModels: [],
  recentModels: [],
  limits: {},
  variants: {},
  zoom: 100,
  reducedMotion: false,
  menuBar: true,
  notify: true,
  notifySound: false,
  shortcuts: {},
  editor: { kind: 'system' },
  review: { width: 460, sideBySide: false, opens: true },
  shell: '',
  privateHosts: [],
  welcomed: false,
  importOffered: false,
  fullAccessConfirmed: [],
};
