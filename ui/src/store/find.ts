/**
 * Find in the open session, also in messages that are not loaded.
 *
 * The core finds the matches; the timeline scrolls to the current one.
 */
import { createEffect, createSignal, on, type Accessor } from 'solid-js';
import type { FindHit } from '../protocol';
import type { Core } from './app';
import type { SessionActions } from './session-actions';

export interface Finder {
  readonly shown: Accessor<boolean>;
  readonly text: Accessor<string>;
  readonly hits: Accessor<readonly FindHit[]>;
  /** The index of the current match; -1 for none. */
  readonly at: Accessor<number>;
  readonly looking: Accessor<boolean>;
  /** Incremented with every `show`, so that the bar takes the focus again. */
  readonly asked: Accessor<number>;
  show(): void;
  close(): void;
  look(text: string): void;
  /** To the next match (1) or the previous one (-1), wrapping at the ends. */
  step(by: 1 | -1): void;
}

/** The delay after typing, to avoid a query for every key press. */
const PAUSE = 120;

export function createFinder(core: Core, sessions: Pick<SessionActions, 'selected' | 'reveal'>): Finder {
  const [shown, setShown] = createSignal(false);
  const [asked, setAsked] = createSignal(0);
  const [text, setText] = createSignal('');
  const [hits, setHits] = createSignal<readonly FindHit[]>([]);
  const [at, setAt] = createSignal(-1);
  const [looking, setLooking] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let question = 0;

  const forget = () => {
    clearTimeout(timer);
    question += 1;
    setHits([]);
    setAt(-1);
    setLooking(false);
  };
  const goTo = (place: number) => {
    const hit = hits()[place];
    if (!hit) return;
    setAt(place);
    void sessions.reveal({ messageID: hit.messageID, partID: hit.partID, nth: hit.nth });
  };
  const ask = async (wanted: string) => {
    const sessionID = sessions.selected();
    if (sessionID === undefined) return;
    const mine = ++question;
    const found = await core.attempt(() => core.host.findInSession(sessionID, wanted));
    if (mine !== question) return;
    setLooking(false);
    setHits(found ?? []);
    // Starts at the last match: the reader is most likely at the end.
    goTo((found?.length ?? 0) - 1);
  };
  const look = (wanted: string) => {
    setText(wanted);
    forget();
    if (wanted.trim() === '') return;
    setLooking(true);
    timer = setTimeout(() => void ask(wanted), PAUSE);
  };

  // Matches belong to one session.
  createEffect(
    on(
      sessions.selected,
      () => {
        forget();
        setShown(false);
      },
      { defer: true },
    ),
  );

  return {
    shown,
    asked,
    text,
    hits,
    at,
    looking,
    look,
    show() {
      setShown(true);
      setAsked((count) => count + 1);
      if (text().trim() !== '' && hits().length === 0) look(text());
    },
    close() {
      setShown(false);
      forget();
    },
    step(by) {
      const count = hits().length;
      if (count > 0) goTo((at() + by + count) % count);
    },
  };
}
