//! Everything that a tool may know about its environment or ask of it.
//!
//! The turn builds one [`ToolContext`] per call and implements [`Host`]; tools see neither
//! sessions nor storage.

use std::collections::HashMap;
use std::ffi::OsString;
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
use crate::written::{FileChange, WriteEvidence};

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
    /// Returns when everything in the list is allowed, by rules or by the user.
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure>;

    /// Returns when a command may run, and how: whatever it needs is allowed, by rules, by the
    /// user, or because it runs in a sandbox.
    async fn ask_to_run(&self, ask: CommandAsk) -> Result<RunPermit, ToolFailure>;

    /// The sandbox has stopped a command. Returns when it may run again, and how: outside, or
    /// with what was refused granted.
    async fn ask_to_leave_sandbox(
        &self,
        ask: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure>;

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

    /// Must be called by a tool that knows what it will write, right before it writes, in place of
    /// [`Host::ensure_writable`]. [`Host::file_edited`] confirms each file.
    async fn about_to_write(&self, _: Vec<FileChange>) -> Result<(), ToolFailure> {
        self.ensure_writable().await
    }

    /// Must be called right before a command or another program starts that may change any file,
    /// in place of [`Host::ensure_writable`].
    async fn about_to_run(&self) -> Result<(), ToolFailure> {
        self.ensure_writable().await
    }

    /// The command has ended. `None` if it was not watched.
    async fn has_run(&self, _: Option<Box<dyn WriteEvidence>>) {}

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

/// One thing that a call needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Want {
    pub permission: String,
    /// All must be allowed.
    pub patterns: Vec<String>,
    /// The patterns that "always" would allow. If empty, "always" is not offered.
    pub always: Vec<String>,
    /// The patterns do not cover everything that would happen (a redirect, a substitution…).
    /// Then only a rule that allows everything (`*`) or the user may allow it.
    pub opaque: bool,
}

impl Want {
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
}

/// Everything that a call needs, asked at once: one call, one dialog.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionAsk {
    /// The most important one first. Never empty.
    pub wants: Vec<Want>,
    /// For the dialog.
    pub metadata: Map<String, Value>,
}

impl From<Want> for PermissionAsk {
    fn from(want: Want) -> Self {
        Self {
            wants: vec![want],
            metadata: Map::new(),
        }
    }
}

impl PermissionAsk {
    pub fn new(permission: &str, pattern: impl Into<String>) -> Self {
        Want::new(permission, pattern).into()
    }

    /// A pattern that "always" would allow, for the first want.
    #[must_use]
    pub fn always(mut self, pattern: impl Into<String>) -> Self {
        if let Some(first) = self.wants.first_mut() {
            first.always.push(pattern.into());
        }
        self
    }

    /// Adds wants, each of them once.
    #[must_use]
    pub fn and(mut self, wants: impl IntoIterator<Item = Want>) -> Self {
        for want in wants {
            if !self.wants.contains(&want) {
                self.wants.push(want);
            }
        }
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
    /// What it needs besides what the analysis of the command finds.
    pub wants: Vec<Want>,
    /// For the dialog.
    pub metadata: Map<String, Value>,
}

/// How a command may run.
#[derive(Clone)]
pub enum RunPermit {
    /// With all the rights of the person.
    Free,
    /// In a sandbox.
    Confined(Arc<dyn Walls>),
}

/// A sandbox for one start of a command. It holds until it is dropped, so it is kept until the
/// command has ended.
pub trait Walls: Send + Sync {
    /// The name of what confines, for the card.
    fn engine(&self) -> &str;

    /// Words to put before the program and its arguments.
    fn prefix(&self) -> &[OsString];

    /// Prepares the process that is to run the prefix and the program, itself or as a child.
    fn install(&self, command: &mut std::process::Command);

    /// Whether the sandbox made the command fail. `code` is what its shell ended with; `None` if
    /// the shell was killed.
    fn refusal(&self, code: Option<i32>, output: &str) -> Option<Refusal>;

    /// Whether a command inside may change the file at this real path, and its name.
    fn may_write(&self, path: &Path) -> bool;

    /// Renames what the command made in protected places, so that nothing acts on it before the
    /// person has seen it. To be called when its last process has ended. Blocks.
    fn set_aside(&self) -> SetAside {
        SetAside::default()
    }
}

/// What a command in a sandbox made in protected places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAside {
    pub items: Vec<ProtectedItem>,
    /// There were too many folders to look through all of them.
    pub incomplete: bool,
}

/// A protected file or folder that was not there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedItem {
    pub path: PathBuf,
    /// As rules and people see it.
    pub shown: String,
    /// Its name for now; `None` if it could not be renamed.
    pub aside: Option<PathBuf>,
}

/// What the sandbox has refused a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Never empty.
    pub refused: Vec<Refused>,
    /// A sentence for each, for the user and the model.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// To create or change a path. It need not exist.
    Write(PathBuf),
    /// To read a path.
    Read(PathBuf),
    /// To reach another host, with its name if the output has it.
    Network(Option<String>),
    /// Something that only works outside: tracing, mounts, namespaces.
    SystemCall,
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
