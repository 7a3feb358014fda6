/**
 * The history of sent prompts for the arrow keys, by project: newest last, without repeats.
 *
 * Pure except for the storage; if that is full or missing, nothing is remembered.
 */
const KEY = 'lathe.history';
const AT_MOST = 200;

type Kept = Pick<Storage, 'getItem' | 'setItem'>;
type Stored = Readonly<Record<string, readonly string[]>>;

export function readHistory(storage: Kept | undefined, projectID: string): readonly string[] {
  return load(storage)[projectID] ?? [];
}

export function noteSent(storage: Kept | undefined, projectID: string, text: string): void {
  const all = load(storage);
  const others = (all[projectID] ?? []).filter((one) => one !== text);
  const next = { ...all, [projectID]: [...others, text].slice(-AT_MOST) };
  try {
    storage?.setItem(KEY, JSON.stringify(next));
  } catch {
    // Not worth an error: the prompt itself was sent.
  }
}

function load(storage: Kept | undefined): Stored {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? (stored as Stored) : {};
  } catch {
    return {};
  }
}

/** A position in the history; `own` is the text before the first key press. */
export interface Walk {
  readonly at: number;
  readonly own: string;
}

/** One step back (-1) or forward (1); undefined at the end. */
export function step(
  history: readonly string[],
  walk: Walk | undefined,
  by: -1 | 1,
  text: string,
): { readonly text: string; readonly walk: Walk | undefined } | undefined {
  const at = (walk?.at ?? history.length) + by;
  const own = walk?.own ?? text;
  if (at < 0 || (!walk && by === 1)) return undefined;
  if (at >= history.length) return { text: own, walk: undefined };
  return { text: history[at] ?? '', walk: { at, own } };
}
