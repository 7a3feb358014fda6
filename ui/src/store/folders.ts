/**
 * The branch of each folder that sessions work in, and how much of it is uncommitted. One slice of the
 * state. Must not know the DOM.
 */
import { createEffect, on, type Accessor } from 'solid-js';
import type { Host } from '../host/host';
import type { GitFolder, UiUpdate } from '../protocol';
import { createKeyedSignals } from './reactive';

export interface Folders {
  /** Undefined where there is no git, and until it is known. */
  of(directory: string): GitFolder | undefined;
  /** Loads the folders of a project, and again whenever they may have changed. */
  follow(projectID: string): void;
  refresh(): void;
  hear(update: UiUpdate): void;
}

interface FoldersNeeds {
  readonly host: Pick<Host, 'gitFolders'>;
  /** Changes with what is known of the open session's folder. */
  readonly moment: Accessor<unknown>;
}

export function createFolders({ host, moment }: FoldersNeeds): Folders {
  const known = createKeyedSignals<GitFolder>();
  const followed = new Set<string>();
  /** Projects that are being read, and whether they have to be read once more. */
  const running = new Map<string, boolean>();
  const load = async (projectID: string): Promise<void> => {
    if (running.has(projectID)) return void running.set(projectID, true);
    running.set(projectID, false);
    const found = await host.gitFolders(projectID).catch(() => []);
    const again = running.get(projectID) === true;
    running.delete(projectID);
    for (const folder of found) {
      if (!isSame(known.get(folder.directory), folder)) known.set(folder.directory, folder);
    }
    if (again) await load(projectID);
  };
  const refresh = () => followed.forEach((id) => void load(id));
  createEffect(on(moment, refresh, { defer: true }));
  return {
    of: (directory) => known.get(directory),
    follow(projectID) {
      if (followed.has(projectID)) return;
      followed.add(projectID);
      void load(projectID);
    },
    refresh,
    hear(update) {
      if (update.kind !== 'event') return;
      const { type } = update.event;
      if (type === 'session.idle' || type === 'session.created') refresh();
    },
  };
}

function isSame(a: GitFolder | undefined, b: GitFolder): boolean {
  return a?.branch === b.branch && a?.uncommitted === b.uncommitted;
}
