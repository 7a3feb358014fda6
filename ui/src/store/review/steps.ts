/** The steps of a session that changed files, one of which is chosen with the bar. Must not know the DOM. */
import { createEffect, createMemo, createSignal, on, onCleanup, untrack, type Accessor } from 'solid-js';
import type { Host } from '../../host/host';
import type { ReviewScope, RevertPreview, SessionStep, StepPlace } from '../../protocol';

/** How long a step is shown while the session is played. */
const FRAME_MILLIS = 1200;

export interface Steps {
  readonly list: Accessor<readonly SessionStep[]>;
  /** The index of the chosen step; undefined while the newest state is shown. */
  readonly at: Accessor<number | undefined>;
  /** To a step; behind the last one is the present. */
  go(index: number): void;
  /** Where the chosen step is. */
  readonly place: Accessor<StepPlace | undefined>;
  /** All files of the project are shown as they were at the step, and one of them. */
  readonly browsing: Accessor<boolean>;
  setBrowsing(on: boolean): void;
  readonly file: Accessor<string | undefined>;
  setFile(path: string): void;
  readonly playing: Accessor<boolean>;
  play(): void;
  pause(): void;
  /** A restore that waits for confirmation. */
  readonly restoring: Accessor<Restoring | undefined>;
  ask(at: StepPlace): Promise<void>;
  cancel(): void;
}

export interface Restoring {
  readonly at: StepPlace;
  readonly preview: RevertPreview;
}

interface StepsNeeds {
  readonly host: Pick<Host, 'sessionSteps' | 'previewRestore'>;
  readonly sessionID: Accessor<string | undefined>;
  readonly moment: Accessor<unknown>;
  readonly scope: Accessor<ReviewScope>;
  setScope(scope: ReviewScope): void;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function createSteps(needs: StepsNeeds): Steps {
  const { host, scope } = needs;
  // Not every change of the scope is one of the session.
  const sessionID = createMemo(needs.sessionID);
  const [found, setFound] = createSignal<{ readonly sessionID: string; readonly steps: readonly SessionStep[] } | undefined>();
  const [playing, setPlaying] = createSignal(false);
  const [restoring, setRestoring] = createSignal<Restoring | undefined>();
  createEffect(
    on([sessionID, needs.moment], async ([id]) => {
      if (id === undefined) return;
      const steps = await host.sessionSteps(id).catch(() => undefined);
      if (steps && untrack(sessionID) === id) setFound({ sessionID: id, steps });
    }),
  );
  const list = createMemo(() => (found()?.sessionID === sessionID() ? (found()?.steps ?? []) : []));
  const at = createMemo(() => {
    const now = scope();
    if (now.kind !== 'until' && now.kind !== 'step') return undefined;
    const index = list().findIndex(({ messageID, partID }) => messageID === now.messageID && partID === now.partID);
    return index === -1 ? undefined : index;
  });
  const place = createMemo<StepPlace | undefined>(() => {
    const step = list()[at() ?? -1];
    return step && { messageID: step.messageID, partID: step.partID };
  });
  const [browsing, setBrowsing] = createSignal(false);
  const [file, setFile] = createSignal<string | undefined>();
  createEffect(on(place, (now) => now === undefined && setBrowsing(false)));
  const go = (index: number) => {
    const step = list()[index];
    const kind = untrack(scope).kind === 'step' ? 'step' : 'until';
    if (step) needs.setScope({ kind, messageID: step.messageID, partID: step.partID });
    else needs.setScope({ kind: 'session' });
  };
  createEffect(() => {
    if (!playing()) return;
    const timer = setInterval(() => {
      const next = (untrack(at) ?? -1) + 1;
      go(next);
      if (next >= untrack(list).length - 1) setPlaying(false);
    }, FRAME_MILLIS);
    onCleanup(() => clearInterval(timer));
  });
  createEffect(on(sessionID, () => (setPlaying(false), setRestoring(undefined), setFile(undefined)), { defer: true }));
  return {
    list,
    at,
    go(index) {
      setPlaying(false);
      go(index);
    },
    place,
    browsing,
    setBrowsing,
    file,
    setFile,
    playing,
    play() {
      // From the beginning, if it is at the end.
      const now = at();
      if (now === undefined || now >= list().length - 1) go(0);
      setPlaying(list().length > 1);
    },
    pause: () => setPlaying(false),
    restoring,
    async ask(place) {
      const id = sessionID();
      if (id === undefined) return;
      const preview = await needs.attempt(() => host.previewRestore(id, place));
      if (preview && sessionID() === id) setRestoring({ at: place, preview });
    },
    cancel: () => setRestoring(undefined),
  };
}
