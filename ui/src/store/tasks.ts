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

/** A session and those whose task it is, up to the one at the top, in whose timeline it is answered. */
export function withParents(sessions: { get(id: string): Session | undefined }, sessionID: string): string[] {
  const found = [sessionID];
  for (;;) {
    const above = sessions.get(found.at(-1) ?? '')?.parentID;
    // Imported data may have cycles of parents.
    if (above === undefined || found.includes(above) || !sessions.get(above)) return found;
    found.push(above);
  }
}
