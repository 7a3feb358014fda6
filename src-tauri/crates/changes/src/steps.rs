//! The steps of a session, and the project as it was at each.

use lathe_protocol::ipc::{SessionStep, StepPlace, TreeEntryView};
use lathe_protocol::{Session, SessionId};
use lathe_records::{Failed, Result};
use lathe_review::history::{Place, list_folder};
use lathe_snapshot::RelPath;

use crate::Changes;

impl Changes {
    /// The steps that changed files, the oldest first.
    pub async fn session_steps(&self, id: &SessionId) -> Result<Vec<SessionStep>> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let messages = self.sessions.visible_messages(&session).await?;
        let review = &self.review;
        Ok(review.session_steps(id, &worktree, &messages).await?)
    }

    /// What lay in a folder of the project then.
    pub async fn step_tree(
        &self,
        id: &SessionId,
        at: &StepPlace,
        folder: &str,
    ) -> Result<Vec<TreeEntryView>> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let messages = self.sessions.visible_messages(&session).await?;
        let folder = folder.to_owned();
        let list = self
            .review
            .at_place(id, &worktree, &messages, at, move |repo, tree| {
                list_folder(repo, tree, &folder)
            });
        Ok(list.await?)
    }

    /// A file of the project as it was then.
    pub async fn step_file(&self, id: &SessionId, at: &StepPlace, path: &str) -> Result<Vec<u8>> {
        let session = self.sessions.get(id).await?;
        let worktree = self.sessions.worktree(&session).await?;
        let messages = self.sessions.visible_messages(&session).await?;
        let path = RelPath::new(path).map_err(|_| Failed::missing("file", path))?;
        let read = self
            .review
            .at_place(id, &worktree, &messages, at, move |repo, tree| {
                Ok(repo.blob(tree, &path)?)
            });
        Ok(read.await?)
    }

    /// A new session with everything up to a place, optionally in a worktree with the files as
    /// they were then.
    pub async fn fork_at(
        &self,
        id: &SessionId,
        at: &StepPlace,
        own_worktree: bool,
    ) -> Result<Session> {
        let session = self.sessions.get(id).await?;
        let messages = self.sessions.visible_messages(&session).await?;
        let end = Place::find(&messages, at)?.messages();
        let before = messages.get(end).map(|message| message.info.id());
        self.sessions.fork(id, before, own_worktree).await
    }
}
