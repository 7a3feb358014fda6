//! Forks a session, optionally into a git worktree of its own.

use std::path::Path;

use lathe_protocol::{MessageId, MessageWithParts, Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::snapshots::for_fork;
use lathe_review::summary::{self, SummaryInput, Turns};
use lathe_store::Key;
use lathe_workspace::git::worktree;

use super::Sessions;
use crate::core::Core;
use crate::fork;

impl Sessions {
    /// A new session with a copy of all messages, or of those before `before`; optionally in a
    /// git worktree of its own, whose files are as they were at that point.
    pub async fn fork(
        &self,
        id: &SessionId,
        before: Option<&MessageId>,
        own_worktree: bool,
    ) -> Result<Session> {
        let source = self.get(id).await?;
        let messages = self.visible_messages(&source).await?;
        let end = match before {
            Some(before) => messages
                .iter()
                .position(|message| message.info.id() == before)
                .ok_or_else(|| Failed::missing("message", before.as_str()))?,
            None => messages.len(),
        };
        let taken = self.list_all().await?.into_iter().map(|one| one.title);
        let title = fork::free_title(&source.title, &taken.collect::<Vec<_>>());
        let mut session = fork::new_session(&self.core.records, &source, before, title);
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
        let mut copied = messages;
        copied.truncate(end);
        fork::copy_messages(&self.core.records, &session.id, copied).await?;
        let session = self.core.records.create_session(session).await?;
        if !own_worktree {
            let copied = self.visible_messages(&session).await?;
            let review = &self.core.review;
            let shared = for_fork::share(review, &source.id, &session.id, &copied, &root).await;
            if let Err(error) = shared {
                tracing::info!(%error, "a fork without snapshots");
            }
            let input = SummaryInput::new(&session.id, &root, &copied, &Turns::All);
            summary::start(&self.core.review, input);
        }
        Ok(session)
    }

    /// Creates a worktree with the files as they were when the message at `end` began, and
    /// returns the folder in it that matches the source's.
    async fn fork_files(
        &self,
        source: &Session,
        copy: &Session,
        root: &Path,
        messages: &[MessageWithParts],
        end: usize,
    ) -> Result<String> {
        let Core {
            review, records, ..
        } = &*self.core;
        let name = copy.slug.clone().unwrap_or_else(|| copy.id.to_string());
        let tree = for_fork::find_tree(review, &copy.id, root, messages, end).await?;
        let git = self.git(root).await?;
        let folder = worktree::create(&git, &name, worktree::Start::Index).await?;
        for_fork::write_files(review, &copy.id, root, tree, &folder).await?;
        worktree::register(records, &source.project_id, &folder).await?;
        self.share_git_trust(root, &folder)?;
        let below = Path::new(&source.directory).strip_prefix(root);
        let directory = below.map_or(folder.clone(), |below| folder.join(below));
        Ok(directory.display().to_string())
    }
}
