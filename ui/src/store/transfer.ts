/** Shares, exports and imports sessions, with a notice about the result. */
import { en } from '../i18n/en';
import { visible } from '../text/visible';
import type { ImportReport } from '../protocol';
import type { Core } from './app';

export interface Transfer {
  /** False if the dialog was dismissed or sharing failed. */
  share(sessionID: string): Promise<boolean>;
  /** False if it failed. */
  unshare(sessionID: string): Promise<boolean>;
  /** Exports to a file that a dialog asks for. */
  exportSession(sessionID: string): Promise<void>;
  /** Imports from a file that a dialog asks for. */
  importSession(): Promise<void>;
}

interface TransferNeeds {
  readonly core: Core;
  select(sessionID: string): Promise<void>;
  /** Loads the projects and the sessions again. */
  refresh(): Promise<void>;
}

/** Further unreadable files are only counted. */
const NAMED = 3;

export function createTransfer({ core, select, refresh }: TransferNeeds): Transfer {
  const { host, state, toasts, attempt } = core;

  /** The new session, if there is exactly one. */
  const arrived = async (work: () => Promise<void>): Promise<string | undefined> => {
    const before = new Set(state.sessions.all().map(({ id }) => id));
    await work();
    const fresh = state.sessions.all().filter(({ id }) => !before.has(id));
    return fresh.length === 1 ? fresh[0]?.id : undefined;
  };

  return {
    async share(sessionID) {
      const shared = await attempt(() => host.shareSession(sessionID));
      if (!shared) return false;
      state.sessions.put(shared);
      return true;
    },
    async unshare(sessionID) {
      if (state.sessions.get(sessionID)?.share === undefined) {
        toasts.show({ tone: 'info', text: en.share.never });
        return true;
      }
      const back = await attempt(() => host.unshareSession(sessionID));
      if (!back) return false;
      state.sessions.put(back);
      toasts.show({ tone: 'info', text: en.share.takenBack });
      return true;
    },
    async exportSession(sessionID) {
      const path = await attempt(() => host.exportSession(sessionID));
      if (typeof path !== 'string') return;
      const open = () => void attempt(() => host.openInEditor(sessionID, path, null));
      toasts.show({
        tone: 'info',
        text: en.transfer.exported,
        detail: visible(path),
        action: { label: en.transfer.openFile, run: open },
      });
    },
    async importSession() {
      const report = await attempt(() => host.importSession());
      if (!report) return;
      const made = await arrived(refresh);
      toasts.show({
        tone: report.added === 0 && report.unreadable.length > 0 ? 'error' : 'info',
        text: en.imports.done(report.added, report.already),
        detail: unreadable(report),
        action: made === undefined ? undefined : { label: en.transfer.openSession, run: () => void select(made) },
      });
    },
  };
}

function unreadable({ unreadable: list }: ImportReport): string | undefined {
  if (list.length === 0) return undefined;
  const named = list.slice(0, NAMED).map(({ what, why }) => visible(`${what} (${why})`));
  return en.transfer.unreadable(named.join('; '), list.length - named.length);
}
