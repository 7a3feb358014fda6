/** What can be done with a change: by its buttons, and by keys. */
import type { ChangeKeys } from '../diff/keyboard';
import { changedRows, commentPlace, type DiffFile, type Hunk, type RowRange } from '../diff/model';
import type { App } from '../store/app';
import { fileSpot, hunkSpot, lineOf, rangeSpot } from './spots';

export interface ReviewTools {
  /** What is uncommitted, or another moment, is only looked at. */
  readonly canKeep: () => boolean;
  readonly canRevert: () => boolean;
  readonly canComment: () => boolean;
  /** Keeps it, or keeps it no more. */
  keep(file: DiffFile, hunk: Hunk | undefined): void;
  revert(file: DiffFile, hunk: Hunk | undefined): void;
  comment(file: DiffFile, hunk: Hunk): void;
  keepRange(range: RowRange, hunk: Hunk): void;
  revertRange(range: RowRange, hunk: Hunk): void;
  commentRange(range: RowRange, hunk: Hunk): void;
  edit(file: DiffFile, line: number | undefined): void;
  readonly keys: ChangeKeys;
}

export function createTools(app: App, root: () => string | undefined): ReviewTools {
  const { review } = app;
  const { judge, comments } = review;
  /** Of an earlier moment there is nothing to keep or to revert. */
  const judged = () => review.scope().kind !== 'until';
  const canRevert = () => judged() && !app.busy();
  const spotOf = (file: DiffFile, hunk: Hunk | undefined) => (hunk ? hunkSpot(file, hunk) : fileSpot(file));
  const tools: ReviewTools = {
    canKeep: judged,
    canRevert,
    canComment: judged,
    keep(file, hunk) {
      if (!judged() || file.gone) return;
      const kept = (hunk ? hunk.kept : file.kept) === 'all';
      void (kept ? judge.unkeep(spotOf(file, hunk)) : judge.keep(spotOf(file, hunk)));
    },
    revert(file, hunk) {
      if (canRevert() && !file.gone) void judge.revert(spotOf(file, hunk));
    },
    comment: (file, hunk) => {
      const rows = changedRows(hunk);
      tools.commentRange({ path: file.path, version: file.version, hunk: -1, ...rows }, hunk);
    },
    keepRange: (range, hunk) => void judge.keep(rangeSpot(range, hunk)),
    revertRange: (range, hunk) => {
      if (canRevert()) void judge.revert(rangeSpot(range, hunk));
    },
    commentRange(range, hunk) {
      const { path, version } = range;
      comments.begin({ path, version, ...commentPlace(range, hunk), text: '' });
    },
    edit(file, line) {
      const folder = root();
      app.openFile(folder === undefined ? file.path : `${folder}/${file.path}`, line);
    },
    keys: {
      k: (file, hunk) => tools.keep(file, hunk),
      c: (file, hunk) => hunk && judged() && tools.comment(file, hunk),
      o: (file, hunk) => tools.edit(file, lineOf(hunk)),
      Delete: (file, hunk) => tools.revert(file, hunk),
      Backspace: (file, hunk) => tools.revert(file, hunk),
    },
  };
  return tools;
}
