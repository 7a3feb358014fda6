/** What the user's own steps and the host's answers do to the state. Pure, like reduce.ts. */
import type { AppStart, MessagePage, ProjectOpened, Session, SessionView } from '../protocol';
import { projectOf, shownProjects } from './projects';
import { putStatus, reduceAll, type UiState } from './reduce';

export function started(state: UiState, start: AppStart): UiState {
  return { ...state, projects: shownProjects(start.projects) };
}

export function projectOpened(state: UiState, opened: ProjectOpened): UiState {
  const others = state.projects.filter((project) => project.id !== opened.project.id);
  const projects = shownProjects([opened.project, ...others]);
  return sessionsListed({ ...state, projects }, opened.project.id, opened.sessions);
}

/** The list is the truth for its project: what it does not name is gone. */
export function sessionsListed(state: UiState, projectID: string, list: readonly Session[]): UiState {
  const elsewhere = (session: Session) =>
    session.projectID !== projectID && projectOf(state.projects, session)?.id !== projectID;
  const others = Object.entries(state.sessions).filter(([, session]) => elsewhere(session));
  const sessions = Object.fromEntries([...others, ...list.map((session) => [session.id, session] as const)]);
  return { ...state, sessions, listed: { ...state.listed, [projectID]: true } };
}

export function opening(state: UiState, sessionID: string): UiState {
  return { ...state, opening: { sessionID, waiting: [] } };
}

/** The tail came. An answer for a session we no longer wait for changes nothing. */
export function opened(state: UiState, view: SessionView): UiState {
  const sessionID = view.session.id;
  if (state.opening?.sessionID !== sessionID) return state;
  const { waiting } = state.opening;
  const { [sessionID]: _seen, ...failed } = state.failed;
  const { [sessionID]: _read, ...unread } = state.unread;
  const open = {
    sessionID,
    messages: view.messages,
    hasOlder: view.hasOlder,
    todos: view.todos,
    hasNewer: view.hasNewer,
    queued: view.queued,
    undoable: view.undoable,
    context: view.context,
    lastUse: view.lastUse ?? undefined,
    damaged: view.damaged,
    stale: false,
  };
  const sessions = { ...state.sessions, [sessionID]: view.session };
  // The view also holds what the session’s tasks wait for.
  const elsewhere = (shown: readonly { id: string }[]) => (request: { id: string; sessionID: string }) =>
    request.sessionID !== sessionID && !shown.some((one) => one.id === request.id);
  const permissions = [...state.permissions.filter(elsewhere(view.permissions)), ...view.permissions];
  const questions = [...state.questions.filter(elsewhere(view.questions)), ...view.questions];
  const next = { ...state, sessions, failed, unread, permissions, questions, open, opening: undefined };
  const shown = putStatus(next, sessionID, view.status);
  return reduceAll(shown, waiting);
}

export function openingFailed(state: UiState, sessionID: string): UiState {
  return state.opening?.sessionID === sessionID ? { ...state, opening: undefined } : state;
}

/** A page belongs before the message it was asked for: what stands elsewhere by now has no use for it. */
export function olderLoaded(state: UiState, sessionID: string, before: string, page: MessagePage): UiState {
  if (state.open?.sessionID !== sessionID || state.open.messages[0]?.info.id !== before) return state;
  const known = new Set(state.open.messages.map((message) => message.info.id));
  const fresh = page.messages.filter((message) => !known.has(message.info.id));
  const messages = [...fresh, ...state.open.messages];
  const damaged = [...page.damaged, ...state.open.damaged];
  return { ...state, open: { ...state.open, messages, damaged, hasOlder: page.hasOlder } };
}

export function newerLoaded(state: UiState, sessionID: string, after: string, page: MessagePage): UiState {
  if (state.open?.sessionID !== sessionID || state.open.messages.at(-1)?.info.id !== after) return state;
  const known = new Set(state.open.messages.map((message) => message.info.id));
  const fresh = page.messages.filter((message) => !known.has(message.info.id));
  const messages = [...state.open.messages, ...fresh];
  const damaged = [...state.open.damaged, ...page.damaged];
  return { ...state, open: { ...state.open, messages, damaged, hasNewer: page.hasNewer } };
}

export function closed(state: UiState): UiState {
  return { ...state, open: undefined, opening: undefined };
}
