/**
 * What was typed into a request and not sent yet. It survives a look at another session, and goes with
 * its request. One slice of the state.
 */
import { createEffect, untrack } from 'solid-js';
import type { DiffComment } from '../protocol';
import type { Activity } from './activity';
import { createKeyedSignals } from './reactive';

/** The answer to one question: chosen options, and the person's own words. */
export interface TypedAnswer {
  readonly chosen: readonly string[];
  readonly own: string;
}

/** A comment on the changes that a permission is asked for. */
export interface TypedComment extends DiffComment {
  readonly key: string;
  readonly side: 'old' | 'new';
  /** What is being written, and not saved yet. */
  readonly draft?: string | undefined;
}

export interface TypedAnswers {
  /** Why a permission is denied. */
  reason(requestID: string): string;
  setReason(requestID: string, text: string): void;
  comments(requestID: string): readonly TypedComment[];
  setComments(requestID: string, comments: readonly TypedComment[]): void;
  /** With what was written and not saved. */
  commentsToSend(requestID: string): readonly DiffComment[];
  /** By the index of the question. */
  answers(requestID: string): Readonly<Record<number, TypedAnswer>>;
  setAnswer(requestID: string, index: number, answer: TypedAnswer): void;
}

const NO_COMMENTS: readonly TypedComment[] = [];
const NONE: Readonly<Record<number, TypedAnswer>> = {};

export function createTypedAnswers(activity: Pick<Activity, 'permissions' | 'questions'>): TypedAnswers {
  const reasons = createKeyedSignals<string>();
  const comments = createKeyedSignals<readonly TypedComment[]>();
  const answers = createKeyedSignals<Readonly<Record<number, TypedAnswer>>>();
  createEffect(() => {
    const waiting = new Set([...activity.permissions(), ...activity.questions()].map(({ id }) => id));
    untrack(() => {
      for (const kept of [reasons, comments, answers]) {
        for (const [id] of kept.entries()) if (!waiting.has(id)) kept.delete(id);
      }
    });
  });
  return {
    reason: (id) => reasons.get(id) ?? '',
    setReason: (id, text) => reasons.set(id, text),
    comments: (id) => comments.get(id) ?? NO_COMMENTS,
    setComments: (id, list) => comments.set(id, list),
    commentsToSend: (id) =>
      (comments.get(id) ?? NO_COMMENTS)
        .map(({ path, from, to, quote, text, draft, side }) => {
          const comment = { path, from, to, quote, text: draft?.trim() || text };
          return side === 'old' ? { ...comment, removed: true } : comment;
        })
        .filter(({ text }) => text !== ''),
    answers: (id) => answers.get(id) ?? NONE,
    setAnswer: (id, index, answer) => answers.set(id, { ...answers.get(id), [index]: answer }),
  };
}
