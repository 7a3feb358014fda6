/** What each session is doing, and what it waits for a person to say. One slice of the state. */
import { batch, createMemo, createSignal, type Accessor } from 'solid-js';
import { createMarks, type MarkStorage } from './marks';
import type { Activity as WholeActivity, PermissionRequest, QuestionRequest, SessionStatus } from '../protocol';
import { createKeyedSignals } from './reactive';
import type { Sessions } from './sessions';
import { withParents } from './tasks';

export interface Activity {
  status(sessionID: string): SessionStatus;
  /** Its last turn failed, and the session was not opened since. */
  isFailed(sessionID: string): boolean;
  /** It finished a turn while another session was on screen. */
  isUnread(sessionID: string): boolean;
  /** Of every session, oldest first. */
  readonly permissions: Accessor<readonly PermissionRequest[]>;
  readonly questions: Accessor<readonly QuestionRequest[]>;
  /** Sessions with an open request, without repeats. A task's request counts for the session at its top. */
  readonly waiting: Accessor<readonly string[]>;
}

export interface ActivitySlice extends Activity {
  /** Sets the statuses and requests of all sessions. Returns the sessions that were busy and no longer are. */
  replace(activity: WholeActivity): { readonly sessionID: string; readonly failed: boolean }[];
  setStatus(sessionID: string, status: SessionStatus): void;
  markFailed(sessionID: string): void;
  markUnread(sessionID: string): void;
  /** The session is on screen: nothing about it is news any more. */
  markSeen(sessionID: string): void;
  putPermission(request: PermissionRequest): void;
  dropPermission(id: string): void;
  putQuestion(request: QuestionRequest): void;
  dropQuestion(id: string): void;
  /** The session was deleted. */
  forget(sessionID: string): void;
}

const IDLE: SessionStatus = { type: 'idle' };

export function createActivity(sessions: Pick<Sessions, 'get'>, storage?: MarkStorage): ActivitySlice {
  const statuses = createKeyedSignals<SessionStatus>();
  const failed = createMarks('lathe.failed', storage);
  const unread = createMarks('lathe.unread', storage);
  const [permissions, setPermissions] = createSignal<readonly PermissionRequest[]>([]);
  const [questions, setQuestions] = createSignal<readonly QuestionRequest[]>([]);

  const waiting = createMemo(
    () => {
      const asking = [...permissions(), ...questions()].map(({ sessionID }) => withParents(sessions, sessionID).at(-1) ?? sessionID);
      return [...new Set(asking)];
    },
    [],
    { equals: (a, b) => a.length === b.length && a.every((id, index) => id === b[index]) },
  );
  const markSeen = (sessionID: string) =>
    batch(() => {
      failed.delete(sessionID);
      unread.delete(sessionID);
    });

  const replace = ({ statuses: next, permissions, questions, failed }: WholeActivity) =>
    batch(() => {
      const ended = statuses.entries().flatMap(([id, { type }]) => (type !== 'idle' && !next[id] ? [id] : []));
      const known = new Set(failed);
      statuses.replace(Object.entries(next));
      setPermissions(permissions);
      setQuestions(questions);
      return ended.map((sessionID) => ({ sessionID, failed: known.has(sessionID) }));
    });

  return {
    status: (sessionID) => statuses.get(sessionID) ?? IDLE,
    isFailed: failed.has,
    isUnread: unread.has,
    permissions,
    questions,
    waiting,
    replace,
    setStatus: (sessionID, status) => statuses.set(sessionID, status),
    markFailed: failed.add,
    markUnread: unread.add,
    markSeen,
    putPermission: (request) => setPermissions((all) => [...without(all, request.id), request]),
    dropPermission: (id) => setPermissions((all) => without(all, id)),
    putQuestion: (request) => setQuestions((all) => [...without(all, request.id), request]),
    dropQuestion: (id) => setQuestions((all) => without(all, id)),
    forget(sessionID) {
      batch(() => {
        statuses.delete(sessionID);
        markSeen(sessionID);
      });
    },
  };
}

function without<T extends { id: string }>(requests: readonly T[], id: string): readonly T[] {
  return requests.filter((request) => request.id !== id);
}
