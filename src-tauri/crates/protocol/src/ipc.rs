//! What the shell and the window exchange, beyond the stored types.
//!
//! These are the arguments and answers of commands. In addition, each window has a channel that
//! carries [`UiBatch`]es, at most one per frame.

mod activity;
mod agents;
mod attachments;
mod details;
mod drafts;
mod editor;
mod git;
mod import;
mod mcp;
mod mode;
mod models;
mod prompt;
mod review;
mod search;
mod settings;
mod share;
mod trust;
mod turn;

pub use activity::Activity;
pub use agents::{AgentMode, AgentView, CommandView};
pub use attachments::{
    Attached, AttachmentKind, AttachmentView, DropUpdate, RefusedAttachment, RefusedWhy,
    SessionImage, SessionUsage,
};
pub use details::{AnsweredQuestion, MatchedFile, MatchedLine, ToolBody, ToolDetails, TreeEntry};
pub use drafts::{Draft, DraftAttachment, DraftResource, DraftSymbol};
pub use editor::{EditorChoice, EditorKind};
pub use git::{
    BringBack, BringBackChoice, BringBackFile, BringBackPreview, CommitDone, CommitInput,
    ComparedWorktree, GitFolder, GitOperation, GitStatus, RemovedWorktree, WorktreeView,
};
pub use import::{
    ImportKind, ImportLeftOut, ImportProgress, ImportReport, ImportSource, ImportUnreadable,
};
pub use mcp::{McpResourceView, McpServerInput, McpServerView, McpStatus, McpToolView};
pub use mode::{Limits, ModeView, SandboxView};
pub use models::{ConnectionReport, KeyView, ModelList, ModelView, PriceView, ProviderView};
pub use prompt::{Mention, PromptFile, PromptInput, SymbolKind};
pub use review::{
    CommentState, DiffComment, DiffRun, DiffSide, FileVersion, KeptState, LineConflict, LineRange,
    NewComment, PendingRevert, RevertChange, RevertChoice, RevertFile, RevertLinesFile,
    RevertLinesOptions, RevertLinesPreview, RevertOptions, RevertOutcome, RevertPreview,
    RevertSides, RevertTarget, RevertedItem, ReviewAction, ReviewActionKind, ReviewComment,
    ReviewDone, ReviewDoubt, ReviewFile, ReviewFileDiff, ReviewFiles, ReviewHunk, ReviewPictures,
    ReviewScope, ReviewSelection, SessionDiffView, SessionStep, StepPlace, TreeEntryView,
};
pub use search::{FindHit, HitKind, SearchAnswer, SearchHit, SnippetPiece};
pub use settings::{
    DataKind, DataReport, DataUse, DataView, MenuItemView, MenuRole, MenuView, TrashedSession,
};
pub use share::{Redaction, SessionExport, SharePreview};
pub use trust::{ConfigProblem, TrustState, TrustView, TrustWant, WantKind};
pub use turn::{ContextUse, LastUse};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::event::Event;
use crate::id::{MessageId, PartId, ProjectId, SessionId};
use crate::message::{Message, ModelRef};
use crate::part::Part;
use crate::project::Project;
use crate::session::Session;
use crate::todo::Todo;

/// Everything the window needs to draw itself for the first time.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct AppStart {
    pub projects: Vec<Project>,
    pub recent: Recent,
    pub settings: Settings,
    /// Not all settings were understood; the file as it was is kept here. Said once.
    pub damaged_settings: Option<String>,
    pub version: String,
}

/// The project and the session that were open when the app was closed.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Recent {
    #[serde(rename = "projectID")]
    pub project_id: Option<ProjectId>,
    #[serde(rename = "sessionID")]
    pub session_id: Option<SessionId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The tag of the window's language, such as `en`; empty for the system's own.
    pub language: String,
    pub theme: Theme,
    pub sidebar_open: bool,
    pub sidebar_width: u32,
    pub favourite_models: Vec<ModelRef>,
    /// Newest first.
    pub recent_models: Vec<ModelRef>,
    /// Where a turn pauses and asks.
    pub limits: Limits,
    /// The reasoning variant chosen last, by `provider/model`.
    pub variants: BTreeMap<String, String>,
    /// In percent.
    pub zoom: u32,
    pub reduced_motion: bool,
    pub menu_bar: bool,
    /// Show a system notification when a turn ends, fails or waits for the user and the window is
    /// not in front.
    pub notify: bool,
    /// Notifications make a sound.
    pub notify_sound: bool,
    /// Shortcuts that the user has changed, by action. An empty text means no shortcut.
    pub shortcuts: BTreeMap<String, String>,
    /// The program that opens a file when the user clicks on it.
    pub editor: EditorChoice,
    pub review: ReviewSettings,
    /// The shell that runs commands: a path, `git-bash`, or empty for the user's default shell.
    pub shell: String,
    /// Hosts in private networks that may be fetched from.
    pub private_hosts: Vec<String>,
    /// The user has seen the welcome, or skipped it. A file without this is of a version that had
    /// none.
    #[serde(default = "seen")]
    pub welcomed: bool,
    /// The user has already answered the offer to import another program's data.
    pub import_offered: bool,
    /// Folders for which the user has confirmed full access once.
    pub full_access_confirmed: Vec<String>,
}

fn seen() -> bool {
    true
}

/// How the review pane shows changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewSettings {
    pub width: u32,
    /// Show old and new side by side instead of one below the other.
    pub side_by_side: bool,
    /// Open the pane at a session's first change.
    pub opens: bool,
}

impl Default for ReviewSettings {
    fn default() -> Self {
        ReviewSettings {
            width: 460,
            side_by_side: false,
            opens: true,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            language: String::new(),
            theme: Theme::System,
            sidebar_open: true,
            sidebar_width: 264,
            favourite_models: Vec::new(),
            recent_models: Vec::new(),
            limits: Limits::default(),
            variants: BTreeMap::new(),
            zoom: 100,
            reduced_motion: false,
            menu_bar: true,
            notify: true,
            notify_sound: false,
            shortcuts: BTreeMap::new(),
            editor: EditorChoice::default(),
            review: ReviewSettings::default(),
            shell: String::new(),
            private_hosts: Vec::new(),
            welcomed: false,
            import_offered: false,
            full_access_confirmed: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    System,
    Light,
    Dark,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ProjectOpened {
    pub project: Project,
    pub sessions: Vec<Session>,
}

/// A session as the timeline opens it: usually its newest messages. Without its status and its
/// requests: the window knows those of every session ([`UiUpdate::Activity`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub session: Session,
    pub messages: Vec<MessageView>,
    pub has_older: bool,
    /// Newer messages follow, because the session was opened at an older place.
    pub has_newer: bool,
    pub todos: Vec<Todo>,
    /// Prompts that wait for the next step; the user can still change them.
    pub queued: Vec<MessageId>,
    /// How many reverts of files, hunks and snapshots can be undone, one after the other. A
    /// pending revert is not counted here: it is in the session.
    pub undoable: usize,
    pub context: ContextUse,
    /// Absent in a session without a prompt.
    pub last_use: Option<LastUse>,
    /// Files of this session that could not be read; their bytes are in quarantine.
    pub damaged: Vec<Damaged>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    pub messages: Vec<MessageView>,
    pub has_older: bool,
    pub has_newer: bool,
    pub damaged: Vec<Damaged>,
}

/// A stored file that cannot be read, listed in place of its content.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Damaged {
    /// The storage key, such as `part/msg_…/prt_…`.
    pub key: String,
    pub reason: String,
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct MessageView {
    pub info: Message,
    pub parts: Vec<PartView>,
}

/// A part and its rendered form.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct PartView {
    pub part: Part,
    /// Sanitised HTML: one string per top-level Markdown block (text and reasoning), or the
    /// newest lines that a running command has printed.
    pub blocks: Option<Vec<String>>,
    /// The blocks have only some of the text, and the part only its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UiBatch {
    pub updates: Vec<UiUpdate>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(
    clippy::large_enum_variant,
    reason = "made, sent and dropped within a frame"
)]
pub enum UiUpdate {
    /// What all sessions are doing now. The first update that a window gets, and the first after
    /// updates were lost.
    Activity {
        activity: Activity,
    },
    /// Any event except a part update, which is sent rendered as `Part` or `Blocks`.
    Event {
        event: Event,
    },
    Part {
        part: PartView,
    },
    /// A streaming part has grown: keep the first `keep` blocks and append these.
    Blocks {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
        keep: u32,
        blocks: Vec<String>,
    },
    /// Updates were lost: open the session again.
    Reset {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
    },
    /// The prompts that wait for the next step, oldest first.
    Queue {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        messages: Vec<MessageId>,
    },
    /// Marks, comments or the actions to undo of a review have changed.
    Review {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        files: Vec<String>,
    },
    /// A file of the review that was read last was changed by something outside.
    Outside {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        /// Relative to the work tree of the session.
        path: String,
    },
    /// The store cannot write (the disk is full or read-only); `None` when it can again.
    Store {
        problem: Option<String>,
    },
}

/// The error that a command returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UiError {
    pub code: UiErrorCode,
    pub message: String,
}

/// A code exists only where the UI does something different because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum UiErrorCode {
    /// The session is gone: leave it.
    NotFound,
    /// Another process has the session open: show it read-only.
    Busy,
    /// The store cannot write: keep the draft and tell the user.
    Storage,
    /// The person must agree first: ask, and send it again with their consent.
    Confirm,
    /// Any other failure: show the message.
    Failed,
}
