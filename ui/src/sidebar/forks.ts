/** Arranges sessions with their forks below them. A fork whose origin is not in the list is at the top level. */
import type { Session } from '../protocol';

interface TreeRow {
  readonly session: Session;
  readonly depth: number;
}

/** `sessions` newest first; a tree is placed by its newest session. */
export function forkTree(sessions: readonly Session[]): TreeRow[] {
  const byID = new Map(sessions.map((session) => [session.id, session]));
  const origin = (session: Session): Session | undefined => {
    const from = originOf(session);
    return from === undefined || from === session.id ? undefined : byID.get(from);
  };
  const forks = new Map<string, Session[]>();
  const roots = new Set<Session>();
  for (const session of sessions) {
    const from = origin(session);
    if (from && !isBelow(from, session, origin)) forks.set(from.id, [...(forks.get(from.id) ?? []), session]);
    roots.add(rootOf(session, origin));
  }
  const rows: TreeRow[] = [];
  const add = (session: Session, depth: number) => {
    rows.push({ session, depth });
    for (const fork of forks.get(session.id) ?? []) add(fork, depth + 1);
  };
  for (const root of roots) add(root, 0);
  return rows;
}

function originOf(session: Session): string | undefined {
  return session.forkedFrom?.sessionID;
}

function rootOf(session: Session, origin: (session: Session) => Session | undefined): Session {
  let root = session;
  for (let above = origin(root); above && !isBelow(above, root, origin); above = origin(root)) root = above;
  return root;
}

/** Imported data may have cycles of forks. */
function isBelow(session: Session, other: Session, origin: (session: Session) => Session | undefined): boolean {
  const seen = new Set<string>();
  for (let above: Session | undefined = session; above && !seen.has(above.id); above = origin(above)) {
    if (above.id === other.id) return true;
    seen.add(above.id);
  }
  return false;
}
