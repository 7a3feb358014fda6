/**
 * What the window may ask of the program behind it.
 *
 * The only door out of the UI: `tauri.ts` opens it onto the Rust core, `fake.ts` onto a scripted
 * one for tests and a plain browser. Nothing else knows which of the two is there.
 */
import type {
  AgentView,
  AppStart,
  Attached,
  AttachmentView,
  CommandView,
  ConnectionReport,
  ContextUse,
  Draft,
  DropUpdate,
  FileDiffView,
  ImportReport,
  ImportSource,
  DataKind,
  DataReport,
  DataView,
  FindHit,
  MenuView,
  Mention,
  McpResourceView,
  McpServerInput,
  McpServerView,
  MessagePage,
  ModelList,
  PermissionReply,
  ProjectOpened,
  PromptInput,
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

export interface Host {
  start(): Promise<AppStart>;
  /** One watcher a window; a batch comes at most once a frame. */
  watch(receive: (batch: UiBatch) => void): Promise<void>;
  /** Another start of the program wants a folder opened here: `start` again tells which. */
  onFolderWanted(tell: () => void): Promise<void>;

  /** The native folder dialog; null when it was dismissed. */
  pickProject(): Promise<ProjectOpened | null>;

  listSessions(projectID: string): Promise<Session[]>;
  createSession(projectID: string): Promise<Session>;
  renameSession(sessionID: string, title: string): Promise<void>;
  archiveSession(sessionID: string, archived: boolean): Promise<void>;
  deleteSession(sessionID: string): Promise<void>;
  restoreSession(sessionID: string): Promise<void>;

  /** Loads the tail and starts the flow of part updates for this session. */
  openSession(sessionID: string, limit: number): Promise<SessionView>;
  olderMessages(sessionID: string, before: string, limit: number): Promise<MessagePage>;
  closeSession(sessionID: string): Promise<void>;

  /** Over every session; what is indexed by now. */
  search(query: string, limit: number): Promise<SearchAnswer>;
  /** Every place of one session, in reading order. */
  findInSession(sessionID: string, query: string): Promise<FindHit[]>;
  /** As `openSession`, around a message. */
  openSessionAt(sessionID: string, messageID: string, limit: number): Promise<SessionView>;
  newerMessages(sessionID: string, after: string, limit: number): Promise<MessagePage>;

  prompt(sessionID: string, input: PromptInput): Promise<string>;
  /** A `/` command with what stands after its name; resolves to the id of its message. */
  runCommand(sessionID: string, name: string, args: string, input: PromptInput): Promise<string>;
  abort(sessionID: string): Promise<void>;
  /** Does not wait for the rest of a retry's pause. */
  retryNow(sessionID: string): Promise<void>;
  /** Sums the session up now, so that it goes on with room to spare. */
  compact(sessionID: string): Promise<void>;
  contextUse(sessionID: string): Promise<ContextUse>;
  /** Both are refused once a step has taken the prompt up. */
  editQueued(sessionID: string, messageID: string, text: string): Promise<void>;
  removeQueued(sessionID: string, messageID: string): Promise<void>;
  answerPermission(requestID: string, reply: PermissionReply, message: string | null): Promise<void>;
  /** One list of answers for each question. */
  answerQuestion(requestID: string, answers: string[][]): Promise<void>;
  dismissQuestion(requestID: string): Promise<void>;

  /** What was written and not sent, by its place. */
  drafts(): Promise<Record<string, Draft>>;
  /** A draft as it is now, null when it was sent or emptied. Kept in the order of the calls. */
  keepDraft(place: string, draft: Draft | null): Promise<void>;
  /** The native dialog, for files or for folders; nothing added when it was dismissed. */
  pickAttachments(folders: boolean): Promise<Attached>;
  /** Files and pictures on the system's clipboard, which a webview shows only in part. */
  pasteClipboard(): Promise<Attached>;
  attachBytes(name: string, bytes: Uint8Array): Promise<Attached>;
  /** Those of a draft that are still there. */
  findAttachments(ids: string[]): Promise<AttachmentView[]>;
  removeAttachment(id: string): Promise<void>;
  /** Files dragged over the window, and what became of them when they were dropped. */
  onDrop(tell: (update: DropUpdate) => void): Promise<void>;
  /** Where the webview gets a picture from: as it is, or scaled to fit a square of `side`. */
  pictureURL(url: string, side?: number): string;
  /** Every picture of a session in its order, also those that are not loaded. */
  sessionImages(sessionID: string): Promise<SessionImage[]>;
  copyImage(url: string): Promise<void>;
  /** The native dialog; false when it was dismissed. */
  saveAttachment(url: string): Promise<boolean>;
  /** What the session used and cost, all of its messages counted. */
  sessionUsage(sessionID: string): Promise<SessionUsage>;
  /** What a prompt can draw on in a project. */
  listAgents(projectID: string): Promise<AgentView[]>;
  listCommands(projectID: string): Promise<CommandView[]>;
  /** What `@` and these letters could mean where a session works or will, best first. */
  findMentions(projectID: string, sessionID: string | null, query: string, limit: number): Promise<Mention[]>;

  /** What the project's own files would like to do, and whether they may. */
  trust(projectID: string): Promise<TrustView>;
  /** Trusts what was shown, by its hash; none takes the trust back. Refused when files have changed since. */
  setTrust(projectID: string, hash: string | null): Promise<TrustView>;
  /** Edits in this project need no question any more. */
  setProjectEdits(projectID: string, allow: boolean): Promise<void>;
  /** What the agent changed in the session, or in the turn of one prompt. */
  sessionDiff(sessionID: string, messageID?: string): Promise<SessionDiffView>;
  /** One file of that, drawn though it is usually folded. `whole`: with every line around its changes. */
  fileDiff(sessionID: string, messageID: string | undefined, path: string, whole: boolean): Promise<FileDiffView>;
  previewRevert(sessionID: string, target: RevertTarget): Promise<RevertPreview>;
  /** Refused with `busy` while the session is worked on. */
  revert(sessionID: string, target: RevertTarget): Promise<RevertOutcome>;
  /** Brings back what was taken back last. */
  unrevert(sessionID: string): Promise<RevertOutcome>;
  /** A new session with everything in front of the message (null: all of it). */
  fork(sessionID: string, messageID: string | null, worktree: boolean): Promise<Session>;
  /** Keeps the files as they are now, under a name. */
  checkpoint(sessionID: string, name: string): Promise<SnapshotPart>;
  /** An opened card in full. `whole`: changes with every line around them. */
  toolDetails(sessionID: string, messageID: string, partID: string, whole: boolean): Promise<ToolDetails>;
  /** Shows a PDF in the system's own reader. */
  openAttachment(sessionID: string, messageID: string, partID: string): Promise<void>;
  /** `path` is absolute, or seen from the session's folder. */
  openInEditor(sessionID: string, path: string, line: number | null): Promise<void>;

  /** What sharing would leave out, and where it would go. */
  sharePreview(sessionID: string): Promise<SharePreview>;
  /** To the server that is set up, or into a file a dialog asks for; null when dismissed. */
  shareSession(sessionID: string): Promise<Session | null>;
  unshareSession(sessionID: string): Promise<Session>;
  /** In the browser, also where it is a file. */
  openShared(sessionID: string): Promise<void>;
  /** The path of the file; null when the dialog was dismissed. */
  exportSession(sessionID: string): Promise<string | null>;
  /** From a file a dialog asks for; null when dismissed. */
  importSession(): Promise<ImportReport | null>;
  /** Starts those that are on, so ask again while one is `starting`. */
  listMcp(): Promise<McpServerView[]>;
  setMcpEnabled(name: string, on: boolean): Promise<McpServerView[]>;
  restartMcp(name: string): Promise<McpServerView[]>;
  /** The person has looked at the server's tools as they are now. */
  acceptMcp(name: string): Promise<McpServerView[]>;
  /**
   * One of the person's own, for editing. Values of variables and headers may be secret and come
   * out empty; saved empty, the value of a known name stays what it is.
   */
  readMcp(name: string): Promise<McpServerInput>;
  /** Adds one of the person's own, or replaces the one of that name. */
  saveMcp(name: string, server: McpServerInput): Promise<McpServerView[]>;
  removeMcp(name: string): Promise<McpServerView[]>;
  /** What servers let one attach to a prompt. */
  listMcpResources(projectID: string): Promise<McpResourceView[]>;

  /** Of a project, which may bring its own once it is trusted; else the person's. */
  listModels(projectID?: string): Promise<ModelList>;
  /** Looks for the model servers that people run on their own machine. */
  findLocalModels(): Promise<ModelList>;
  /** A key goes in and never comes out again. The provider may be one that a project brings. */
  setKey(providerID: string, key: string, projectID?: string): Promise<ModelList>;
  removeKey(providerID: string, projectID?: string): Promise<ModelList>;
  testConnection(providerID: string, projectID?: string): Promise<ConnectionReport>;

  /** Sessions of other programs, in the places where those keep them. */
  findImports(): Promise<ImportSource[]>;
  importFrom(path: string): Promise<ImportReport>;
  /** What was answered with "always" in a project. */
  approvedRules(projectID: string): Promise<Rule[]>;
  revokeRule(projectID: string, rule: Rule): Promise<Rule[]>;

  /** Whether the project's files may be changed without asking. */
  projectEdits(projectID: string): Promise<boolean>;

  dataUse(): Promise<DataView>;
  cleanData(kind: DataKind): Promise<DataView>;
  /** Removed sessions that can be brought back, removed last first. */
  listTrash(): Promise<TrashedSession[]>;
  checkData(repair: boolean): Promise<DataReport>;
  /** Opens the data folder in the system's file manager. */
  showData(): Promise<void>;

  /** What the menu bar shows; choosing an item tells its id. */
  setMenu(menus: MenuView[]): Promise<void>;
  onMenuChosen(tell: (id: string) => void): Promise<void>;
  /** A notification was clicked. */
  onSessionWanted(tell: (sessionID: string) => void): Promise<void>;

  saveSettings(settings: Settings): Promise<void>;
  remember(projectID: string | null, sessionID: string | null): Promise<void>;
  openExternal(url: string): Promise<void>;
  /** Fetches a picture of the web that was clicked on; resolves to its `attachment://` address. */
  loadRemoteImage(url: string): Promise<string>;
}

const CODES: Record<UiErrorCode, true> = { 'not-found': true, busy: true, storage: true, failed: true };

/** Whatever a host rejects with, as something that can be shown. */
export function uiError(reason: unknown): UiError {
  if (typeof reason !== 'object' || reason === null) return { code: 'failed', message: String(reason) };
  // Solid's resources wrap what is no Error; what the host said is inside.
  if (reason instanceof Error && typeof reason.cause === 'object' && reason.cause !== null) return uiError(reason.cause);
  const { code, message } = reason as Partial<UiError>;
  return {
    code: code !== undefined && code in CODES ? code : 'failed',
    message: message ?? String(reason),
  };
}
