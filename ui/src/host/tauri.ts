/** The Rust core behind the window. The only file that imports @tauri-apps. */
import { Channel, convertFileSrc, invoke, isTauri } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import type { DropUpdate, ImportProgress, UiBatch } from '../protocol';
import type { Host } from './host';

export const inTauri = isTauri;

/** Events of the shell: `window.rs`, `menu.rs` and `notify.rs` emit them. */
const OPEN_FOLDER = 'open-folder';
const DROP = 'drop-update';
const MENU_CHOSEN = 'menu-chosen';
const OPEN_SESSION = 'open-session';
const FAULT = 'fault';
/** The core's form of an attachment address; on Windows the webview needs another one. */
const ATTACHMENT = 'attachment://localhost/';

export function createTauriHost(): Host {
  return {
    start: () => invoke('start'),
    watch: (receive) => {
      const channel = new Channel<UiBatch>();
      channel.onmessage = receive;
      return invoke('watch', { channel });
    },
    onFolderWanted: async (tell) => {
      await listen(OPEN_FOLDER, tell);
    },

    pickProject: () => invoke('pick_project'),

    listProjects: () => invoke('list_projects'),
    listSessions: (projectId) => invoke('list_sessions', { projectId }),
    createSession: (projectId) => invoke('create_session', { projectId }),
    renameSession: (sessionId, title) => invoke('rename_session', { sessionId, title }),
    archiveSession: (sessionId, archived) => invoke('archive_session', { sessionId, archived }),
    deleteSession: (sessionId) => invoke('delete_session', { sessionId }),
    restoreSession: (sessionId) => invoke('restore_session', { sessionId }),

    openSession: (sessionId, limit) => invoke('open_session', { sessionId, limit }),
    olderMessages: (sessionId, before, limit) => invoke('older_messages', { sessionId, before, limit }),
    closeSession: (sessionId) => invoke('close_session', { sessionId }),

    search: (query, limit) => invoke('search', { query, limit }),
    findInSession: (sessionId, query) => invoke('find_in_session', { sessionId, query }),
    openSessionAt: (sessionId, messageId, limit) => invoke('open_session_at', { sessionId, messageId, limit }),
    newerMessages: (sessionId, after, limit) => invoke('newer_messages', { sessionId, after, limit }),

    prompt: (sessionId, input) => invoke('prompt', { sessionId, input }),
    runCommand: (sessionId, name, args, input) => invoke('run_command', { sessionId, name, args, input }),
    abort: (sessionId) => invoke('abort', { sessionId }),
    retryNow: (sessionId) => invoke('retry_now', { sessionId }),
    compact: (sessionId) => invoke('compact', { sessionId }),
    contextUse: (sessionId) => invoke('context_use', { sessionId }),
    editQueued: (sessionId, messageId, text) => invoke('edit_queued', { sessionId, messageId, text }),
    removeQueued: (sessionId, messageId) => invoke('remove_queued', { sessionId, messageId }),
    moveQueuedUp: (sessionId, messageId) => invoke('move_queued_up', { sessionId, messageId }),
    sendQueuedNow: (sessionId, messageId) => invoke('send_queued_now', { sessionId, messageId }),
    runShell: (sessionId, input) => invoke('run_shell', { sessionId, input }),
    drawDiagram: (source, dark) => invoke('draw_diagram', { source, dark }),
    outline: (sessionId) => invoke('outline', { sessionId }),
    sendUnsent: (sessionId, messageId) => invoke('send_unsent', { sessionId, messageId }),
    answerPermission: (requestId, reply, message, comments) =>
      invoke('answer_permission', { requestId, reply, message, comments }),
    answerQuestion: (requestId, answers) => invoke('answer_question', { requestId, answers }),
    dismissQuestion: (requestId) => invoke('dismiss_question', { requestId }),

    drafts: () => invoke('drafts'),
    keepDraft: (place, draft) => invoke('keep_draft', { place, draft }),
    pickAttachments: (folders) => invoke('pick_attachments', { folders }),
    pasteClipboard: () => invoke('paste_clipboard'),
    attachBytes: (name, bytes) =>
      invoke('attach_bytes', bytes, { headers: { 'x-name': encodeURIComponent(name) } }),
    findAttachments: (ids) => invoke('find_attachments', { ids }),
    removeAttachment: (id) => invoke('remove_attachment', { id }),
    onDrop: async (tell) => {
      await listen<DropUpdate>(DROP, ({ payload }) => tell(payload));
    },
    pictureURL: (url, side) => {
      if (!url.startsWith(ATTACHMENT)) return url;
      const address = convertFileSrc('', 'attachment') + url.slice(ATTACHMENT.length);
      return side === undefined ? address : `${address}?thumb=${side}`;
    },
    sessionImages: (sessionId) => invoke('session_images', { sessionId }),
    copyImage: (url) => invoke('copy_image', { url }),
    saveAttachment: (url) => invoke('save_attachment', { url }),
    sessionUsage: (sessionId) => invoke('session_usage', { sessionId }),

    listAgents: (projectId) => invoke('list_agents', { projectId }),
    listCommands: (projectId) => invoke('list_commands', { projectId }),
    findMentions: (projectId, sessionId, query, limit) =>
      invoke('find_mentions', { projectId, sessionId, query, limit }),

    configProblems: (projectId) => invoke('config_problems', { projectId }),
    openConfigFile: (projectId, file, line) => invoke('open_config_file', { projectId, file, line }),
    trust: (projectId) => invoke('trust', { projectId }),
    setTrust: (projectId, hash) => invoke('set_trust', { projectId, hash }),
    setProjectEdits: (projectId, allow) => invoke('set_project_edits', { projectId, allow }),
    permissionMode: (projectId) => invoke('permission_mode', { projectId }),
    setPermissionMode: (projectId, mode) => invoke('set_permission_mode', { projectId, mode }),
    sessionDiff: (sessionId, messageId) => invoke('session_diff', { sessionId, messageId }),
    fileDiff: (sessionId, messageId, path, whole) => invoke('file_diff', { sessionId, messageId, path, whole }),
    previewRevert: (sessionId, target) => invoke('preview_revert', { sessionId, target }),
    revert: (sessionId, target, options) => invoke('revert', { sessionId, target, options }),
    unrevert: (sessionId) => invoke('unrevert', { sessionId }),
    undoLastTurn: (sessionId, keepFiles) => invoke('undo_last_turn', { sessionId, keepFiles }),
    lastTurn: (sessionId) => invoke('last_turn', { sessionId }),
    listReverted: (sessionId) => invoke('reverted', { sessionId }),
    restoreReverted: (sessionId, item, options) => invoke('restore_reverted', { sessionId, item, options }),
    discardReverted: (sessionId) => invoke('discard_reverted', { sessionId }),
    pendingRevert: (sessionId) => invoke('pending_revert', { sessionId }),
    reviewFiles: (sessionId, scope) => invoke('review_files', { sessionId, scope }),
    closeReview: (sessionId) => invoke('close_review', { sessionId }),
    setViewed: (sessionId, path, version) => invoke('set_viewed', { sessionId, path, version }),
    reviewFile: (sessionId, scope, path, ignoreWhitespace) =>
      invoke('review_file', { sessionId, scope, path, ignoreWhitespace }),
    reviewLines: (sessionId, scope, path, version, ignoreWhitespace, hunk, from, to) =>
      invoke('review_lines', { sessionId, scope, path, version, ignoreWhitespace, hunk, from, to }),
    reviewContext: (sessionId, scope, path, version, from, to) =>
      invoke('review_context', { sessionId, scope, path, version, lines: { from, to } }),
    reviewPictures: (sessionId, scope, path) => invoke('review_pictures', { sessionId, scope, path }),
    keepLines: (sessionId, scope, selection) => invoke('keep_lines', { sessionId, scope, selection }),
    unkeepLines: (sessionId, scope, selection) => invoke('unkeep_lines', { sessionId, scope, selection }),
    previewRevertLines: (sessionId, scope, selection, options) =>
      invoke('preview_revert_lines', { sessionId, scope, selection, options }),
    revertLines: (sessionId, scope, selection, options) => invoke('revert_lines', { sessionId, scope, selection, options }),
    undoReview: (sessionId, options) => invoke('undo_review', { sessionId, options }),
    redoReview: (sessionId, options) => invoke('redo_review', { sessionId, options }),
    addComment: (sessionId, scope, comment) => invoke('add_comment', { sessionId, scope, comment }),
    editComment: (sessionId, id, text) => invoke('edit_comment', { sessionId, id, text }),
    removeComment: (sessionId, id) => invoke('remove_comment', { sessionId, id }),
    resolveComment: (sessionId, id, resolved) => invoke('resolve_comment', { sessionId, id, resolved }),
    sendComments: (sessionId, text) => invoke('send_comments', { sessionId, text }),
    sessionSteps: (sessionId) => invoke('session_steps', { sessionId }),
    stepTree: (sessionId, at, folder) => invoke('step_tree', { sessionId, at, folder }),
    stepFile: (sessionId, at, path, lines) => invoke('step_file', { sessionId, at, path, lines }),
    previewRestore: (sessionId, at) => invoke('preview_restore', { sessionId, at }),
    restoreFiles: (sessionId, at, options) => invoke('restore_files', { sessionId, at, options }),
    forkAt: (sessionId, at, worktree) => invoke('fork_at', { sessionId, at, worktree }),
    gitFolders: (projectId) => invoke('git_folders', { projectId }),
    gitStatus: (sessionId) => invoke('git_status', { sessionId }),
    stageKept: (sessionId, scope) => invoke('stage_kept', { sessionId, scope }),
    unstageAll: (sessionId) => invoke('unstage_all', { sessionId }),
    draftCommitMessage: (sessionId) => invoke('draft_commit_message', { sessionId }),
    commit: (sessionId, input) => invoke('commit', { sessionId, input }),
    lastCommitMessage: (sessionId) => invoke('last_commit_message', { sessionId }),
    stash: (sessionId, message) => invoke('stash', { sessionId, message }),
    unstash: (sessionId) => invoke('unstash', { sessionId }),
    patchText: (sessionId, scope, keptOnly) => invoke('patch_text', { sessionId, scope, keptOnly }),
    savePatch: (sessionId, scope, keptOnly) => invoke('save_patch', { sessionId, scope, keptOnly }),
    createSessionInWorktree: (projectId, name) => invoke('create_session_in_worktree', { projectId, name }),
    worktreeFiles: (sessionId) => invoke('worktree_files', { sessionId }),
    previewBringBack: (sessionId, how) => invoke('preview_bring_back', { sessionId, how }),
    bringBack: (sessionId, how, choices) => invoke('bring_back', { sessionId, how, choices }),
    removeWorktree: (sessionId) => invoke('remove_worktree', { sessionId }),
    fork: (sessionId, messageId, worktree) => invoke('fork', { sessionId, messageId, worktree }),
    checkpoint: (sessionId, name) => invoke('checkpoint', { sessionId, name }),
    toolDetails: (sessionId, messageId, partId, whole) =>
      invoke('tool_details', { sessionId, messageId, partId, whole }),
    partText: (sessionId, messageId, partId) => invoke('part_text', { sessionId, messageId, partId }),
    copyText: (text) => invoke('copy_text', { text }),
    copyPartText: (sessionId, messageId, partId) => invoke('copy_part_text', { sessionId, messageId, partId }),
    openAttachment: (sessionId, messageId, partId) => invoke('open_attachment', { sessionId, messageId, partId }),
    openInEditor: (sessionId, path, line) => invoke('open_in_editor', { sessionId, path, line }),

    sharePreview: (sessionId) => invoke('share_preview', { sessionId }),
    shareSession: (sessionId) => invoke('share_session', { sessionId }),
    unshareSession: (sessionId) => invoke('unshare_session', { sessionId }),
    openShared: (sessionId) => invoke('open_shared', { sessionId }),
    exportSession: (sessionId) => invoke('export_session', { sessionId }),
    importSession: () => invoke('import_session'),
    listMcp: () => invoke('list_mcp'),
    setMcpEnabled: (name, on) => invoke('set_mcp_enabled', { name, on }),
    restartMcp: (name) => invoke('restart_mcp', { name }),
    acceptMcp: (name) => invoke('accept_mcp', { name }),
    readMcp: (name) => invoke('read_mcp', { name }),
    saveMcp: (name, server) => invoke('save_mcp', { name, server }),
    removeMcp: (name) => invoke('remove_mcp', { name }),
    listMcpResources: (projectId) => invoke('list_mcp_resources', { projectId }),

    listModels: (projectId) => invoke('list_models', { projectId: projectId ?? null }),
    findLocalModels: () => invoke('find_local_models'),
    setKey: (providerId, key, projectId) => invoke('set_key', { projectId, providerId, key }),
    removeKey: (providerId, projectId) => invoke('remove_key', { projectId, providerId }),
    addedProviders: () => invoke('added_providers'),
    tryProvider: (provider, key) => invoke('try_provider', { provider, key }),
    saveProvider: (provider, key, projectId) => invoke('save_provider', { projectId, provider, key }),
    removeProvider: (providerId, projectId) => invoke('remove_provider', { projectId, providerId }),
    testConnection: (providerId, projectId) => invoke('test_connection', { projectId, providerId }),

    findImports: () => invoke('find_imports'),
    importFrom: (path, onProgress) => {
      const progress = new Channel<ImportProgress>();
      progress.onmessage = onProgress;
      return invoke('import_from', { path, progress });
    },
    stopImport: () => invoke('stop_import'),
    approvedRules: (projectId) => invoke('approved_rules', { projectId }),
    revokeRule: (projectId, rule) => invoke('revoke_rule', { projectId, rule }),

    projectEdits: (projectId) => invoke('project_edits', { projectId }),

    dataUse: () => invoke('data_use'),
    cleanData: (kind) => invoke('clean_data', { kind }),
    listTrash: () => invoke('list_trash'),
    checkData: (repair) => invoke('check_data', { repair }),
    showData: () => invoke('show_data'),
    showLog: () => invoke('show_log'),
    copyDiagnostics: (page) => invoke('copy_diagnostics', { page }),
    reportError: (error) => invoke('report_error', { error }),
    onFault: async (tell) => {
      await listen<string>(FAULT, (event) => tell(event.payload));
    },

    setMenu: (menus) => invoke('set_menu', { menus }),
    windowAction: (role) => invoke('window_action', { role }),
    setBadge: (count) => invoke('set_badge', { count }),
    onMenuChosen: async (tell) => {
      await listen<string>(MENU_CHOSEN, (event) => tell(event.payload));
    },
    onSessionWanted: async (tell) => {
      await listen<string>(OPEN_SESSION, (event) => tell(event.payload));
    },

    saveSettings: (settings) => invoke('save_settings', { settings }),
    remember: (projectId, sessionId) => invoke('remember', { projectId, sessionId }),
    openExternal: (url) => invoke('open_external', { url }),
    loadRemoteImage: (url) => invoke('load_remote_image', { url }),
  };
}
