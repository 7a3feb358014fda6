/**
 * The files of the chosen scope: loaded while the review is shown, and again when something may have
 * changed. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, on, onCleanup, untrack, type Accessor } from 'solid-js';
import { uiError, type Host } from '../../host/host';
import type { ReviewFile, ReviewFiles, ReviewScope } from '../../protocol';

export interface Place {
  readonly sessionID: string;
  readonly scope: ReviewScope;
}

interface Answer {
  readonly key: string;
  readonly found?: ReviewFiles;
  readonly error?: string;
}

export interface FilesOfReview {
  /** Undefined until they are loaded. The last answer stays until the next one, for the same place. */
  readonly found: Accessor<ReviewFiles | undefined>;
  readonly error: Accessor<string | undefined>;
  readonly loading: Accessor<boolean>;
  /** Loads them again. */
  again(): Promise<void>;
}

interface FilesNeeds {
  readonly host: Pick<Host, 'reviewFiles' | 'closeReview'>;
  /** Undefined while the review is not shown. */
  readonly place: Accessor<Place | undefined>;
  /** Changes when files may have changed. */
  readonly moment: Accessor<unknown>;
}

/** Requests about one place, one after the other. */
interface Running {
  readonly key: string | undefined;
  /** Once more, when the one that runs has ended. */
  wanted: boolean;
  done: Promise<void>;
}

export function createReviewFiles({ host, place, moment }: FilesNeeds): FilesOfReview {
  const [answer, setAnswer] = createSignal<Answer | undefined>();
  const [running, setRunning] = createSignal(0);
  const keyOf = (at: Place | undefined) => at && `${at.sessionID} ${JSON.stringify(at.scope)}`;
  /** Only the newest request may answer, and one that waits stands for all that come meanwhile. */
  let newest = 0;
  let pending: Running | undefined;

  const request = async () => {
    const at = untrack(place);
    const key = keyOf(at);
    if (!at || key === undefined) return;
    const mine = ++newest;
    setRunning((count) => count + 1);
    let next: Answer;
    try {
      next = { key, found: await host.reviewFiles(at.sessionID, at.scope) };
    } catch (error) {
      next = { key, error: uiError(error).message };
    }
    setRunning((count) => count - 1);
    if (mine !== newest || keyOf(untrack(place)) !== key) return;
    setAnswer((before) => (before?.key === key && before.found && next.found ? { key, found: merge(before.found, next.found) } : next));
  };
  const again = (): Promise<void> => {
    const key = keyOf(untrack(place));
    if (pending && pending.key === key) {
      pending.wanted = true;
      return pending.done;
    }
    // What is asked about another place is not waited for.
    const mine: Running = { key, wanted: false, done: Promise.resolve() };
    pending = mine;
    mine.done = (async () => {
      do {
        mine.wanted = false;
        await request();
      } while (mine.wanted && pending === mine);
      // At once: whoever asks from now on begins a new request.
      if (pending === mine) pending = undefined;
    })();
    return mine.done;
  };
  const key = createMemo(() => keyOf(place()));
  createEffect(
    on([key, moment], ([now]) => {
      if (now !== undefined) void again();
    }),
  );
  // The core watches the files of one review at a time.
  const watched = createMemo(() => place()?.sessionID);
  createEffect(
    on(watched, (id) => {
      if (id !== undefined) onCleanup(() => void host.closeReview(id).catch(() => {}));
    }),
  );
  const current = createMemo(() => {
    const last = answer();
    return last?.key === key() ? last : undefined;
  });
  return {
    found: () => current()?.found,
    error: () => current()?.error,
    loading: () => running() > 0,
    again,
  };
}

/** Files that did not change stay the same objects, so that nothing of them is drawn again. */
export function merge(before: ReviewFiles, now: ReviewFiles): ReviewFiles {
  const known = new Map(before.files.map((file) => [file.path, file]));
  return { ...now, files: now.files.map((file) => same(known.get(file.path), file)) };
}

function same(before: ReviewFile | undefined, now: ReviewFile): ReviewFile {
  return before && JSON.stringify(before) === JSON.stringify(now) ? before : now;
}
