/** The projects, and the sessions that the window knows of. One slice of the state. */
import { batch, createSignal, type Accessor } from 'solid-js';
import type { Project, ProjectOpened, Session } from '../protocol';
import { projectOf, shownProjects } from './projects';
import { createKeyedSignals } from './reactive';

export interface Sessions {
  readonly projects: Accessor<readonly Project[]>;
  get(sessionID: string): Session | undefined;
  /** Depends on every session; use `get` for one of them. */
  all(): readonly Session[];
  /** The list of this project is complete. */
  isListed(projectID: string): boolean;
}

export interface SessionsSlice extends Sessions {
  setProjects(projects: readonly Project[]): void;
  openProject(opened: ProjectOpened): void;
  /** Counts every change of a single session. */
  version(): number;
  /**
   * Replaces the sessions of a project: what the list does not name is gone. A session that changed after `since`,
   * the version when the list was asked for, stays as it is: the list may be older.
   */
  list(projectID: string, sessions: readonly Session[], since?: number): void;
  /** The lists may be out of date; they are asked for again when they are shown. */
  unlist(): void;
  put(session: Session): void;
  drop(sessionID: string): void;
}

export function createSessions(): SessionsSlice {
  const [projects, setProjects] = createSignal<readonly Project[]>([]);
  const sessions = createKeyedSignals<Session>();
  const listed = createKeyedSignals<true>();

  let version = 0;
  const changedAt = new Map<string, number>();
  const note = (sessionID: string) => changedAt.set(sessionID, ++version);

  const list = (projectID: string, found: readonly Session[], since = version) => {
    const isNewer = ({ id }: Session) => (changedAt.get(id) ?? 0) > since;
    const isElsewhere = (session: Session) =>
      session.projectID !== projectID && projectOf(projects(), session)?.id !== projectID;
    const kept = sessions.values().filter((session) => isElsewhere(session) || isNewer(session));
    const next = [...kept, ...found.filter((session) => !isNewer(session))];
    batch(() => {
      sessions.replace(next.map((session) => [session.id, session]));
      listed.set(projectID, true);
    });
  };
  return {
    projects,
    get: sessions.get,
    all: sessions.values,
    isListed: (projectID) => listed.get(projectID) === true,
    setProjects: (found) => setProjects(shownProjects(found)),
    openProject(opened) {
      const others = projects().filter((project) => project.id !== opened.project.id);
      batch(() => {
        setProjects(shownProjects([opened.project, ...others]));
        list(opened.project.id, opened.sessions);
      });
    },
    list,
    unlist: () => listed.replace([]),
    version: () => version,
    put(session) {
      note(session.id);
      sessions.set(session.id, session);
    },
    drop(sessionID) {
      note(sessionID);
      sessions.delete(sessionID);
    },
  };
}
