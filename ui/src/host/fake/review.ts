/** Diffs, reverts and forks of the scripted host. */
import type { FileDiffView, MessageView, RevertedItem, RevertFile, RevertTarget, Session, SnapshotPart, UiError, UiUpdate } from '../../protocol';
import type { Host } from '../host';
import { changedFiles, drawnFile } from './changes';
import type { Clock } from './ids';

type Answers = Pick<
  Host,
  | 'sessionDiff'
  | 'fileDiff'
  | 'previewRevert'
  | 'revert'
  | 'unrevert'
  | 'undoLastTurn'
  | 'lastTurn'
  | 'listReverted'
  | 'restoreReverted'
  | 'pendingRevert'
  | 'discardReverted'
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

const BUSY = { code: 'busy', message: 'This session is running; wait until it finishes or stop it' } as const;

interface FakeReview extends Answers {
  /** The changed files of a session that are not reverted. */
  files(sessionID: string): readonly FileDiffView[];
  guard(sessionID: string): Session;
  undoable(sessionID: string): number;
  /** Like the core, before a prompt: makes a pending revert final, or refuses. */
  ensureConsent(sessionID: string, consented?: boolean): void;
}

export function createFakeReview(world: FakeWorld): FakeReview {
  /** The reverted files of each session, oldest first; a pending revert comes on top. */
  const rounds = new Map<string, string[][]>();
  const cut = new Map<string, string[]>();
  /** What prompts after a revert have removed. */
  const removed = new Map<string, { item: RevertedItem; messages: MessageView[] }[]>();
  const roundsOf = (sessionID: string) => rounds.get(sessionID) ?? [];
  const files = (sessionID: string) => {
    const gone = new Set([...roundsOf(sessionID).flat(), ...(cut.get(sessionID) ?? [])]);
    return changedFiles.filter((file) => !gone.has(file.path));
  };
  const touched = (sessionID: string, target: RevertTarget): RevertFile[] => {
    if (target.kind === 'message' && target.keepFiles) return [];
    const named = target.kind === 'file' ? target.path : undefined;
    return files(sessionID)
      .filter((file) => named === undefined || file.path === named)
      .map((file) => {
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

  const revert: Host['revert'] = async (sessionID, target) => {
    let session = guard(sessionID);
    const outcome = { files: touched(sessionID, target), hidesMessages: hidden(sessionID, target) };
    const done = outcome.files.filter((file) => file.change !== 'conflict').map((file) => file.path);
    if (target.kind === 'message' || target.kind === 'part') {
      cut.set(sessionID, [...(cut.get(sessionID) ?? []), ...done]);
      const { messageID } = target;
      session = keep({ ...session, revert: target.kind === 'part' ? { messageID, partID: target.partID } : { messageID } });
    } else if (done.length > 0) rounds.set(sessionID, [...roundsOf(sessionID), done]);
    return { session, ...outcome, undoable: roundsOf(sessionID).length };
  };
  const hiddenFrom = (sessionID: string) => {
    const all = world.messages.get(sessionID) ?? [];
    const at = all.findIndex((message) => message.info.id === world.find(sessionID).revert?.messageID);
    return at === -1 ? all.length : at;
  };

  const discard = (sessionID: string) => {
    const { revert: _revert, ...session } = guard(sessionID);
    const all = world.messages.get(sessionID) ?? [];
    const gone = all.slice(hiddenFrom(sessionID));
    const known = removed.get(sessionID) ?? [];
    const files = cut.get(sessionID) ?? [];
    const title = gone[0]?.parts.map(({ part }) => (part.type === 'text' ? part.text : '')).join('') ?? '';
    const id = String(known.length + 1);
    const item = { id, sessionID, title, time: Date.now(), messages: gone.length, files };
    removed.set(sessionID, [{ item, messages: gone }, ...known]);
    world.messages.set(sessionID, all.slice(0, hiddenFrom(sessionID)));
    for (const { info } of gone) {
      world.emit({ kind: 'event', event: { type: 'message.removed', properties: { sessionID, messageID: info.id } } });
    }
    cut.delete(sessionID);
    return keep(session);
  };

  return {
    files,
    guard,
    revert,
    undoLastTurn: async (sessionID, keepFiles) => {
      const visible = (world.messages.get(sessionID) ?? []).slice(0, hiddenFrom(sessionID));
      const last = visible.findLast(({ info }) => info.role === 'user');
      if (!last) throw { code: 'failed', message: 'There is no turn to revert' };
      const messageID = last.info.id;
      return revert(sessionID, { kind: 'message', messageID, keepFiles });
    },
    lastTurn: async (sessionID) => {
      const visible = (world.messages.get(sessionID) ?? []).slice(0, hiddenFrom(sessionID));
      return visible.findLast(({ info }) => info.role === 'user')?.info.id ?? null;
    },
    listReverted: async (sessionID) => (removed.get(sessionID) ?? []).map(({ item }) => item),
    restoreReverted: async (sessionID, id) => {
      const session = guard(sessionID);
      const known = removed.get(sessionID) ?? [];
      const found = known.find(({ item }) => item.id === id);
      if (!found) throw { code: 'not-found', message: `there is no reverted item ${id}` };
      removed.set(sessionID, known.filter((one) => one !== found));
      world.messages.set(sessionID, [...(world.messages.get(sessionID) ?? []), ...found.messages]);
      const files = found.item.files.map((path): RevertFile => ({ path, change: 'restore', additions: 1, deletions: 1 }));
      return { session, files, hidesMessages: 0, undoable: roundsOf(sessionID).length, complete: true };
    },
    pendingRevert: async (sessionID) => {
      const [first] = (world.messages.get(sessionID) ?? []).slice(hiddenFrom(sessionID));
      return first ? { messageID: first.info.id, created: first.info.time.created } : null;
    },
    discardReverted: async (sessionID) => discard(sessionID),
    ensureConsent: (sessionID, consented) => {
      const hidden = (world.messages.get(sessionID) ?? []).slice(hiddenFrom(sessionID));
      const turns = hidden.filter(({ info }) => info.role === 'user').length;
      if (turns > 1 && !consented) throw { code: 'confirm', message: `This deletes ${turns} reverted turns.` } satisfies UiError;
      if (turns > 0) discard(sessionID);
    },
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
    importSession: async () => ({ added: 1, already: 0, grown: 0, left_out: [], stopped: false, unreadable: [] }),
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
