/** Diffs, reverts and forks of the scripted host. */
import type { FileDiffView, MessageView, RevertFile, RevertTarget, Session, SnapshotPart, UiUpdate } from '../../protocol';
import type { Host } from '../host';
import { changedFiles, drawnFile, foldedHunks } from './changes';
import type { Clock } from './ids';

type Answers = Pick<
  Host,
  | 'sessionDiff'
  | 'fileDiff'
  | 'previewRevert'
  | 'revert'
  | 'unrevert'
  | 'fork'
  | 'checkpoint'
  | 'sharePreview'
  | 'shareSession'
  | 'unshareSession'
  | 'openShared'
  | 'exportSession'
  | 'importSession'
>;

interface FakeWorld {
  readonly clock: Clock;
  readonly sessions: Map<string, Session>;
  readonly messages: Map<string, MessageView[]>;
  find(id: string): Session;
  told(session: Session): void;
  emit(...updates: UiUpdate[]): void;
  isBusy(id: string): boolean;
}

const OUTDATED = "this change is not part of the file's changes any more";
const BUSY = { code: 'busy', message: 'This session is being worked on; wait for it or stop it first' } as const;

export function createFakeReview(world: FakeWorld): Answers & { undoable(sessionID: string): number } {
  /** The reverted files of each session, oldest first; a pending revert comes on top. */
  const rounds = new Map<string, string[][]>();
  const cut = new Map<string, string[]>();
  const roundsOf = (sessionID: string) => rounds.get(sessionID) ?? [];
  const files = (sessionID: string) => {
    const gone = new Set([...roundsOf(sessionID).flat(), ...(cut.get(sessionID) ?? [])]);
    return changedFiles.filter((file) => !gone.has(file.path));
  };
  const touched = (sessionID: string, target: RevertTarget): RevertFile[] => {
    if (target.kind === 'message' && target.keepFiles) return [];
    const named = target.kind === 'file' || target.kind === 'hunk' ? target.path : undefined;
    const known = (file: FileDiffView) =>
      target.kind !== 'hunk' || foldedHunks(file).some((hunk) => hunk.fingerprint === target.fingerprint);
    return files(sessionID)
      .filter((file) => named === undefined || file.path === named)
      .map((file) => {
        if (!known(file)) return { path: file.path, change: 'conflict', reason: OUTDATED, additions: 0, deletions: 0 };
        const change = file.status === 'added' ? 'delete' : 'restore';
        return { path: file.path, change, additions: file.deletions, deletions: file.additions };
      });
  };
  const hidden = (sessionID: string, target: RevertTarget) => {
    if (target.kind !== 'message' && target.kind !== 'part') return 0;
    const all = world.messages.get(sessionID) ?? [];
    const at = all.findIndex((message) => message.info.id === target.messageID);
    return at === -1 ? 0 : all.length - at - (target.kind === 'part' ? 1 : 0);
  };
  const keep = (session: Session) => {
    world.sessions.set(session.id, session);
    world.told(session);
    return session;
  };
  const guard = (sessionID: string) => {
    if (world.isBusy(sessionID)) throw BUSY;
    return world.find(sessionID);
  };
  const totals = (list: readonly FileDiffView[]) => ({
    additions: list.reduce((sum, file) => sum + file.additions, 0),
    deletions: list.reduce((sum, file) => sum + file.deletions, 0),
  });

  return {
    undoable: (sessionID) => roundsOf(sessionID).length,
    sessionDiff: async (sessionID, messageID) => {
      world.find(sessionID);
      const list = files(sessionID);
      return { sessionID, ...(messageID === undefined ? {} : { messageID }), files: list, ...totals(list) };
    },
    fileDiff: async (_sessionID, _messageID, path, whole) => {
      const file = changedFiles.find((one) => one.path === path);
      if (!file) throw { code: 'not-found', message: `there is no changed file ${path}` };
      return drawnFile(file, whole);
    },
    previewRevert: async (sessionID, target) => ({
      files: touched(sessionID, target),
      hidesMessages: hidden(sessionID, target),
    }),
    revert: async (sessionID, target) => {
      let session = guard(sessionID);
      const outcome = { files: touched(sessionID, target), hidesMessages: hidden(sessionID, target) };
      const done = outcome.files.filter((file) => file.change !== 'conflict').map((file) => file.path);
      if (target.kind === 'message' || target.kind === 'part') {
        cut.set(sessionID, [...(cut.get(sessionID) ?? []), ...done]);
        const { messageID } = target;
        session = keep({ ...session, revert: target.kind === 'part' ? { messageID, partID: target.partID } : { messageID } });
      } else if (done.length > 0) rounds.set(sessionID, [...roundsOf(sessionID), done]);
      return { session, ...outcome, undoable: roundsOf(sessionID).length };
    },
    unrevert: async (sessionID) => {
      const { revert, ...session } = guard(sessionID);
      if (revert) cut.delete(sessionID);
      else if (roundsOf(sessionID).length > 0) rounds.set(sessionID, roundsOf(sessionID).slice(0, -1));
      else throw { code: 'refused', message: 'There is nothing to bring back' };
      return { session: keep(session), files: [], hidesMessages: 0, undoable: roundsOf(sessionID).length };
    },
    fork: async (sessionID, messageID, worktree) => {
      const source = world.find(sessionID);
      const now = Date.now();
      const session: Session = {
        ...source,
        id: world.clock.id('ses'),
        title: `${source.title} (fork)`,
        directory: worktree ? `${source.directory}-quiet-lamp` : source.directory,
        forkedFrom: { sessionID, ...(messageID === null ? {} : { messageID }) },
        time: { created: now, updated: now },
      };
      const all = world.messages.get(sessionID) ?? [];
      const end = messageID === null ? all.length : all.findIndex((message) => message.info.id === messageID);
      world.messages.set(session.id, all.slice(0, Math.max(0, end)));
      world.sessions.set(session.id, session);
      world.emit({ kind: 'event', event: { type: 'session.created', properties: { info: session } } });
      return session;
    },
    sharePreview: async (sessionID) => ({
      messages: world.messages.get(sessionID)?.length ?? 0,
      redacted: [
        { what: 'API key', sample: 'sk-a…', count: 2 },
        { what: 'home folder', sample: '~', count: 14 },
      ],
    }),
    shareSession: async (sessionID) =>
      keep({ ...world.find(sessionID), share: { url: 'file:///home/you/lantern.html' } }),
    openShared: async () => {},
    unshareSession: async (sessionID) => {
      const { share: _share, ...session } = world.find(sessionID);
      return keep(session);
    },
    exportSession: async () => '/home/you/lantern.json',
    importSession: async () => ({ added: 1, already: 0, unreadable: [] }),
    checkpoint: async (sessionID, name) => {
      const last = world.messages.get(sessionID)?.at(-1);
      const part: SnapshotPart & { type: 'snapshot' } = {
        type: 'snapshot',
        id: world.clock.id('prt'),
        sessionID,
        messageID: last?.info.id ?? world.clock.id('msg'),
        snapshot: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
        name,
      };
      if (last) world.emit({ kind: 'part', part: { part } });
      return part;
    },
  };
}
