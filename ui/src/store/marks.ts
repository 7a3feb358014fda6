/** Sessions with a mark. The marks are kept, so that a page that is loaded again still has them. */
import { untrack } from 'solid-js';
import { createKeyedSignals } from './reactive';

export type MarkStorage = Pick<Storage, 'getItem' | 'setItem'>;

interface Marks {
  has(sessionID: string): boolean;
  add(sessionID: string): void;
  delete(sessionID: string): void;
}

/** Those of sessions that were removed elsewhere would only add up. */
const MOST = 500;

export function createMarks(name: string, storage: MarkStorage | undefined): Marks {
  const marks = createKeyedSignals<true>();
  marks.replace(stored(storage?.getItem(name) ?? null).map((id) => [id, true] as const));
  const keep = () => {
    const ids = untrack(() => marks.entries()).map(([id]) => id);
    storage?.setItem(name, JSON.stringify(ids.slice(-MOST)));
  };
  return {
    has: (sessionID) => marks.get(sessionID) === true,
    add(sessionID) {
      marks.set(sessionID, true);
      keep();
    },
    delete(sessionID) {
      if (!untrack(() => marks.get(sessionID))) return;
      marks.delete(sessionID);
      keep();
    },
  };
}

function stored(text: string | null): string[] {
  try {
    const ids: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
