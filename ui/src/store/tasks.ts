/** The sessions of the tasks that a session handed out, and theirs in turn. Pure. */
import type { Session } from '../protocol';

export function tasksOf(sessions: readonly Session[], sessionID: string): Session[] {
  const found = new Map<string, Session>();
  const look = (parentID: string) => {
    for (const session of sessions) {
      // Foreign data may say that two sessions are each other's task.
      if (session.parentID !== parentID || session.id === sessionID || found.has(session.id)) continue;
      found.set(session.id, session);
      look(session.id);
    }
  };
  look(sessionID);
  return [...found.values()];
}
