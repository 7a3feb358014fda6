/** What the dialogs of requests share: they are answered once, by a click or a key. */
import { createSignal, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import { isInert } from '../kit/inert';
import { useShortcuts } from '../kit/keys';
import { visible } from '../text/visible';
import type { App } from '../store/app';
import { useApp } from '../store/context';
import { leaveToComposer } from './leave-to-composer';

interface Answering {
  /** An answer was given and not refused. */
  readonly done: Accessor<boolean>;
  run(work: () => Promise<void>): Promise<void>;
  /** Keys with Alt, by their code. They do nothing while the request is answered or covered. */
  useKeys(keys: Readonly<Record<string, () => unknown>>): void;
}

export function createAnswering(section: () => HTMLElement): Answering {
  const app = useApp();
  const leaving = leaveToComposer(section);
  const [done, setDone] = createSignal(false);
  return {
    done,
    async run(work) {
      if (done()) return;
      leaving.answering();
      setDone(true);
      if (!(await app.attempt(() => work().then(() => true)))) setDone(false);
    },
    useKeys: (keys) =>
      useShortcuts({
        alt: Object.fromEntries(
          Object.entries(keys).map(([code, run]) => [
            code,
            () => {
              // What is covered is not answered unseen.
              const covered = app.overlay() !== undefined || isInert(section());
              if (!done() && !covered) run();
            },
          ]),
        ),
      }),
  };
}

/** The task that asks; undefined if the session on screen asks itself. */
export function askerOf(app: App, sessionID: string): string | undefined {
  if (sessionID === app.selected()) return undefined;
  const task = app.sessions.get(sessionID)?.title;
  return task ? en.permission.fromTask(visible(task)) : en.permission.fromChild;
}
