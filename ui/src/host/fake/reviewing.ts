/** The review of the scripted host: what is kept, reverted and commented on, with undo and redo. */
import type {
  DiffLine,
  FileDiffView,
  GitStatus,
  ReviewComment,
  ReviewDone,
  ReviewFile,
  ReviewFileDiff,
  ReviewHunk,
  ReviewSelection,
  RevertFile,
  SessionStep,
} from '../../protocol';
import type { Host } from '../host';
import type { GitHost, ReviewHost } from '../review-host';
import { changedFiles, foldedHunks } from './changes';

type Answers = Omit<ReviewHost & GitHost, 'createSessionInWorktree'>;

interface World {
  /** The changed files that no other revert has hidden. */
  readonly files: (sessionID: string) => readonly FileDiffView[];
  readonly guard: (sessionID: string) => unknown;
  /** The folders of the sessions of a project. */
  readonly folders: (projectID: string) => readonly string[];
  readonly fork: (sessionID: string, worktree: boolean) => ReturnType<Host['forkAt']>;
}

/** Keys of hunks: the path and where it begins on the old side. */
interface Marks {
  readonly kept: ReadonlySet<string>;
  readonly reverted: ReadonlySet<string>;
  readonly comments: readonly ReviewComment[];
}

interface Log {
  readonly past: readonly { readonly marks: Marks; readonly kind: NonNullable<ReviewDone['undo']>['kind']; readonly files: string[] }[];
  readonly future: Log['past'];
}

const NONE: Marks = { kept: new Set(), reverted: new Set(), comments: [] };
const CLEAN: GitStatus = {
  branch: 'main',
  head: '1f0c4d2e6b817353d07b8a15f9c6e42c86e2f5d0',
  ahead: 0,
  behind: 0,
  staged: 0,
  unstaged: 2,
  untracked: 1,
  conflicts: 0,
  stashes: 0,
  untrusted: false,
};

export function createFakeReviewing(world: World): Answers {
  const marks = new Map<string, Marks>();
  const logs = new Map<string, Log>();
  const viewed = new Map<string, string>();
  let staged = 0;
  let ids = 0;
  const marksOf = (id: string) => marks.get(id) ?? NONE;
  const logOf = (id: string) => logs.get(id) ?? { past: [], future: [] };
  const key = (path: string, oldStart: number) => `${path}:${oldStart}`;
  const hunksOf = (id: string, file: FileDiffView) =>
    foldedHunks(file).filter((hunk) => !marksOf(id).reverted.has(key(file.path, hunk.oldStart)));
  const keptOf = (id: string, file: FileDiffView): ReviewFile['kept'] => {
    const hunks = hunksOf(id, file);
    const kept = hunks.filter((hunk) => marksOf(id).kept.has(key(file.path, hunk.oldStart))).length;
    return kept === 0 ? 'none' : kept === hunks.length ? 'all' : 'some';
  };
  const listed = (id: string): ReviewFile[] =>
    world
      .files(id)
      .filter((file) => hunksOf(id, file).length > 0)
      .map((file) => {
        const { path, status, additions, deletions, folded, oldPath } = file;
        const version = `${path} ${hunksOf(id, file).length}`;
        const seen = viewed.get(`${id} ${path}`) === version;
        return {
          path,
          status,
          additions,
          deletions,
          binary: false,
          version,
          kept: keptOf(id, file),
          viewed: seen,
          edited: false,
          ...(folded && { folded }),
          ...(oldPath && { oldPath }),
        };
      });
  const touched = (id: string, selection: ReviewSelection): string[] => {
    const within = (start: number, count: number, ranges: readonly { from: number; to: number }[]) =>
      count > 0 && ranges.some(({ from, to }) => from <= start + count - 1 && to >= start);
    return world.files(id).flatMap((file) => {
      if ('path' in selection && selection.path !== file.path) return [];
      if (selection.kind === 'files' && !selection.files.some(({ path }) => path === file.path)) return [];
      const hunks = hunksOf(id, file).filter(
        (hunk) =>
          selection.kind !== 'lines' ||
          within(hunk.oldStart, hunk.oldLines, selection.old) ||
          within(hunk.newStart, hunk.newLines, selection.new),
      );
      return hunks.map((hunk) => key(file.path, hunk.oldStart));
    });
  };
  const pathsOf = (keys: readonly string[]) => [...new Set(keys.map((one) => one.slice(0, one.lastIndexOf(':'))))];
  const answer = (id: string, done: RevertFile[] = [], changed: string[] = []): ReviewDone => {
    const { past, future } = logOf(id);
    const [undo, redo] = [past.at(-1), future.at(-1)];
    return {
      done,
      changed,
      comments: [...marksOf(id).comments],
      ...(undo && { undo: { kind: undo.kind, files: undo.files, time: 0 } }),
      ...(redo && { redo: { kind: redo.kind, files: redo.files, time: 0 } }),
    };
  };
  const act = (id: string, kind: NonNullable<ReviewDone['undo']>['kind'], files: string[], next: Marks): void => {
    const { past } = logOf(id);
    logs.set(id, { past: [...past, { marks: marksOf(id), kind, files }], future: [] });
    marks.set(id, next);
  };
  const effect = (id: string, keys: readonly string[]): RevertFile[] =>
    pathsOf(keys).map((path) => {
      const file = world.files(id).find((one) => one.path === path);
      return { path, change: file?.status === 'added' ? 'delete' : 'restore', additions: file?.deletions ?? 0, deletions: file?.additions ?? 0 };
    });
  const fileOf = (id: string, path: string) => {
    const file = world.files(id).find((one) => one.path === path);
    if (!file) throw { code: 'not-found', message: `there is no changed file ${path}` };
    return file;
  };
  const bodyOf = (id: string, path: string): ReviewFileDiff => {
    const file = fileOf(id, path);
    const hunks = hunksOf(id, file).map((hunk): ReviewHunk => {
      const kept = marksOf(id).kept.has(key(path, hunk.oldStart));
      const runs: ReviewHunk['runs'] = [];
      for (const { kind } of hunk.lines) {
        const last = runs.at(-1);
        if (last?.kind === kind) last.lines += 1;
        else runs.push({ kind, lines: 1 });
      }
      const { oldStart, oldLines, newStart, newLines, heading } = hunk;
      return { oldStart, oldLines, newStart, newLines, runs, kept: kept ? 'all' : 'none', ...(heading && { heading }) };
    });
    const last = hunks.at(-1);
    const end = file.status === 'added' ? 0 : 12;
    const version = `${path} ${hunks.length}`;
    return { path, version, oldLines: (last?.oldStart ?? 0) + end, newLines: (last ? last.newStart + last.newLines - 1 : 0) + end, hunks };
  };
  const comment = (id: string, change: (all: readonly ReviewComment[]) => readonly ReviewComment[], path: string, kind: NonNullable<ReviewDone['undo']>['kind'] = 'comment') => {
    act(id, kind, [path], { ...marksOf(id), comments: change(marksOf(id).comments) });
    return answer(id, [], [path]);
  };
  const steps = (id: string): SessionStep[] =>
    ['a', 'b', 'c'].map((name, index) => ({
      messageID: `msg_step_${name}`,
      partID: `prt_step_${name}`,
      turnID: `msg_turn_${name}`,
      time: Date.UTC(2026, 10, 18, 12, index),
      files: [world.files(id)[index]?.path ?? 'src/lamp.ts'],
      additions: index + 1,
      deletions: index,
    }));
  const status = (): GitStatus => ({ ...CLEAN, staged });

  return {
    reviewFiles: async (id, scope) => {
      const files = listed(id);
      const { undo, redo } = answer(id);
      const sum = (name: 'additions' | 'deletions') => files.reduce((all, file) => all + file[name], 0);
      return {
        sessionID: id,
        scope,
        files,
        additions: sum('additions'),
        deletions: sum('deletions'),
        comments: [...marksOf(id).comments],
        ...(undo && { undo }),
        ...(redo && { redo }),
      };
    },
    closeReview: async () => {},
    setViewed: async (id, path, version) => {
      if (version === null) viewed.delete(`${id} ${path}`);
      else viewed.set(`${id} ${path}`, version);
    },
    reviewFile: async (id, _scope, path) => bodyOf(id, path),
    reviewLines: async (id, _scope, path, _version, _ignore, hunk, from, to) =>
      (hunksOf(id, fileOf(id, path))[hunk]?.lines ?? []).slice(from, to),
    reviewContext: async (_id, _scope, _path, _version, from, to) =>
      Array.from({ length: to - from + 1 }, (_, index): DiffLine => ({ kind: 'context', old: from + index, new: from + index, spans: [{ text: `line ${from + index}` }] })),
    reviewPictures: async () => ({}),
    keepLines: async (id, _scope, selection) => {
      const keys = touched(id, selection);
      act(id, 'keep', pathsOf(keys), { ...marksOf(id), kept: new Set([...marksOf(id).kept, ...keys]) });
      return answer(id, [], pathsOf(keys));
    },
    unkeepLines: async (id, _scope, selection) => {
      const keys = touched(id, selection);
      act(id, 'unkeep', pathsOf(keys), { ...marksOf(id), kept: new Set([...marksOf(id).kept].filter((one) => !keys.includes(one))) });
      return answer(id, [], pathsOf(keys));
    },
    previewRevertLines: async (id, _scope, selection) => ({
      files: effect(id, touched(id, selection)).map((file) => ({ ...file, merged: false, hunks: [], conflicts: [] })),
      mustAsk: false,
    }),
    revertLines: async (id, _scope, selection) => {
      world.guard(id);
      const keys = touched(id, selection);
      const done = effect(id, keys);
      act(id, 'revert', pathsOf(keys), { ...marksOf(id), reverted: new Set([...marksOf(id).reverted, ...keys]) });
      return answer(id, done, pathsOf(keys));
    },
    undoReview: async (id) => {
      world.guard(id);
      const { past, future } = logOf(id);
      const last = past.at(-1);
      if (!last) throw { code: 'failed', message: 'Nothing to undo' };
      logs.set(id, { past: past.slice(0, -1), future: [...future, { ...last, marks: marksOf(id) }] });
      marks.set(id, last.marks);
      return answer(id, [], last.files);
    },
    redoReview: async (id) => {
      const { past, future } = logOf(id);
      const next = future.at(-1);
      if (!next) throw { code: 'failed', message: 'There is nothing to redo' };
      logs.set(id, { past: [...past, { ...next, marks: marksOf(id) }], future: future.slice(0, -1) });
      marks.set(id, next.marks);
      return answer(id, [], next.files);
    },
    addComment: async (id, _scope, { version: _version, ...told }) => {
      ids += 1;
      const made: ReviewComment = { ...told, id: `cmt_${ids}`, quote: 'the lines', time: 0, state: 'open', changed: false };
      return comment(id, (all) => [...all, made], told.path);
    },
    editComment: async (id, name, text) => comment(id, (all) => all.map((one) => (one.id === name ? { ...one, text } : one)), ''),
    removeComment: async (id, name) => comment(id, (all) => all.filter((one) => one.id !== name), ''),
    resolveComment: async (id, name, resolved) =>
      comment(id, (all) => all.map((one) => (one.id === name ? { ...one, state: resolved ? 'resolved' : 'open' } : one)), '', resolved ? 'resolve' : 'reopen'),
    sendComments: async (id) => {
      comment(id, (all) => all.map((one) => (one.state === 'open' ? { ...one, sent: 1 } : one)), '');
      return 'msg_sent';
    },
    sessionSteps: async (id) => (world.files(id).length === changedFiles.length ? steps(id) : []),
    stepTree: async (_id, _at, folder) =>
      folder === '' ? [{ name: 'src', path: 'src', folder: true }] : [{ name: 'lamp.ts', path: 'src/lamp.ts', folder: false }],
    stepFile: async (_id, _at, path, { from }) => [{ kind: 'context', old: from, new: from, spans: [{ text: `// ${path}` }] }],
    previewRestore: async (id) => ({ files: effect(id, touched(id, { kind: 'all' })), hidesMessages: 0 }),
    restoreFiles: async (id) => {
      world.guard(id);
      const keys = touched(id, { kind: 'all' });
      const done = effect(id, keys);
      act(id, 'restore', pathsOf(keys), { ...marksOf(id), reverted: new Set([...marksOf(id).reverted, ...keys]) });
      return answer(id, done, pathsOf(keys));
    },
    forkAt: (id, _at, worktree) => world.fork(id, worktree),
    gitFolders: async (projectID) =>
      world.folders(projectID).map((directory) => ({
        directory,
        branch: directory.endsWith('quiet-lamp') ? 'lathe/quiet-lamp' : 'main',
        uncommitted: directory.endsWith('quiet-lamp') ? 0 : 3,
      })),
    gitStatus: async () => status(),
    stageKept: async (id) => {
      staged = pathsOf([...marksOf(id).kept]).length;
      return status();
    },
    unstageAll: async () => {
      staged = 0;
      return status();
    },
    draftCommitMessage: async () => 'Light the lamp warmer',
    commit: async (_id, { message }) => {
      staged = 0;
      return { hash: '5b7799d0c3e2aa16', summary: message.split('\n', 1)[0] ?? '' };
    },
    lastCommitMessage: async () => 'Add a wick',
    stash: async () => ({ ...status(), unstaged: 0, stashes: 1 }),
    unstash: async () => status(),
    patchText: async () => 'diff --git a/src/lamp.ts b/src/lamp.ts\n',
    savePatch: async () => '/home/you/lamp.patch',
    worktreeFiles: async (id) => ({ files: listed(id) }),
    previewBringBack: async (id) => ({
      files: effect(id, touched(id, { kind: 'all' })).map(({ path, change, additions, deletions }) => ({ path, change, additions, deletions })),
      commits: 1,
    }),
    bringBack: async () => ({ files: [{ path: 'src/lamp.ts', change: 'restore', additions: 2, deletions: 1 }], commits: 1 }),
    removeWorktree: async () => ({ branch: 'lathe/quiet-lamp', saved: true }),
  };
}
