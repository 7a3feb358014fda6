/** What the scripted sessions are doing, gathered from the events that were sent. */
import type { Activity, Event, PermissionRequest, QuestionRequest, Session, UiUpdate } from '../../protocol';

interface FakeActivity {
  record(update: UiUpdate): void;
  /** What a window is sent first, and after updates were lost. */
  whole(): UiUpdate;
}

export function createFakeActivity(sessions: ReadonlyMap<string, Session>): FakeActivity {
  const statuses = new Map<string, Activity['statuses'][string]>();
  const permissions = new Map<string, PermissionRequest>();
  const questions = new Map<string, QuestionRequest>();

  const recordEvent = (event: Event) => {
    switch (event.type) {
      case 'session.status':
        if (event.properties.status.type === 'idle') statuses.delete(event.properties.sessionID);
        else statuses.set(event.properties.sessionID, event.properties.status);
        break;
      case 'session.idle':
        statuses.delete(event.properties.sessionID);
        break;
      case 'permission.asked':
        permissions.set(event.properties.id, event.properties);
        break;
      case 'permission.replied':
        permissions.delete(event.properties.requestID);
        break;
      case 'question.asked':
        questions.set(event.properties.id, event.properties);
        break;
      case 'question.replied':
      case 'question.rejected':
        questions.delete(event.properties.requestID);
        break;
    }
  };
  return {
    record: (update) => update.kind === 'event' && recordEvent(update.event),
    whole: () => ({
      kind: 'activity',
      activity: {
        statuses: Object.fromEntries(statuses),
        failed: [],
        permissions: [...permissions.values()],
        questions: [...questions.values()],
        sessions: [...sessions.values()].filter(({ id }) => statuses.has(id)),
      },
    }),
  };
}
