//! Forks: a session goes on from some point of another, optionally in a worktree of its own.

use std::path::Path;

use lathe_protocol::{MessageId, MessageWithParts, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::snapshots::{needed, passing};
use lathe_review::steps;
use lathe_review::summary::{self, Basis, Turns};
use lathe_snapshot::SideRepo;
use lathe_store::Key;

use super::Sessions;
use crate::fork::{self, worktree};

impl Sessions {
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
        let mut session = fork::record(&self.core.records, &source, before, title);
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
        fork::copy(&self.core.records, &session.id, kept).await?;
        let session = self.core.records.create_session(session).await?;
        if !own_worktree {
            let copied = self.visible(&session).await?;
            self.keep_snapshots(&source, &session, &copied, &root).await;
            let basis = Basis::new(&session.id, &root, &copied, &Turns::All);
            summary::begin(&self.core.review, basis);
        }
        Ok(session)
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
        let kept = self.core.review.snapshots.with(root, move |repo| {
            let mut held = repo.references(&from)?;
            held.retain(|one| needed.contains(&one.tree()));
            Ok(repo.add_label(&to, &held)?)
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
        let tree = self.core.review.snapshots.with(root, move |repo| {
            Ok(match at.filter(|tree| repo.contains(*tree)) {
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
        self.core.review.snapshots.with(root, write_out).await?;
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
