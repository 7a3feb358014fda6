/**
 * What the window knows, in slices, and how each update of the core changes it.
 *
 * A slice is a file that holds its signals and the only functions that set them. What concerns
 * several slices is here. Must not know the host or the DOM.
 */
import { batch, createSignal, untrack, type Accessor } from 'solid-js';
import type { Activity, Event, SessionView, UiUpdate } from '../protocol';
import { createActivity, type ActivitySlice } from './activity';
import type { MarkStorage } from './marks';
import { createSessions, type SessionsSlice } from './sessions';
import { createTimeline, type TimelineSlice } from './timeline';

export interface State {
  readonly sessions: SessionsSlice;
  readonly activity: ActivitySlice;
  readonly timeline: TimelineSlice;
  /** Why nothing can be saved at the moment. */
  readonly storeProblem: Accessor<string | null>;
  /** As one change: no reader runs before all of them are applied. */
  apply(updates: readonly UiUpdate[]): void;
  /** The newest messages of the session that is being opened. */
  show(view: SessionView): void;
  dropSession(sessionID: string): void;
}

/** `storage`: where the marks of sessions are kept. */
export function createState(storage?: MarkStorage): State {
  const sessions = createSessions();
  const activity = createActivity(sessions, storage);
  const timeline = createTimeline();
  const [storeProblem, setStoreProblem] = createSignal<string | null>(null);

  const isOnScreen = (sessionID: string) => timeline.open()?.sessionID === sessionID;
  const isOpened = (sessionID: string) => isOnScreen(sessionID) || timeline.opening() === sessionID;
  const dropSession = (sessionID: string) =>
    batch(() => {
      sessions.drop(sessionID);
      activity.forget(sessionID);
      if (isOnScreen(sessionID)) timeline.close();
    });

  const applyEvent = (event: Event) => {
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
        return sessions.put(event.properties.info);
      case 'session.deleted':
        return dropSession(event.properties.info.id);
      case 'session.status':
        return activity.setStatus(event.properties.sessionID, event.properties.status);
      case 'session.idle': {
        const { sessionID } = event.properties;
        activity.setStatus(sessionID, { type: 'idle' });
        if (!isOpened(sessionID)) activity.markUnread(sessionID);
        return;
      }
      case 'session.error': {
        const { sessionID, error } = event.properties;
        if (isWarning(error) || error?.name === 'MessageAbortedError') return;
        if (sessionID !== undefined && !isOnScreen(sessionID)) activity.markFailed(sessionID);
        return;
      }
      case 'permission.asked':
        return activity.putPermission(event.properties);
      case 'permission.replied':
        return activity.dropPermission(event.properties.requestID);
      case 'question.asked':
        return activity.putQuestion(event.properties);
      case 'question.replied':
      case 'question.rejected':
        return activity.dropQuestion(event.properties.requestID);
    }
  };
  const applyActivity = (whole: Activity) => {
    whole.sessions.forEach(sessions.put);
    for (const { sessionID, failed } of activity.replace(whole)) {
      if (!isOpened(sessionID)) activity.markUnread(sessionID);
      if (failed && !isOnScreen(sessionID)) activity.markFailed(sessionID);
    }
  };
  const apply = (update: UiUpdate) => {
    timeline.apply(update);
    if (update.kind === 'event') applyEvent(update.event);
    else if (update.kind === 'activity') applyActivity(update.activity);
    else if (update.kind === 'store') setStoreProblem(update.problem);
  };

  return {
    sessions,
    activity,
    timeline,
    storeProblem,
    apply: (updates) => untrack(() => batch(() => updates.forEach(apply))),
    show: (view) =>
      batch(() => {
        if (!timeline.show(view)) return;
        sessions.put(view.session);
        activity.markSeen(view.session.id);
      }),
    dropSession,
  };
}

/** The session goes on all the same: its turn has not failed. */
export function isWarning(error: { readonly name: string } | undefined): boolean {
  return error?.name === 'NoSnapshotError';
}
