//! Going back and going elsewhere: differences, taking back, forks, snapshots by hand.

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{RevertOutcome, RevertPreview, RevertTarget};
use lathe_protocol::{
    FileDiff, MessageId, MessageWithParts, Project, Session, SessionId, SessionStatus, SnapshotPart,
};
use lathe_snapshot::SideRepo;
use lathe_store::Key;

use super::Sessions;
use crate::checkpoint;
use crate::error::{Failed, Result};
use crate::fork::{self, worktree};
use crate::project;
use crate::revert::{self, Cut, Revert};
use crate::snapshots::{needed, passing};
use crate::steps;
use crate::summary::{self, Basis, Turns};

impl Sessions {
    /// What the agent changed in the session, or in the turn of one prompt. A long file comes
    /// without its texts; [`Sessions::file_diff`] has them.
    pub async fn diff(&self, id: &SessionId, turn: Option<&MessageId>) -> Result<Vec<FileDiff>> {
        self.get(id).await?;
        summary::stored(&self.core, id, turn).await
    }

    /// One file of that, whole.
    pub async fn file_diff(
        &self,
        id: &SessionId,
        turn: Option<&MessageId>,
        path: &str,
    ) -> Result<FileDiff> {
        let stored = self.diff(id, turn).await?;
        let kept = stored.into_iter().find(|diff| diff.file == path);
        let kept = kept.ok_or_else(|| Failed::missing("changed file", path))?;
        if kept.folded != Some(true) {
            return Ok(kept);
        }
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let messages = self.visible(&session).await?;
        let whole = summary::whole(&self.core, &worktree, &messages, turn, path).await?;
        Ok(whole.unwrap_or(kept))
    }

    pub async fn preview_revert(
        &self,
        id: &SessionId,
        target: &RevertTarget,
    ) -> Result<RevertPreview> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core, session, &worktree).await?;
        revert.preview(target).await
    }

    /// Takes back what the target names. Refused while the session is worked on.
    pub async fn revert(&self, id: &SessionId, target: &RevertTarget) -> Result<RevertOutcome> {
        let turn = self.prompting(id);
        let _turn = turn.lock().await;
        let (revert, writer) = self.taking_back(id).await?;
        let outcome = match revert.perform(target).await {
            Ok(outcome) => self.summarize_again(outcome).await,
            Err(error) => Err(error),
        };
        self.give_up(id, writer, outcome).await
    }

    /// Brings back what was taken back last: all of a pending revert, or else one file, hunk
    /// or snapshot.
    pub async fn unrevert(&self, id: &SessionId) -> Result<RevertOutcome> {
        let turn = self.prompting(id);
        let _turn = turn.lock().await;
        let (revert, writer) = self.taking_back(id).await?;
        let outcome = match revert.undo().await {
            Ok(outcome) => self.summarize_again(outcome).await,
            Err(error) => Err(error),
        };
        self.give_up(id, writer, outcome).await
    }

    /// How many files, hunks and snapshots that were taken back [`Sessions::unrevert`] can bring
    /// back, one after the other, besides a pending revert.
    pub async fn undoable(&self, session: &Session) -> Result<usize> {
        revert::undoable(&self.core, session).await
    }

    /// A new session with everything in front of a message, or with all of it; optionally in
    /// a git worktree of its own, whose files are as they were at that point.
    pub async fn fork(
        &self,
        id: &SessionId,
        before: Option<&MessageId>,
        own_worktree: bool,
    ) -> Result<Session> {
        let source = self.get(id).await?;
        let messages = self.visible(&source).await?;
        let end = match before {
            Some(before) => messages
                .iter()
                .position(|message| message.info.id() == before)
                .ok_or_else(|| Failed::missing("message", before.as_str()))?,
            None => messages.len(),
        };
        let taken = self.list_all().await?.into_iter().map(|one| one.title);
        let title = fork::title(&source.title, &taken.collect::<Vec<_>>());
        let mut session = fork::record(&self.core, &source, before, title);
        let root = self.worktree(&source).await?;
        if own_worktree {
            session.directory = self
                .fork_files(&source, &session, &root, &messages, end)
                .await?;
        }
        let todos = self.todos(id).await?;
        if !todos.is_empty() {
            let key = Key::todo(&session.id)?;
            self.core.records.store().write(&key, &todos).await?;
        }
        let mut kept = messages;
        kept.truncate(end);
        fork::copy(&self.core, &session.id, kept).await?;
        let session = self.core.records.create_session(session).await?;
        if !own_worktree {
            let copied = self.visible(&session).await?;
            self.keep_snapshots(&source, &session, &copied, &root).await;
            let basis = Basis::new(&session.id, &root, &copied, &Turns::All);
            summary::begin(&self.core, basis);
        }
        Ok(session)
    }

    /// Waits until what a session changed is counted and stored. Whoever goes on does not need
    /// to; a process that ends would take it along.
    pub async fn counted(&self, id: &SessionId) -> Result<()> {
        summary::finish(&self.core, id).await;
        Ok(self.core.records.store().barrier(id).await?)
    }

    /// Keeps the work tree as it is now, under a name.
    pub async fn checkpoint(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let turn = self.prompting(id);
        let _turn = turn.lock().await;
        // A turn under way holds the session already.
        let writer = match self.status(id) {
            SessionStatus::Idle => Some(self.core.records.store().lock_session(id).await?),
            _ => None,
        };
        let kept = self.keep_checkpoint(id, name).await;
        match writer {
            Some(writer) => self.give_up(id, writer, kept).await,
            None => kept,
        }
    }

    /// The caller holds the session.
    async fn keep_checkpoint(&self, id: &SessionId, name: &str) -> Result<SnapshotPart> {
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let visible = self.visible(&session).await?;
        let newest = visible.last().map(|message| message.info.id());
        checkpoint::keep(&self.core, &session, &worktree, newest, name).await
    }

    /// The project as this session sees it: in the checkout that holds its directory.
    pub(super) async fn project_of(&self, session: &Session) -> Result<Project> {
        let records = &self.core.records;
        let directory = PathBuf::from(&session.directory);
        let Some(project) = records.store().project(&session.project_id).await? else {
            return project::open(records, &directory).await;
        };
        let root = project::root_for(&directory, &project);
        Ok(Project {
            worktree: root.display().to_string(),
            ..project
        })
    }

    /// The folder that changed files are named from: the project's, or one of the session's own.
    pub async fn worktree(&self, session: &Session) -> Result<PathBuf> {
        Ok(self.project_of(session).await?.worktree.into())
    }

    /// What a pending revert does not hide.
    pub async fn visible(&self, session: &Session) -> Result<Vec<MessageWithParts>> {
        let page = self.messages(&session.id, None, usize::MAX).await?;
        let cut = session.revert.as_ref();
        let cut = cut.and_then(|state| Cut::of(&page.messages, state));
        Ok(match cut {
            Some(cut) => cut.visible(&page.messages),
            None => page.messages,
        })
    }

    /// Makes a pending revert final, as a prompt does. The caller holds the session's turn.
    pub(super) async fn settle_revert(&self, session: Session) -> Result<Session> {
        if session.revert.is_none() {
            return Ok(session);
        }
        let id = session.id.clone();
        let writer = self.core.records.store().lock_session(&id).await?;
        let settled = revert::settle(&self.core, session).await;
        self.give_up(&id, writer, settled).await
    }

    async fn taking_back(&self, id: &SessionId) -> Result<(Revert, lathe_store::SessionWriter)> {
        if self.status(id) != SessionStatus::Idle {
            return Err(Failed::Busy);
        }
        let writer = self.core.records.store().lock_session(id).await?;
        let session = self.get(id).await?;
        let worktree = self.worktree(&session).await?;
        let revert = Revert::open(&self.core, session, &worktree).await?;
        Ok((revert, writer))
    }

    /// Then nothing needs the trees of what was brought back or is gone for good.
    async fn summarize_again(&self, mut outcome: RevertOutcome) -> Result<RevertOutcome> {
        let id = outcome.session.id.clone();
        let worktree = self.worktree(&outcome.session).await?;
        let visible = self.visible(&outcome.session).await?;
        let all = self.messages(&id, None, usize::MAX).await?.messages;
        let basis = Basis::new(&id, &worktree, &visible, &Turns::All);
        summary::begin(&self.core, basis.hiding(&all));
        summary::finish(&self.core, &id).await;
        if let Err(error) = self.let_go_held(&id, &worktree).await {
            tracing::info!(%error, "snapshots were not let go");
        }
        outcome.session = self.get(&id).await?;
        Ok(outcome)
    }

    /// The copied steps name snapshots that must outlive the session they come from.
    async fn keep_snapshots(
        &self,
        source: &Session,
        copy: &Session,
        messages: &[MessageWithParts],
        root: &Path,
    ) {
        let (from, to) = (source.id.to_string(), copy.id.to_string());
        let needed = needed::named_in(&messages);
        let kept = self.core.snapshots.with(root, move |repo| {
            let mut held = repo.references(&from)?;
            held.retain(|one| needed.contains(&one.tree()));
            Ok(repo.keep_for(&to, &held)?)
        });
        if let Err(error) = kept.await {
            tracing::info!(%error, "a fork without snapshots");
        }
    }

    /// A worktree with the files as they were when the message at `end` began.
    async fn fork_files(
        &self,
        source: &Session,
        copy: &Session,
        root: &Path,
        messages: &[MessageWithParts],
        end: usize,
    ) -> Result<String> {
        let name = copy.slug.clone().unwrap_or_else(|| copy.id.to_string());
        let next = steps::of(messages)
            .into_iter()
            .find(|step| step.message >= end);
        let (at, label) = (next.map(|step| step.start), passing(&copy.id));
        let taken = label.clone();
        let tree = self.core.snapshots.with(root, move |repo| {
            Ok(match at.filter(|tree| repo.holds(*tree)) {
                Some(tree) => tree,
                None => repo.take(&taken)?.hash,
            })
        });
        let tree = tree.await?;
        let folder = worktree::add(root, &name).await?;
        let into = folder.clone();
        let write_out = move |repo: &SideRepo| {
            repo.write_out(tree, &into)?;
            Ok(repo.release(&repo.references(&label)?)?)
        };
        self.core.snapshots.with(root, write_out).await?;
        self.add_sandbox(&source.project_id, &folder).await?;
        let below = Path::new(&source.directory).strip_prefix(root);
        let directory = below.map_or(folder.clone(), |below| folder.join(below));
        Ok(directory.display().to_string())
    }

    async fn add_sandbox(&self, id: &lathe_protocol::ProjectId, folder: &Path) -> Result<()> {
        let store = self.core.records.store();
        let project = store.project(id).await?;
        let mut project = project.ok_or_else(|| Failed::missing("project", id.as_str()))?;
        let folder = folder.display().to_string();
        let sandboxes = project.sandboxes.get_or_insert_default();
        if !sandboxes.contains(&folder) {
            sandboxes.push(folder);
        }
        Ok(store.write_project(&project).await?)
    }
}
