/**
 * Assigns sessions to projects. A project's id can change (when a folder gets its first commit), so a
 * session also belongs to the project whose folder contains its directory.
 */
import type { Project, Session } from '../protocol';

/** One project per folder: the last used one, whatever other ids the folder has had. */
export function shownProjects(projects: readonly Project[]): Project[] {
  const folders = new Set<string>();
  return projects.filter((project) => {
    const fresh = !folders.has(project.worktree);
    folders.add(project.worktree);
    return fresh;
  });
}

/** The project under which a session is listed. */
export function projectOf(projects: readonly Project[], session: Session): Project | undefined {
  const own = projects.find((project) => project.id === session.projectID);
  if (own) return own;
  // The innermost folder wins.
  return projects
    .filter((project) => isWithin(session.directory, project.worktree))
    .sort((a, b) => b.worktree.length - a.worktree.length)[0];
}

/** A project's sessions without those of tasks, newest activity first. */
export function listOf(
  sessions: readonly Session[],
  projects: readonly Project[],
  projectID: string,
): Session[] {
  return sessions
    .filter((session) => session.parentID === undefined && projectOf(projects, session)?.id === projectID)
    .sort((a, b) => b.time.updated - a.time.updated);
}

/** The folder that a session's paths are relative to. A fork may have its own worktree. */
export function rootOf(project: Project | undefined, session: Session | undefined): string {
  const worktree = project?.worktree ?? session?.directory ?? '';
  return session && !isWithin(session.directory, worktree) ? session.directory : worktree;
}

function isWithin(directory: string, folder: string): boolean {
  if (folder === '' || !directory.startsWith(folder)) return false;
  const next = directory[folder.length];
  return next === undefined || next === '/' || next === '\\' || /[/\\]$/.test(folder);
}
