/** Comments on lines: written, sent to the agent, resolved. Must not know the DOM. */
import { createSignal, untrack, type Accessor } from 'solid-js';
import type { Host } from '../../host/host';
import type { NewComment, ReviewComment, ReviewDone } from '../../protocol';
import { withConsent, type Consent } from '../consent';
import { createKeyedSignals } from '../reactive';
import type { Place } from './files';

/** A comment that is being written. */
export interface CommentDraft extends Omit<NewComment, 'text'> {
  /** The comment that it changes. */
  readonly id?: string;
  readonly text: string;
}

export interface Comments {
  readonly draft: Accessor<CommentDraft | undefined>;
  begin(draft: CommentDraft): void;
  write(text: string): void;
  cancel(): void;
  readonly saving: Accessor<boolean>;
  save(): Promise<void>;
  remove(comment: ReviewComment): Promise<void>;
  resolve(comment: ReviewComment, resolved: boolean): Promise<void>;
  /** What goes before the comments in the prompt. */
  readonly words: Accessor<string>;
  setWords(text: string): void;
  /** Sends all open comments in one prompt; false if that failed. */
  send(): Promise<boolean>;
}

interface CommentNeeds {
  readonly host: Pick<Host, 'addComment' | 'editComment' | 'removeComment' | 'resolveComment' | 'sendComments' | 'discardReverted'>;
  readonly confirmFinal: Consent;
  readonly place: Accessor<Place | undefined>;
  readonly took: (done: Pick<ReviewDone, 'changed'>) => Promise<void>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function createComments({ host, place, took, attempt, confirmFinal }: CommentNeeds): Comments {
  /** By session: what is written in one is not lost by a look at another, and does not go there. */
  const drafts = createKeyedSignals<CommentDraft>();
  const beginnings = createKeyedSignals<string>();
  const session = () => place()?.sessionID ?? '';
  const draft = () => drafts.get(session());
  const setDraft = (next: CommentDraft | undefined, sessionID = untrack(session)) =>
    next ? drafts.set(sessionID, next) : drafts.delete(sessionID);
  const words = () => beginnings.get(session()) ?? '';
  const [saving, setSaving] = createSignal(false);
  const act = async (work: (at: Place) => Promise<ReviewDone>): Promise<boolean> => {
    const at = untrack(place);
    if (!at) return false;
    const done = await attempt(() => work(at));
    if (done) await took(done);
    return done !== undefined;
  };
  return {
    draft,
    begin: (now) => setDraft(now),
    write(text) {
      const now = untrack(draft);
      if (now) setDraft({ ...now, text });
    },
    cancel: () => setDraft(undefined),
    saving,
    async save() {
      const now = untrack(draft);
      const text = now?.text.trim() ?? '';
      if (!now || text === '' || untrack(saving)) return;
      const at = untrack(place);
      if (!at) return;
      setSaving(true);
      const { id, ...rest } = now;
      const done = await attempt(() =>
        id === undefined
          ? host.addComment(at.sessionID, at.scope, { ...rest, text })
          : host.editComment(at.sessionID, id, text),
      );
      setSaving(false);
      // What was typed is not lost if it could not be stored.
      if (!done) return;
      await took(done);
      // Another one may have been begun meanwhile.
      const next = drafts.get(at.sessionID);
      if (next && samePlace(next, now)) setDraft(undefined, at.sessionID);
    },
    async remove({ id }) {
      await act((at) => host.removeComment(at.sessionID, id));
    },
    async resolve({ id }, resolved) {
      await act((at) => host.resolveComment(at.sessionID, id, resolved));
    },
    words,
    setWords: (text) => beginnings.set(untrack(session), text),
    async send() {
      const at = untrack(place);
      if (!at) return false;
      const beginning = untrack(words).trim();
      const sent = await attempt(() =>
        withConsent(confirmFinal, async (consented) => {
          if (consented) await host.discardReverted(at.sessionID);
          return host.sendComments(at.sessionID, beginning);
        }),
      );
      if (sent === undefined) return false;
      beginnings.delete(at.sessionID);
      await took({ changed: [] });
      return true;
    },
  };
}

function samePlace(a: CommentDraft, b: CommentDraft): boolean {
  return a.id === b.id && a.path === b.path && a.side === b.side && a.from === b.from && a.to === b.to;
}
