/** Differences, taking back and forks of the scripted host. */
import type { FileDiffView, MessageView, RevertFile, RevertTarget, Session, SnapshotPart, UiUpdate } from '../../protocol';
import type { Host } from '../host';
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

export interface FakeWorld {
  readonly clock: Clock;
  readonly sessions: Map<string, Session>;
  readonly messages: Map<string, MessageView[]>;
  find(id: string): Session;
  told(session: Session): void;
  emit(...updates: UiUpdate[]): void;
  isBusy(id: string): boolean;
}

const BUSY = { code: 'busy', message: 'This session is being worked on; wait for it or stop it first' } as const;

/** Three files: one changed in two places, one new, one that nobody reads line by line. */
export const changedFiles: readonly FileDiffView[] = [
  {
    path: 'package-lock.json',
    status: 'modified',
    additions: 412,
    deletions: 398,
    hunks: [],
    folded: 'lockFile',
  },
  {
    path: 'src/lamp.ts',
    status: 'modified',
    additions: 2,
    deletions: 1,
    hunks: [
      {
        oldStart: 3,
        oldLines: 3,
        newStart: 3,
        newLines: 3,
        heading: 'export function light()',
        fingerprint: 'a1f0c4d2e6b81735',
        lines: [
          { kind: 'context', old: 3, new: 3, spans: [{ text: 'export function light() {' }] },
          { kind: 'del', old: 4, spans: [{ text: '  return ' }, { text: '40', mark: true }, { text: ';' }] },
          { kind: 'add', new: 4, spans: [{ text: '  return ' }, { text: '60', mark: true }, { text: ';' }] },
          { kind: 'context', old: 5, new: 5, spans: [{ text: '}' }] },
        ],
      },
      {
        oldStart: 21,
        oldLines: 1,
        newStart: 21,
        newLines: 2,
        fingerprint: '5b7799d0c3e2aa16',
        lines: [
          { kind: 'context', old: 21, new: 21, spans: [{ text: '// Warm enough for reading.' }] },
          { kind: 'add', new: 22, spans: [{ text: 'export const WARM = 2700;' }] },
        ],
      },
    ],
  },
  {
    path: 'src/wick.ts',
    status: 'added',
    additions: 1,
    deletions: 0,
    hunks: [
      {
        oldStart: 0,
        oldLines: 0,
        newStart: 1,
        newLines: 1,
        fingerprint: '90ccf1e27d4b3a58',
        lines: [{ kind: 'add', new: 1, spans: [{ text: 'export const wick = true;' }] }],
      },
    ],
  },
];

export function createFakeTime(world: FakeWorld): Answers {
  const takenBack = new Set<string>();
  const files = () => changedFiles.filter((file) => !takenBack.has(file.path));
  const touched = (target: RevertTarget): RevertFile[] => {
    if (target.kind === 'message' && target.keepFiles) return [];
    const named = target.kind === 'file' || target.kind === 'hunk' ? target.path : undefined;
    return files()
      .filter((file) => named === undefined || file.path === named)
      .map((file) => ({
        path: file.path,
        change: file.status === 'added' ? 'delete' : 'restore',
        additions: file.deletions,
        deletions: file.additions,
      }));
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
    sessionDiff: async (sessionID, messageID) => {
      world.find(sessionID);
      const list = files();
      return { sessionID, ...(messageID === undefined ? {} : { messageID }), files: list, ...totals(list) };
    },
    fileDiff: async (_sessionID, _messageID, path) => {
      const file = changedFiles.find((one) => one.path === path);
      if (!file) throw { code: 'not-found', message: `there is no changed file ${path}` };
      const { folded: _folded, ...open } = file;
      return open;
    },
    previewRevert: async (sessionID, target) => ({
      files: touched(target),
      hidesMessages: hidden(sessionID, target),
    }),
    revert: async (sessionID, target) => {
      let session = guard(sessionID);
      const outcome = { files: touched(target), hidesMessages: hidden(sessionID, target) };
      for (const file of outcome.files) takenBack.add(file.path);
      if (target.kind === 'message') session = keep({ ...session, revert: { messageID: target.messageID } });
      if (target.kind === 'part')
        session = keep({ ...session, revert: { messageID: target.messageID, partID: target.partID } });
      return { session, ...outcome };
    },
    unrevert: async (sessionID) => {
      const { revert: _revert, ...session } = guard(sessionID);
      takenBack.clear();
      return { session: keep(session), files: [], hidesMessages: 0 };
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
