/** How the review shows files. It is remembered on this machine. */
import { createFields } from '../reactive';

export interface ViewState {
  readonly wrap: boolean;
  readonly ignoreWhitespace: boolean;
  /** The list of files is shown. */
  readonly tree: boolean;
}

export interface ReviewView {
  /** Every field is a signal. */
  readonly state: ViewState;
  set(change: Partial<ViewState>): void;
}

const NAME = 'review.view';
const DEFAULT: ViewState = { wrap: true, ignoreWhitespace: false, tree: true };

export function createReviewView(storage: Pick<Storage, 'getItem' | 'setItem'> | undefined): ReviewView {
  const [state, set] = createFields<ViewState>({ ...DEFAULT, ...stored(storage?.getItem(NAME) ?? null) });
  return {
    state,
    set(change) {
      set(change);
      storage?.setItem(NAME, JSON.stringify({ ...state }));
    },
  };
}

function stored(text: string | null): Partial<ViewState> {
  try {
    const found: unknown = JSON.parse(text ?? '{}');
    if (typeof found !== 'object' || found === null) return {};
    const known = Object.entries(found).filter(([name, value]) => name in DEFAULT && typeof value === 'boolean');
    return Object.fromEntries(known);
  } catch {
    return {};
  }
}
