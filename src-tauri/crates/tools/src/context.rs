//! Everything that a tool may know about its environment or ask of it.
//!
//! The turn builds one [`ToolContext`] per call and implements [`Host`]; tools see neither
//! sessions nor storage.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use lathe_protocol::{MessageId, Question, SessionId, ShellDialect, Todo};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::tool::ToolFailure;

#[derive(Clone)]
pub struct ToolContext {
    /// The project's canonical root. Paths below it need no `external_directory` permission.
    pub root: PathBuf,
    /// The base of relative paths: the root or a folder below it.
    pub cwd: PathBuf,
    pub call: CallIds,
    pub cancel: CancellationToken,
    /// What this session has read, shared by all its calls.
    pub reads: Arc<FileReads>,
    /// The folder for the full text of truncated results.
    pub output_dir: PathBuf,
    pub environment: Arc<crate::environment::Environment>,
    pub clock: Arc<dyn Clock>,
    pub host: Arc<dyn Host>,
}

/// Identifies the call. Opaque to tools; used for file names only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallIds {
    pub session: SessionId,
    pub message: MessageId,
    pub call: String,
}

/// Takes a path in the form of [`Place::shown`](crate::paths::Place::shown). Callable from any
/// thread.
pub type MayRead = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What a tool can ask of the turn.
#[async_trait]
pub trait Host: Send + Sync {
    /// Returns when every pattern is allowed, by a rule or by the user.
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure>;

    /// Returns when a command may run: whatever it needs is allowed, by rules or by the user.
    async fn ask_to_run(&self, ask: CommandAsk) -> Result<(), ToolFailure>;

    /// Which files may be read without asking, for a search in many files.
    async fn may_read(&self) -> Result<MayRead, ToolFailure>;

    /// A live update for the call's card. Must not block.
    fn progress(&self, progress: Progress);

    /// One list of chosen labels (or typed answers) per question.
    async fn question(&self, questions: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure>;

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure>;

    async fn set_todos(&self, todos: Vec<Todo>) -> Result<(), ToolFailure>;

    /// Runs a child session to its end. Aborting this call aborts the child, too.
    async fn spawn_task(&self, task: TaskRequest) -> Result<TaskResult, ToolFailure>;

    /// Continues the turn with another agent. The user has agreed.
    async fn switch_agent(&self, to: AgentSwitch) -> Result<(), ToolFailure>;

    /// Must be called before anything on disk is changed. Fails while our own store cannot
    /// write, because a change that is not recorded could not be reverted.
    async fn ensure_writable(&self) -> Result<(), ToolFailure>;

    /// A file's content was changed by this call.
    async fn file_edited(&self, path: &Path);
}

/// The mode that the turn continues in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentSwitch {
    /// Read and plan, change nothing.
    Plan,
    /// Carry the plan out.
    Build,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PermissionAsk {
    pub permission: String,
    /// All must be allowed.
    pub patterns: Vec<String>,
    /// The patterns that "always" would allow. If empty, "always" is not offered.
    pub always: Vec<String>,
    /// The patterns do not cover everything that would happen (a redirect, a substitution…).
    /// Then only a rule that allows everything (`*`) or the user may allow it.
    pub opaque: bool,
    /// For the dialog.
    pub metadata: Map<String, Value>,
}

impl PermissionAsk {
    pub fn new(permission: &str, pattern: impl Into<String>) -> Self {
        Self {
            permission: permission.to_owned(),
            patterns: vec![pattern.into()],
            ..Self::default()
        }
    }

    #[must_use]
    pub fn always(mut self, pattern: impl Into<String>) -> Self {
        self.always.push(pattern.into());
        self
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }
}

/// A command line that a tool wants to run. The host analyses what it would do.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandAsk {
    pub command: String,
    /// The working directory, without symbolic links.
    pub directory: PathBuf,
    pub dialect: ShellDialect,
    /// For the dialog.
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    pub title: Option<String>,
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRequest {
    pub description: String,
    pub prompt: String,
    pub agent: String,
    /// A child session to continue, from the result of an earlier call.
    pub session_id: Option<String>,
    pub command: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskResult {
    pub session_id: String,
    /// The child's last text.
    pub text: String,
    /// For the card: what the child did.
    pub metadata: Map<String, Value>,
}

/// The clock is injected, so that tests need not wait.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| {
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            })
    }
}

/// SHA-256 of a file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// Computes the hash of content that comes in pieces.
#[derive(Default)]
pub struct Hasher(Sha256);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> ContentHash {
        ContentHash(self.0.finalize().into())
    }
}

/// The content of each file that the model has read. A file is changed only if it still has this
/// content.
#[derive(Debug, Default)]
pub struct FileReads {
    seen: Mutex<HashMap<PathBuf, ContentHash>>,
}

impl FileReads {
    /// `path` is canonical.
    pub fn record(&self, path: &Path, hash: ContentHash) {
        self.seen.lock().insert(path.to_owned(), hash);
    }

    pub fn forget(&self, path: &Path) {
        self.seen.lock().remove(path);
    }

    pub fn hash_of(&self, path: &Path) -> Option<ContentHash> {
        self.seen.lock().get(path).copied()
    }
}
