/**
 * What the window knows, and how each update changes it.
 *
 * Pure: state and update in, new state out, sharing everything that did not change, so that a
 * component redraws only when its own value is another one. Must not know Solid or the host.
 */
import type {
  ContextUse,
  Damaged,
  Event,
  LastUse,
  MessageView,
  PartView,
  PermissionRequest,
  Project,
  QuestionRequest,
  Session,
  SessionStatus,
  Todo,
  UiUpdate,
} from '../protocol';
import { compareMessages, compareParts, insertInOrder } from './order';

export interface UiState {
  readonly projects: readonly Project[];
  /** Every session we were told of, by id; a project's list is complete once it is in `listed`. */
  readonly sessions: Readonly<Record<string, Session>>;
  readonly listed: Readonly<Record<string, true>>;
  readonly statuses: Readonly<Record<string, SessionStatus>>;
  /** Sessions whose last turn failed and that nobody has looked at since. */
  readonly failed: Readonly<Record<string, true>>;
  /** Sessions that finished a turn while nobody looked. */
  readonly unread: Readonly<Record<string, true>>;
  /** Why nothing can be saved at the moment. */
  readonly storeProblem: string | null;
  /** What the agent waits for a person to say, in every session. */
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly QuestionRequest[];
  readonly open?: OpenSession;
  readonly opening?: OpeningSession;
}

export interface OpenSession {
  readonly sessionID: string;
  readonly messages: readonly MessageView[];
  readonly hasOlder: boolean;
  /** The agent's own list of what is left to do. */
  readonly todos: readonly Todo[];
  /** It was opened somewhere inside: what is told of later messages does not concern it. */
  readonly hasNewer: boolean;
  /** Prompts that wait for the next step and can still be changed. */
  readonly queued: readonly string[];
  /** How much was taken back, besides a pending revert, when the session was opened. */
  readonly undoable: number;
  /** How full the model’s context was when the session was opened. */
  readonly context: ContextUse;
  /** Whom the newest prompt went to, whether it is loaded or not. */
  readonly lastUse: LastUse | undefined;
  /** Stored files that could not be read. */
  readonly damaged: readonly Damaged[];
  /** We fell behind, or an update did not fit: the session must be opened anew. */
  readonly stale: boolean;
}

/** A session whose tail was asked for. Updates that overtake the answer wait for it here. */
export interface OpeningSession {
  readonly sessionID: string;
  readonly waiting: readonly UiUpdate[];
}

export const emptyState: UiState = {
  projects: [],
  sessions: {},
  listed: {},
  statuses: {},
  failed: {},
  unread: {},
  storeProblem: null,
  permissions: [],
  questions: [],
};

export function reduce(state: UiState, update: UiUpdate): UiState {
  if (!overtakes(state, update)) return apply(state, update);
  const held = hold(state, update);
  // The tail may be older than a status that overtook it: the status counts now and after it.
  return isStatus(update) ? apply(held, update) : held;
}

function apply(state: UiState, update: UiUpdate): UiState {
  switch (update.kind) {
    case 'event':
      return reduceEvent(state, update.event);
    case 'part':
      return onMessage(state, update.part.part.sessionID, update.part.part.messageID, (message) =>
        putPart(message, update.part),
      );
    case 'blocks':
      return onBlocks(state, update);
    case 'reset':
      return onOpen(state, update.sessionID, (open) => ({ ...open, stale: true }));
    case 'queue':
      return onOpen(state, update.sessionID, (open) => ({ ...open, queued: update.messages }));
    case 'store':
      return { ...state, storeProblem: update.problem };
  }
}

export function reduceAll(state: UiState, updates: readonly UiUpdate[]): UiState {
  return updates.reduce(reduce, state);
}

function overtakes(state: UiState, update: UiUpdate): boolean {
  if (!state.opening || sessionOf(update) !== state.opening.sessionID) return false;
  if (update.kind !== 'event') return true;
  return update.event.type.startsWith('message.') || update.event.type === 'todo.updated' || isStatus(update);
}

function isStatus(update: UiUpdate): boolean {
  return update.kind === 'event' && (update.event.type === 'session.status' || update.event.type === 'session.idle');
}

function hold(state: UiState, update: UiUpdate): UiState {
  if (!state.opening) return state;
  return { ...state, opening: { ...state.opening, waiting: [...state.opening.waiting, update] } };
}

function sessionOf(update: UiUpdate): string | undefined {
  switch (update.kind) {
    case 'part':
      return update.part.part.sessionID;
    case 'blocks':
    case 'queue':
    case 'reset':
      return update.sessionID;
    case 'event':
      if (update.event.type === 'message.updated') return update.event.properties.info.sessionID;
      return 'sessionID' in update.event.properties ? update.event.properties.sessionID : undefined;
    case 'store':
      return undefined;
  }
}

/** Told of a session that goes on all the same: its turn has not failed. */
export function isWarning(error: { readonly name: string } | undefined): boolean {
  return error?.name === 'NoSnapshotError';
}

function reduceEvent(state: UiState, event: Event): UiState {
  switch (event.type) {
    case 'session.created':
    case 'session.updated':
      return putSession(state, event.properties.info);
    case 'session.deleted':
      return dropSession(state, event.properties.info.id);
    case 'session.status':
      return putStatus(state, event.properties.sessionID, event.properties.status);
    case 'session.idle':
      return putUnread(putStatus(state, event.properties.sessionID, { type: 'idle' }), event.properties.sessionID);
    case 'session.error':
      if (isWarning(event.properties.error)) return state;
      return putFailure(state, event.properties.sessionID, event.properties.error?.name);
    case 'message.updated':
      return putMessage(state, event.properties.info);
    case 'message.removed':
      return onOpen(state, event.properties.sessionID, (open) => ({
        ...open,
        messages: open.messages.filter((message) => message.info.id !== event.properties.messageID),
      }));
    case 'message.part.removed':
      return onMessage(state, event.properties.sessionID, event.properties.messageID, (message) => ({
        ...message,
        parts: message.parts.filter((view) => view.part.id !== event.properties.partID),
      }));
    case 'todo.updated':
      return onOpen(state, event.properties.sessionID, (open) => ({ ...open, todos: event.properties.todos }));
    case 'permission.asked':
      return { ...state, permissions: withRequest(state.permissions, event.properties) };
    case 'permission.replied':
      return { ...state, permissions: without(state.permissions, event.properties.requestID) };
    case 'question.asked':
      return { ...state, questions: withRequest(state.questions, event.properties) };
    case 'question.replied':
    case 'question.rejected':
      return { ...state, questions: without(state.questions, event.properties.requestID) };
    // The rest is drawn by rooms that listen for it themselves, or comes as another kind of update.
    default:
      return state;
  }
}

function withRequest<T extends { id: string }>(requests: readonly T[], request: T): readonly T[] {
  return [...without(requests, request.id), request];
}

function without<T extends { id: string }>(requests: readonly T[], id: string): readonly T[] {
  return requests.filter((request) => request.id !== id);
}

export function putSession(state: UiState, session: Session): UiState {
  return { ...state, sessions: { ...state.sessions, [session.id]: session } };
}

export function dropSession(state: UiState, sessionID: string): UiState {
  if (!(sessionID in state.sessions)) return state;
  const { [sessionID]: _session, ...sessions } = state.sessions;
  const { [sessionID]: _status, ...statuses } = state.statuses;
  const { [sessionID]: _failed, ...failed } = state.failed;
  const { [sessionID]: _unread, ...unread } = state.unread;
  const open = state.open?.sessionID === sessionID ? undefined : state.open;
  return { ...state, sessions, statuses, failed, unread, open };
}

export function putStatus(state: UiState, sessionID: string, status: SessionStatus): UiState {
  return { ...state, statuses: { ...state.statuses, [sessionID]: status } };
}

function putFailure(state: UiState, sessionID: string | undefined, name: string | undefined): UiState {
  const seen = sessionID === undefined || state.open?.sessionID === sessionID;
  if (seen || name === 'MessageAbortedError') return state;
  return { ...state, failed: { ...state.failed, [sessionID]: true } };
}

function putUnread(state: UiState, sessionID: string): UiState {
  if (state.open?.sessionID === sessionID || state.opening?.sessionID === sessionID) return state;
  return { ...state, unread: { ...state.unread, [sessionID]: true } };
}

function putMessage(state: UiState, info: MessageView['info']): UiState {
  return onOpen(state, info.sessionID, (shown) => {
    const open = withUse(shown, info);
    const at = findMessage(open, info.id);
    if (at === -1) {
      // It belongs to a page that is not loaded, and will come with it.
      const last = open.messages.at(-1);
      if (open.hasOlder && open.messages[0] && compareMessages(info, open.messages[0].info) < 0) return open;
      if (open.hasNewer && last && compareMessages(info, last.info) > 0) return open;
      const fresh: MessageView = { info, parts: [] };
      const messages = insertInOrder(open.messages, fresh, (a, b) => compareMessages(a.info, b.info));
      return { ...open, messages };
    }
    return replaceMessage(open, at, { ...(open.messages[at] as MessageView), info });
  });
}

/** Also where the prompt itself is not shown: who is asked next does not depend on what is loaded. */
function withUse(open: OpenSession, info: MessageView['info']): OpenSession {
  if (info.role !== 'user' || info.time.created < (open.lastUse?.created ?? 0)) return open;
  const { agent, model, variant } = info;
  const lastUse: LastUse = {
    created: info.time.created,
    ...(agent !== undefined && { agent }),
    ...(model && { model }),
    ...(variant !== undefined && { variant }),
  };
  return { ...open, lastUse };
}

function putPart(message: MessageView, view: PartView): MessageView {
  const at = message.parts.findIndex((known) => known.part.id === view.part.id);
  if (at === -1) {
    return { ...message, parts: insertInOrder(message.parts, view, (a, b) => compareParts(a.part, b.part)) };
  }
  return { ...message, parts: message.parts.with(at, view) };
}

type BlocksUpdate = Extract<UiUpdate, { kind: 'blocks' }>;

function onBlocks(state: UiState, update: BlocksUpdate): UiState {
  return onOpen(state, update.sessionID, (open) => {
    const at = findMessage(open, update.messageID);
    const message = open.messages[at];
    if (!message && open.hasNewer) return open;
    const part = message?.parts.findIndex((known) => known.part.id === update.partID) ?? -1;
    const view = message?.parts[part];
    const known = view?.blocks ?? [];
    // A prefix we never saw cannot be kept.
    if (!message || !view || known.length < update.keep) return { ...open, stale: true };
    const blocks = [...known.slice(0, update.keep), ...update.blocks];
    return replaceMessage(open, at, { ...message, parts: message.parts.with(part, { ...view, blocks }) });
  });
}

function onOpen(state: UiState, sessionID: string, change: (open: OpenSession) => OpenSession): UiState {
  if (state.open?.sessionID !== sessionID) return state;
  return { ...state, open: change(state.open) };
}

function onMessage(
  state: UiState,
  sessionID: string,
  messageID: string,
  change: (message: MessageView) => MessageView,
): UiState {
  return onOpen(state, sessionID, (open) => {
    const at = findMessage(open, messageID);
    if (at === -1) return open;
    return replaceMessage(open, at, change(open.messages[at] as MessageView));
  });
}

/** From the end, where the work is. */
function findMessage(open: OpenSession, messageID: string): number {
  return open.messages.findLastIndex((message) => message.info.id === messageID);
}

function replaceMessage(open: OpenSession, at: number, message: MessageView): OpenSession {
  return { ...open, messages: open.messages.with(at, message) };
}
