//! Records what a call does to files: right before it, and right after.
//!
//! What one of our own tools writes is kept to the byte, wherever it lies. A command gets a tree
//! before and one after; what lies between is the command's where its processes were seen to
//! write it. The record is stored before anything changes, so that a crash leaves a trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::written::{Around, CommandWrites, FileChange, WriteEvidence, Writer};
use lathe_protocol::{MessageWithParts, Part, SessionId};
use lathe_snapshot::{Coverage, FileContent, FileImage, RelPath, SideRepo, TreeCoverage, TreeId};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::Review;
use crate::credit::{self, Credit, Kind, Proof, Span, beforehand};
use crate::snapshots::{OUTSIDE, for_fork, with_room};

const GIT_STATE: &str = "it changes files of git itself, and those are not kept";
const CUT_SHORT: &str = "it was cut short";
/// Stored with calls.
pub(crate) const SWITCHED_OFF: &str = "snapshots are switched off";

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Agent,
    /// The agent, where the person has switched snapshots off.
    AgentUnseen,
    /// The person: a command of their own changes nothing that could be the agent's.
    Person,
}

/// A record to store with the call's part, and whom to notify when it is safe.
pub type Stored = (Credit, oneshot::Sender<()>);

/// The record of one call.
pub struct CreditKeeper {
    review: Arc<Review>,
    session: SessionId,
    worktree: PathBuf,
    caller: Caller,
    state: Mutex<State>,
    store: mpsc::UnboundedSender<Stored>,
}

#[derive(Default)]
struct State {
    credit: Credit,
    /// The spans of our own tools that no file has confirmed yet.
    unconfirmed: Vec<Span>,
}

impl CreditKeeper {
    pub fn new(
        review: Arc<Review>,
        session: &SessionId,
        worktree: PathBuf,
        caller: Caller,
    ) -> (Self, mpsc::UnboundedReceiver<Stored>) {
        let (store, stored) = mpsc::unbounded_channel();
        let keeper = CreditKeeper {
            review,
            session: session.clone(),
            worktree,
            caller,
            state: Mutex::default(),
            store,
        };
        (keeper, stored)
    }

    /// Keeps what files are and what they will be.
    pub async fn about_to_write(&self, changes: Vec<FileChange>) {
        let project = match self.review.snapshots.is_covered(&self.worktree).await {
            Ok(()) => Some(self.worktree.clone()),
            Err(_) => None,
        };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for change in changes {
            let below = project.as_ref().and_then(|root| below(root, &change.path));
            match (below, below_root(&change.path)) {
                (Some(path), _) => inside.push((path, change)),
                (None, Some(path)) => outside.push((path, change)),
                (None, None) => self.set_unknown(GIT_STATE),
            }
        }
        let mut spans = Vec::new();
        for (root, changes) in [(self.worktree.clone(), inside), (OUTSIDE.into(), outside)] {
            if changes.is_empty() {
                continue;
            }
            match self.keep(&root, changes).await {
                Ok(span) => spans.push(span),
                Err(why) => self.set_unknown(&why),
            }
        }
        self.state.lock().unconfirmed.extend(spans);
        self.save().await;
    }

    async fn keep(&self, root: &Path, changes: Vec<(RelPath, FileChange)>) -> Result<Span, String> {
        let label = self.session.to_string();
        let keep = move |repo: &SideRepo| {
            let mut images = (Vec::new(), Vec::new());
            for (path, change) in changes {
                let file = change.path;
                let image = |bytes: Option<Vec<u8>>| FileImage {
                    path: path.clone(),
                    content: bytes.map(|bytes| FileContent::like_file_at(&file, bytes)),
                };
                images.0.push(image(change.before));
                images.1.push(image(change.after));
            }
            let before = repo.keep_images(&label, &images.0)?;
            Ok((before, repo.keep_images(&label, &images.1)?))
        };
        let kept = self.review.snapshots.with_repo(root, keep).await;
        let (before, after) =
            kept.map_err(|error| format!("what it found couldn’t be kept: {error}"))?;
        Ok(Span {
            after: Some(after.to_string()),
            outside: root == Path::new(OUTSIDE),
            ..Span::open(before, Proof::Written)
        })
    }

    /// One of our own tools has written a file.
    pub fn confirm(&self) {
        let mut state = self.state.lock();
        let confirmed = std::mem::take(&mut state.unconfirmed);
        state.credit.spans.extend(confirmed);
    }

    /// What is known beforehand not to be covered, for the person who is asked.
    pub async fn not_covered(&self, command: &str, directory: &Path) -> Vec<String> {
        let covered = match self.caller {
            Caller::Agent => self.review.snapshots.is_covered(&self.worktree).await,
            Caller::AgentUnseen => {
                return vec![format!("Nothing of this can be reverted: {SWITCHED_OFF}")];
            }
            Caller::Person => return Vec::new(),
        };
        if let Err(why) = covered {
            return vec![format!("Nothing of this can be reverted: {why}")];
        }
        let (command, directory) = (command.to_owned(), directory.to_owned());
        let label = self.session.to_string();
        let read =
            move |repo: &SideRepo| beforehand::not_covered(repo, &label, &command, &directory);
        let snapshots = &self.review.snapshots;
        let read = snapshots.with_repo(&self.worktree, read).await;
        read.unwrap_or_default()
    }

    /// Takes the tree before a command.
    pub async fn about_to_run(&self) {
        self.close(None).await;
        match self.caller {
            Caller::Agent => self.open_span().await,
            Caller::AgentUnseen => self.set_unknown(SWITCHED_OFF),
            // An empty record: it is known that nothing of it is the agent's.
            Caller::Person => {}
        }
        self.save().await;
    }

    async fn open_span(&self) {
        match with_room::take(&self.review, &self.worktree, &self.session).await {
            Ok(tree) => {
                let span = Span::open(tree, Proof::None);
                self.state.lock().credit.spans.push(span);
            }
            Err(why) => self.set_unknown(&why.to_string()),
        }
    }

    /// Takes the tree after a command and finds out what is the command's.
    pub async fn close(&self, evidence: Option<Box<dyn WriteEvidence>>) {
        let open = {
            let state = self.state.lock();
            let open = state.credit.spans.iter();
            open.filter(|span| span.after.is_none())
                .find_map(|span| span.before.parse::<TreeId>().ok())
        };
        let Some(before) = open else { return };
        let taken = with_room::take(&self.review, &self.worktree, &self.session).await;
        let after = match taken {
            Ok(tree) => tree,
            Err(why) => {
                self.set_unknown(&why.to_string());
                return;
            }
        };
        let writes = match evidence {
            Some(evidence) => tokio::task::spawn_blocking(|| evidence.finish()).await,
            None => Ok(None),
        };
        let attributed = self.attribute(before, after, writes.ok().flatten()).await;
        let Attributed {
            span: closed,
            not_kept,
            lost,
        } = attributed.unwrap_or_else(|_| Attributed::new(before, after));
        let mut state = self.state.lock();
        for (kind, example) in not_kept {
            state.credit.add_not_kept(kind, example);
        }
        if let Some(lost) = lost {
            state.credit.unknown = Some(lost);
        }
        let open = state.credit.spans.iter_mut();
        if let Some(span) = open.into_iter().find(|span| span.after.is_none()) {
            *span = closed;
        }
    }

    async fn attribute(
        &self,
        before: TreeId,
        after: TreeId,
        writes: Option<CommandWrites>,
    ) -> crate::Result<Attributed> {
        let mut found = Attributed::new(before, after);
        let Some(writes) = writes else {
            return Ok(found);
        };
        found.span.proof = Proof::Witnessed;
        let attribute = move |repo: &SideRepo| {
            let around = Trees(repo, before, after);
            for path in repo.changed_files(before, after)? {
                match writes.writer(&repo.path_of(&path), &around) {
                    Writer::Command => {}
                    Writer::Shared => drop(found.span.shared.insert(credit::key(&path))),
                    Writer::Others => drop(found.span.by_others.insert(credit::key(&path))),
                }
            }
            let coverage = [repo.coverage(before)?, repo.coverage(after)?];
            let files = writes.files.iter().map(PathBuf::as_path);
            for file in files.chain(writes.renamed()) {
                found.check_coverage(repo, &coverage, file);
            }
            Ok(found)
        };
        let snapshots = &self.review.snapshots;
        snapshots.with_repo(&self.worktree, attribute).await
    }

    /// Until [`CreditKeeper::take_over`], it is not known what a task does.
    pub async fn task_started(&self) {
        self.set_unknown(CUT_SHORT);
        self.save().await;
    }

    /// Takes over what a task did in these messages.
    pub async fn take_over(&self, task: &SessionId, messages: &[MessageWithParts]) {
        let shared =
            for_fork::share(&self.review, task, &self.session, messages, &self.worktree).await;
        if let Err(error) = shared {
            tracing::debug!(%error, "the snapshots of a task stay with the task");
        }
        let parts = messages.iter().flat_map(|message| &message.parts);
        let credits = parts.filter_map(|part| match part {
            Part::Tool(part) => Credit::of(part),
            _ => None,
        });
        let mut state = self.state.lock();
        state.credit.unknown = None;
        for credit in credits {
            state.credit.spans.extend(credit.spans);
            for (kind, one) in credit.not_kept {
                let known = state.credit.not_kept.entry(kind).or_default();
                known.count += one.count;
                known.example = one.example;
            }
            if credit.unknown.is_some() {
                state.credit.unknown = credit.unknown;
            }
        }
    }

    fn set_unknown(&self, why: &str) {
        self.state.lock().credit.unknown = Some(why.to_owned());
    }

    /// Stores the record and waits until it is safe.
    async fn save(&self) {
        let credit = {
            let state = self.state.lock();
            let mut credit = state.credit.clone();
            // Not confirmed yet: after a crash the file itself tells whether it was written.
            credit.spans.extend(state.unconfirmed.iter().cloned());
            credit
        };
        let (done, is_safe) = oneshot::channel();
        if self.store.send((credit, done)).is_ok() {
            let _ = is_safe.await;
        }
    }

    /// The record of a call that has ended.
    pub async fn finish(&self) -> Credit {
        self.close(None).await;
        let unconfirmed = std::mem::take(&mut self.state.lock().unconfirmed);
        for span in unconfirmed {
            if self.was_written(&span).await {
                self.state.lock().credit.spans.push(span);
            }
        }
        self.state.lock().credit.clone()
    }

    /// Whether a tool that was stopped, or failed, had written a file by then: it is as the tool
    /// wanted it.
    async fn was_written(&self, span: &Span) -> bool {
        let Some((before, after)) = span.trees() else {
            return false;
        };
        let root = match span.outside {
            true => PathBuf::from(OUTSIDE),
            false => self.worktree.clone(),
        };
        let compare = move |repo: &SideRepo| {
            let paths = repo.changed_files(before, after)?;
            let changed = repo.changed_since(after, &paths)?;
            Ok(changed.len() < paths.len())
        };
        let written = self.review.snapshots.with_repo(&root, compare).await;
        // If this is not known, the revert compares the files itself.
        written.unwrap_or(true)
    }
}

/// What a command did, as far as it was seen.
struct Attributed {
    span: Span,
    not_kept: Vec<(Kind, String)>,
    /// Something that should have been kept is not.
    lost: Option<String>,
}

impl Attributed {
    fn new(before: TreeId, after: TreeId) -> Self {
        Attributed {
            span: Span::open(before, Proof::None).until(after),
            not_kept: Vec::new(),
            lost: None,
        }
    }

    fn check_coverage(&mut self, repo: &SideRepo, trees: &[TreeCoverage], file: &Path) {
        if !file.starts_with(repo.worktree()) {
            // Devices, pipes and temporary files are nothing that a person would miss.
            let is_passing = ["/dev", "/proc", "/sys", "/tmp", "/var/tmp", "/run"]
                .iter()
                .any(|folder| file.starts_with(folder));
            if !is_passing && file.is_file() {
                let name = file.display().to_string();
                self.not_kept.push((Kind::Outside, name));
            }
            return;
        }
        let Some(path) = below(repo.worktree(), file) else {
            self.not_kept.push((Kind::Git, file.display().to_string()));
            return;
        };
        let left_out = trees.iter().find_map(|tree| match tree.of(&path) {
            Coverage::LeftOut(reason) => Some(reason),
            Coverage::Covered | Coverage::Unknown => None,
        });
        match left_out {
            Some(reason) if reason.expected() => {
                self.not_kept.push((Kind::Ignored, path.to_string()));
            }
            Some(reason) => {
                self.lost = Some(format!("it wrote {path}, and that is not kept: {reason}"));
            }
            None => {}
        }
    }
}

/// A repository with the tree before a command and the one after.
struct Trees<'a>(&'a SideRepo, TreeId, TreeId);

impl Trees<'_> {
    fn read(&self, tree: TreeId, path: &Path) -> Option<Vec<u8>> {
        let path = below(self.0.worktree(), path)?;
        match self.0.image_in(tree, &path).ok()?.content {
            Some(content) => Some(content.bytes),
            None => self.0.has_folder(tree, &path).then(Vec::new),
        }
    }
}

impl Around for Trees<'_> {
    fn before(&self, path: &Path) -> Option<Vec<u8>> {
        self.read(self.1, path)
    }

    fn after(&self, path: &Path) -> Option<Vec<u8>> {
        self.read(self.2, path)
    }

    #[cfg(unix)]
    fn linked(&self, path: &Path) -> Option<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        let meta = path.symlink_metadata().ok()?;
        (meta.is_file() && meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
    }

    #[cfg(not(unix))]
    fn linked(&self, _: &Path) -> Option<(u64, u64)> {
        None
    }
}

pub(super) fn below(root: &Path, path: &Path) -> Option<RelPath> {
    let below = path.strip_prefix(root).ok()?;
    RelPath::new(below.as_os_str().as_encoded_bytes()).ok()
}

/// The path from the root of the file system.
fn below_root(path: &Path) -> Option<RelPath> {
    below(Path::new(OUTSIDE), path)
}
