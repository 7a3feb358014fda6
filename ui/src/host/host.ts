/**
 * The interface between the window and the program behind it.
 *
 * `tauri.ts` implements it with the Rust core, `fake.ts` with a scripted host for tests and a plain
 * browser. No other file knows which of the two is in use.
 */
import type {
  AgentView,
  AppStart,
  Attached,
  AttachmentView,
  CommandView,
  ConfigProblem,
  ConnectionReport,
  ContextUse,
  DiffComment,
  Draft,
  DropUpdate,
  FileDiffView,
  ImportProgress,
  ImportReport,
  ImportSource,
  DataKind,
  DataReport,
  DataView,
  FindHit,
  MenuRole,
  MenuView,
  Mention,
  McpResourceView,
  McpServerInput,
  McpServerView,
  MessagePage,
  ModelList,
  ModeView,
  PendingRevert,
  PermissionMode,
  PermissionReply,
  Project,
  ProjectOpened,
  PromptInput,
  RevertedItem,
  RevertOptions,
  RevertOutcome,
  RevertPreview,
  RevertTarget,
  Rule,
  SearchAnswer,
  Session,
  SessionDiffView,
  SessionImage,
  SessionUsage,
  SessionView,
  Settings,
  SharePreview,
  SnapshotPart,
  TrashedSession,
  TrustView,
  ToolDetails,
  UiBatch,
  UiError,
  UiErrorCode,
} from '../protocol';
import type { GitHost, ReviewHost } from './review-host';

/** A provider that the person sets up in the window. */
export interface AddedProvider {
  readonly name: string;
  readonly baseUrl: string;
  readonly api: ProviderApi;
  /** The ids of the models to offer. */
  readonly models: readonly string[];
}

export type ProviderApi = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

/** A prompt in the outline of its session; the text is its beginning. */
export interface OutlineEntry {
  readonly messageID: string;
  readonly text: string;
}

export interface Host extends ReviewHost, GitHost {
  start(): Promise<AppStart>;
  /** One watcher per window; it gets at most one batch per frame. The first batch has the activity of all sessions. */
  watch(receive: (batch: UiBatch) => void): Promise<void>;
  /** The program was started again with a folder; `start` returns which. */
  onFolderWanted(tell: () => void): Promise<void>;

  /** Opens the native folder dialog; null if it was dismissed. */
  pickProject(): Promise<ProjectOpened | null>;

  listProjects(): Promise<Project[]>;
  listSessions(projectID: string): Promise<Session[]>;
  createSession(projectID: string): Promise<Session>;
  renameSession(sessionID: string, title: string): Promise<void>;
  archiveSession(sessionID: string, archived: boolean): Promise<void>;
  deleteSession(sessionID: string): Promise<void>;
  restoreSession(sessionID: string): Promise<void>;

  /** Loads the newest messages and starts the part updates of this session. */
  openSession(sessionID: string, limit: number): Promise<SessionView>;
  olderMessages(sessionID: string, before: string, limit: number): Promise<MessagePage>;
  closeSession(sessionID: string): Promise<void>;

  /** Searches all sessions, as far as they are indexed. */
  search(query: string, limit: number): Promise<SearchAnswer>;
  /** Finds all matches in one session, in reading order. */
  findInSession(sessionID: string, query: string): Promise<FindHit[]>;
  /** Like `openSession`, around a message. */
  openSessionAt(sessionID: string, messageID: string, limit: number): Promise<SessionView>;
  newerMessages(sessionID: string, after: string, limit: number): Promise<MessagePage>;

  prompt(sessionID: string, input: PromptInput): Promise<string>;
  /** Runs a `/` command; resolves to the id of its message. */
  runCommand(sessionID: string, name: string, args: string, input: PromptInput): Promise<string>;
  abort(sessionID: string): Promise<void>;
  /** Ends the pause before a retry. */
  retryNow(sessionID: string): Promise<void>;
  /** Compacts the session now. */
  compact(sessionID: string): Promise<void>;
  contextUse(sessionID: string): Promise<ContextUse>;
  /** Both are refused once a step has started with the prompt. */
  editQueued(sessionID: string, messageID: string, text: string): Promise<void>;
  /** Also removes a prompt that is marked `unsent`. */
  removeQueued(sessionID: string, messageID: string): Promise<void>;
  /** Moves a queued prompt before the one above it. */
  moveQueuedUp(sessionID: string, messageID: string): Promise<void>;
  /** Stops the turn for a queued prompt; the others wait for its turn. Does nothing if a step has just taken it. */
  sendQueuedNow(sessionID: string, messageID: string): Promise<void>;
  /** Runs a command of the person; the text of the input is the command. Refused while a turn is running. */
  runShell(sessionID: string, input: PromptInput): Promise<string>;
  /** A Mermaid diagram as SVG; an error if it cannot be drawn. */
  drawDiagram(source: string, dark: boolean): Promise<string>;
  /** What the person wrote in a session, oldest first. */
  outline(sessionID: string): Promise<OutlineEntry[]>;
  /** Sends a prompt that is marked `unsent`; resolves to the id of its new message. */
  sendUnsent(sessionID: string, messageID: string): Promise<string>;
  /** Comments on the diff of the request go with the refusal. */
  answerPermission(requestID: string, reply: PermissionReply, message: string | null, comments?: DiffComment[]): Promise<void>;
  /** One list of answers for each question. */
  answerQuestion(requestID: string, answers: string[][]): Promise<void>;
  dismissQuestion(requestID: string): Promise<void>;

  /** All drafts, by place. */
  drafts(): Promise<Record<string, Draft>>;
  /** Stores a draft; null if it was sent or emptied. Calls are processed in order. */
  keepDraft(place: string, draft: Draft | null): Promise<void>;
  /** Opens the native dialog for files or folders; empty if it was dismissed. */
  pickAttachments(folders: boolean): Promise<Attached>;
  /** Attaches files and pictures from the system's clipboard, which a webview cannot always read. */
  pasteClipboard(): Promise<Attached>;
  attachBytes(name: string, bytes: Uint8Array): Promise<Attached>;
  /** The attachments with these ids that still exist. */
  findAttachments(ids: string[]): Promise<AttachmentView[]>;
  removeAttachment(id: string): Promise<void>;
  /** Files are dragged over the window, or dropped. */
  onDrop(tell: (update: DropUpdate) => void): Promise<void>;
  /** The address of a picture for the webview: full size, or scaled to fit a square of `side`. */
  pictureURL(url: string, side?: number): string;
  /** All pictures of a session in order, also those of messages that are not loaded. */
  sessionImages(sessionID: string): Promise<SessionImage[]>;
  copyImage(url: string): Promise<void>;
  /** Opens the native dialog; false if it was dismissed. */
  saveAttachment(url: string): Promise<boolean>;
  /** The tokens and the cost of all messages of the session. */
  sessionUsage(sessionID: string): Promise<SessionUsage>;
  /** What is wrong in the config files of a project, and in the person's own. */
  configProblems(projectID: string): Promise<ConfigProblem[]>;
  /** Opens a config file that has a problem. */
  openConfigFile(projectID: string, file: string, line: number | null): Promise<void>;
  /** What a project offers to a prompt. */
  listAgents(projectID: string): Promise<AgentView[]>;
  listCommands(projectID: string): Promise<CommandView[]>;
  /** Suggestions for an `@` mention, best first. */
  findMentions(projectID: string, sessionID: string | null, query: string, limit: number): Promise<Mention[]>;

  /** What the project's own config wants to do, and whether it is trusted. */
  trust(projectID: string): Promise<TrustView>;
  /** Trusts what was shown, identified by its hash; null revokes. Refused if the files have changed since. */
  setTrust(projectID: string, hash: string | null): Promise<TrustView>;
  /** Allows edits in this project without asking. */
  setProjectEdits(projectID: string, allow: boolean): Promise<void>;
  /** How much the agent may do in a project without a question, and what this machine can confine. */
  permissionMode(projectID: string): Promise<ModeView>;
  /** Auto is refused where no sandbox works. */
  setPermissionMode(projectID: string, mode: PermissionMode): Promise<ModeView>;
  /** The diff of the session, or of the turn that a prompt began. */
  sessionDiff(sessionID: string, messageID?: string): Promise<SessionDiffView>;
  /** One file of the diff, also if it is folded. `whole`: with all unchanged lines. */
  fileDiff(sessionID: string, messageID: string | undefined, path: string, whole: boolean): Promise<FileDiffView>;
  previewRevert(sessionID: string, target: RevertTarget): Promise<RevertPreview>;
  /** Refused with `busy` while a turn runs. The options are the person's decisions about files that would stay. */
  revert(sessionID: string, target: RevertTarget, options?: RevertOptions): Promise<RevertOutcome>;
  /** Undoes the last revert. */
  unrevert(sessionID: string): Promise<RevertOutcome>;
  /** Reverts the newest turn that is not reverted, whatever the page has loaded. */
  undoLastTurn(sessionID: string, keepFiles: boolean): Promise<RevertOutcome>;
  /** The prompt of that turn; null if all are reverted. */
  lastTurn(sessionID: string): Promise<string | null>;
  /** What reverts have removed and can still be restored, the newest first. */
  listReverted(sessionID: string): Promise<RevertedItem[]>;
  restoreReverted(sessionID: string, item: string, options?: RevertOptions): Promise<RevertOutcome>;
  /** Deletes what a pending revert hides, after something was refused with `confirm`. */
  discardReverted(sessionID: string): Promise<Session>;
  /** The revert that the next prompt would make final. */
  pendingRevert(sessionID: string): Promise<PendingRevert | null>;
  /** A new session with all messages before this one (null: all messages). */
  fork(sessionID: string, messageID: string | null, worktree: boolean): Promise<Session>;
  /** Takes a named snapshot of the files. */
  checkpoint(sessionID: string, name: string): Promise<SnapshotPart>;
  /** The content of an opened card. `whole`: diffs with all unchanged lines. */
  toolDetails(sessionID: string, messageID: string, partID: string, whole: boolean): Promise<ToolDetails>;
  /** The whole text of a part whose view is cut. */
  partText(sessionID: string, messageID: string, partID: string): Promise<string>;
  /** Copies it without loading it: by then a webview no longer lets the page copy. */
  copyPartText(sessionID: string, messageID: string, partID: string): Promise<void>;
  /** Copies a text that was loaded after the click. */
  copyText(text: string): Promise<void>;
  /** Opens a PDF in the system's reader. */
  openAttachment(sessionID: string, messageID: string, partID: string): Promise<void>;
  /** `path` is absolute, or relative to the session's folder. */
  openInEditor(sessionID: string, path: string, line: number | null): Promise<void>;

  /** What sharing would redact, and where the page would go. */
  sharePreview(sessionID: string): Promise<SharePreview>;
  /** Shares to the configured server, or to a file that a dialog asks for; null if it was dismissed. */
  shareSession(sessionID: string): Promise<Session | null>;
  unshareSession(sessionID: string): Promise<Session>;
  /** Opens the shared page in the browser. */
  openShared(sessionID: string): Promise<void>;
  /** Returns the path of the file; null if the dialog was dismissed. */
  exportSession(sessionID: string): Promise<string | null>;
  /** Imports from a file that a dialog asks for; null if it was dismissed. */
  importSession(): Promise<ImportReport | null>;
  /** Also starts the enabled servers; call again while one is `starting`. */
  listMcp(): Promise<McpServerView[]>;
  setMcpEnabled(name: string, on: boolean): Promise<McpServerView[]>;
  restartMcp(name: string): Promise<McpServerView[]>;
  /** Accepts the server's tools as they are now. */
  acceptMcp(name: string): Promise<McpServerView[]>;
  /**
   * A server of the person, for editing. Values of variables and headers may be secret and are empty
   * here; saving an empty value keeps the stored one.
   */
  readMcp(name: string): Promise<McpServerInput>;
  /** Adds a server, or replaces the one of that name. */
  saveMcp(name: string, server: McpServerInput): Promise<McpServerView[]>;
  removeMcp(name: string): Promise<McpServerView[]>;
  /** The resources of tool servers that can be attached to a prompt. */
  listMcpResources(projectID: string): Promise<McpResourceView[]>;

  /** The models of a project, which may add its own once it is trusted, or else the person's. */
  listModels(projectID?: string): Promise<ModelList>;
  /** Searches for model servers on this machine. */
  findLocalModels(): Promise<ModelList>;
  /** Stores an API key; no call returns it. The provider may come from a project. */
  setKey(providerID: string, key: string, projectID?: string): Promise<ModelList>;
  removeKey(providerID: string, projectID?: string): Promise<ModelList>;
  addedProviders(): Promise<AddedProvider[]>;
  /** Connects to a provider that is not stored; the ids of its models. An empty key is the stored one. */
  tryProvider(provider: AddedProvider, key: string): Promise<string[]>;
  saveProvider(provider: AddedProvider, key: string, projectID?: string): Promise<ModelList>;
  removeProvider(providerID: string, projectID?: string): Promise<ModelList>;
  testConnection(providerID: string, projectID?: string): Promise<ConnectionReport>;

  /** Finds sessions of other programs in their usual places. */
  findImports(): Promise<ImportSource[]>;
  importFrom(path: string, onProgress: (now: ImportProgress) => void): Promise<ImportReport>;
  /** Ends the import that is running; what was imported by then stays. */
  stopImport(): Promise<void>;
  /** The rules that "always" answers have added in a project. */
  approvedRules(projectID: string): Promise<Rule[]>;
  revokeRule(projectID: string, rule: Rule): Promise<Rule[]>;

  /** Whether the project's files may be changed without asking. */
  projectEdits(projectID: string): Promise<boolean>;

  dataUse(): Promise<DataView>;
  cleanData(kind: DataKind): Promise<DataView>;
  /** Removed sessions that can be restored, newest first. */
  listTrash(): Promise<TrashedSession[]>;
  checkData(repair: boolean): Promise<DataReport>;
  /** Opens the data folder in the system's file manager. */
  showData(): Promise<void>;
  /** Opens the log in the system's viewer. */
  showLog(): Promise<void>;
  /** Copies a description of the program for a report, without secrets. `page` says what only the page knows. */
  copyDiagnostics(page: string): Promise<void>;
  /** Logs an error that nothing in the page expected. */
  reportError(error: string): Promise<void>;
  /** A part of the core failed. Nothing is lost, and the page may be loaded again. */
  onFault(tell: (message: string) => void): Promise<void>;

  /** Sets the items of the menu bar. */
  setMenu(menus: MenuView[]): Promise<void>;
  onMenuChosen(tell: (id: string) => void): Promise<void>;
  /** What the system does with the window, such as closing it. */
  windowAction(role: MenuRole): Promise<void>;
  /** Shows at the icon of the program how many sessions wait. */
  setBadge(count: number): Promise<void>;
  /** A notification was clicked. */
  onSessionWanted(tell: (sessionID: string) => void): Promise<void>;

  saveSettings(settings: Settings): Promise<void>;
  remember(projectID: string | null, sessionID: string | null): Promise<void>;
  openExternal(url: string): Promise<void>;
  /** Fetches a remote picture; resolves to its `attachment://` address. */
  loadRemoteImage(url: string): Promise<string>;
}

const CODES: Record<UiErrorCode, true> = { 'not-found': true, busy: true, storage: true, confirm: true, failed: true };

/** Converts any rejection of a host to an error that can be shown. */
export function uiError(reason: unknown): UiError {
  if (typeof reason !== 'object' || reason === null) return { code: 'failed', message: String(reason) };
  // Solid's resources wrap a value that is not an Error; the original is its cause.
  if (reason instanceof Error && typeof reason.cause === 'object' && reason.cause !== null) return uiError(reason.cause);
  const { code, message } = reason as Partial<UiError>;
  return {
    code: code !== undefined && code in CODES ? code : 'failed',
    message: message ?? String(reason),
  };
}
