/**
 * What was typed and not sent, per session.
 *
 * Kept in the webview's own storage, so that a draft outlives a restart; a full or missing
 * storage only means that it does not.
 */
import { createSignal } from 'solid-js';

const KEY = 'lathe.drafts';
const AT_MOST = 100;

export interface Drafts {
  get(place: string): string;
  set(place: string, text: string): void;
}

export function createDrafts(storage: Pick<Storage, 'getItem' | 'setItem'> | undefined): Drafts {
  const [drafts, setDrafts] = createSignal<Readonly<Record<string, string>>>(load(storage));
  return {
    get: (place) => drafts()[place] ?? '',
    set(place, text) {
      const { [place]: _old, ...others } = drafts();
      const next =
        text === '' ? others : Object.fromEntries([...Object.entries(others), [place, text]].slice(-AT_MOST));
      setDrafts(next);
      save(storage, next);
    },
  };
}

function load(storage: Pick<Storage, 'getItem'> | undefined): Record<string, string> {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(KEY) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter(([, text]) => typeof text === 'string'));
  } catch {
    return {};
  }
}

function save(storage: Pick<Storage, 'setItem'> | undefined, drafts: Readonly<Record<string, string>>): void {
  try {
    storage?.setItem(KEY, JSON.stringify(drafts));
  } catch {
    // Nothing to do: the draft is still on screen.
  }
}
