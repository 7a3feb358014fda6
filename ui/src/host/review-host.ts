/** The part of the host that a review uses: changes, judging them, comments, steps and git. */
import type {
  BringBack,
  BringBackChoice,
  BringBackPreview,
  CommitDone,
  CommitInput,
  ComparedWorktree,
  DiffLine,
  GitFolder,
  GitStatus,
  LineRange,
  NewComment,
  RemovedWorktree,
  RevertLinesOptions,
  RevertLinesPreview,
  RevertOptions,
  RevertPreview,
  ReviewDone,
  ReviewFileDiff,
  ReviewFiles,
  ReviewPictures,
  ReviewScope,
  ReviewSelection,
  Session,
  SessionStep,
  StepPlace,
  TreeEntryView,
} from '../protocol';

export interface ReviewHost {
  /** The files of a scope, without text. Their changes by others are told from now on, until `closeReview`. */
  reviewFiles(sessionID: string, scope: ReviewScope): Promise<ReviewFiles>;
  closeReview(sessionID: string): Promise<void>;
  /** Null: not viewed. */
  setViewed(sessionID: string, path: string, version: string | null): Promise<void>;
  /** The shape of a file's diff: all geometry, no text. */
  reviewFile(sessionID: string, scope: ReviewScope, path: string, ignoreWhitespace: boolean): Promise<ReviewFileDiff>;
  /** The rows `from` up to, not with, `to` of one hunk, counted from 0; at most 2,000. */
  reviewLines(
    sessionID: string,
    scope: ReviewScope,
    path: string,
    version: string,
    ignoreWhitespace: boolean,
    hunk: number,
    from: number,
    to: number,
  ): Promise<DiffLine[]>;
  /** Unchanged lines by their numbers on the new side; at most 2,000. */
  reviewContext(sessionID: string, scope: ReviewScope, path: string, version: string, from: number, to: number): Promise<DiffLine[]>;
  /** Both sides of a picture, as addresses that an image can show. */
  reviewPictures(sessionID: string, scope: ReviewScope, path: string): Promise<ReviewPictures>;

  keepLines(sessionID: string, scope: ReviewScope, selection: ReviewSelection): Promise<ReviewDone>;
  unkeepLines(sessionID: string, scope: ReviewScope, selection: ReviewSelection): Promise<ReviewDone>;
  previewRevertLines(
    sessionID: string,
    scope: ReviewScope,
    selection: ReviewSelection,
    options?: RevertLinesOptions,
  ): Promise<RevertLinesPreview>;
  /** Refused with `busy` while a turn runs. */
  revertLines(sessionID: string, scope: ReviewScope, selection: ReviewSelection, options?: RevertLinesOptions): Promise<ReviewDone>;
  /** Undoes the last action of the review, also after a restart. A file in conflict is in `done`, and nothing was undone. */
  undoReview(sessionID: string, options?: RevertLinesOptions): Promise<ReviewDone>;
  redoReview(sessionID: string, options?: RevertLinesOptions): Promise<ReviewDone>;

  addComment(sessionID: string, scope: ReviewScope, comment: NewComment): Promise<ReviewDone>;
  editComment(sessionID: string, id: string, text: string): Promise<ReviewDone>;
  removeComment(sessionID: string, id: string): Promise<ReviewDone>;
  resolveComment(sessionID: string, id: string, resolved: boolean): Promise<ReviewDone>;
  /** All open comments in one prompt; resolves to the id of its message. */
  sendComments(sessionID: string, text: string): Promise<string>;

  /** The steps that changed files, the oldest first. */
  sessionSteps(sessionID: string): Promise<SessionStep[]>;
  stepTree(sessionID: string, at: StepPlace, folder: string): Promise<TreeEntryView[]>;
  stepFile(sessionID: string, at: StepPlace, path: string, lines: LineRange): Promise<DiffLine[]>;
  previewRestore(sessionID: string, at: StepPlace): Promise<RevertPreview>;
  /** Brings the files back to a place: what the agent did since is reverted. `undoReview` undoes it. */
  restoreFiles(sessionID: string, at: StepPlace, options?: RevertOptions): Promise<ReviewDone>;
  forkAt(sessionID: string, at: StepPlace, worktree: boolean): Promise<Session>;
}

export interface GitHost {
  /** One for each folder that the project's sessions work in. */
  gitFolders(projectID: string): Promise<GitFolder[]>;
  /** Null where there is no git. */
  gitStatus(sessionID: string): Promise<GitStatus | null>;
  stageKept(sessionID: string, scope: ReviewScope): Promise<GitStatus>;
  unstageAll(sessionID: string): Promise<GitStatus>;
  draftCommitMessage(sessionID: string): Promise<string>;
  /** Commits what is staged. */
  commit(sessionID: string, input: CommitInput): Promise<CommitDone>;
  lastCommitMessage(sessionID: string): Promise<string>;
  stash(sessionID: string, message: string): Promise<GitStatus>;
  unstash(sessionID: string): Promise<GitStatus>;
  patchText(sessionID: string, scope: ReviewScope, keptOnly: boolean): Promise<string>;
  /** Asks for a file; null if the dialog was dismissed. */
  savePatch(sessionID: string, scope: ReviewScope, keptOnly: boolean): Promise<string | null>;

  createSessionInWorktree(projectID: string, name: string | null): Promise<Session>;
  /** What the session's worktree has changed against its original. */
  worktreeFiles(sessionID: string): Promise<ComparedWorktree>;
  previewBringBack(sessionID: string, how: BringBack): Promise<BringBackPreview>;
  bringBack(sessionID: string, how: BringBack, choices: Record<string, BringBackChoice>): Promise<BringBackPreview>;
  /** The branch stays, with what was not committed as a commit on it. */
  removeWorktree(sessionID: string): Promise<RemovedWorktree>;
}
