/** The sessions of a session's tasks, and of their tasks. Pure. */
import type { Session } from '../protocol';

export function tasksOf(sessions: readonly Session[], sessionID: string): Session[] {
  const found = new Map<string, Session>();
  const look = (parentID: string) => {
    for (const session of sessions) {
      // Imported data may have cycles of parents.
      if (session.parentID !== parentID || session.id === sessionID || found.has(session.id)) continue;
      found.set(session.id, session);
      look(session.id);
    }
  };
  look(sessionID);
  return [...found.values()];
}
