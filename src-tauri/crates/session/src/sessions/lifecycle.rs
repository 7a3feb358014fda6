//! Creates, renames, archives, removes and restores sessions.

use std::collections::HashSet;

use lathe_policy::{permission_of, rule};
use lathe_protocol::ipc::TrashedSession;
use lathe_protocol::{Action, Event, Project, Session, SessionId};
use lathe_store::Trashed;

use super::Sessions;
use crate::new_session::NewSession;
use lathe_records::{Failed, Result};

impl Sessions {
    pub async fn create(&self, project: &Project, parent: Option<&SessionId>) -> Result<Session> {
        self.create_in(project, &project.worktree, parent).await
    }

    /// Creates a session in a folder below the project's root.
    pub async fn create_in(
        &self,
        project: &Project,
        directory: &str,
        parent: Option<&SessionId>,
    ) -> Result<Session> {
        let new = NewSession {
            parent,
            ..NewSession::in_directory(directory)
        };
        let records = &self.core.records;
        records.create_session(new.draft(records, project)).await
    }

    /// Takes tools from the agent of a session, for good: only the person can give more.
    pub async fn deny_tools(&self, id: &SessionId, tools: &[String]) -> Result<()> {
        if tools.is_empty() {
            return Ok(());
        }
        let denied = tools
            .iter()
            .map(|tool| rule(permission_of(tool), "*", Action::Deny));
        let denied: Vec<_> = denied.collect();
        let edited = self.update(id, move |session| {
            let rules = session.permission.get_or_insert_default();
            for rule in denied {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        });
        edited.await.map(drop)
    }

    /// Edits the session's record atomically.
    pub async fn update(
        &self,
        id: &SessionId,
        edit: impl FnOnce(&mut Session) + Send + 'static,
    ) -> Result<Session> {
        self.core.records.update_session(id, edit).await
    }

    pub async fn touch(&self, id: &SessionId) -> Result<Session> {
        let now = self.core.records.now();
        self.update(id, move |session| {
            session.time.updated = session.time.updated.max(now)
        })
        .await
    }

    pub async fn rename(&self, id: &SessionId, title: &str) -> Result<Session> {
        let title = title.trim().to_owned();
        if title.is_empty() {
            return Err(Failed::refused("Enter a title"));
        }
        self.update(id, move |session| session.title = title).await
    }

    pub async fn archive(&self, id: &SessionId, archived: bool) -> Result<Session> {
        let now = self.core.records.now();
        self.update(id, move |session| {
            session.time.archived = archived.then_some(now)
        })
        .await
    }

    pub async fn children(&self, parent: &SessionId) -> Result<Vec<Session>> {
        let mut sessions = self.list_all().await?;
        sessions.retain(|session| session.parent_id.as_ref() == Some(parent));
        Ok(sessions)
    }

    /// Removes a session with its tasks. [`Sessions::restore`] restores them. Refused, with
    /// nothing moved, while another process works on any of them.
    pub async fn remove(&self, id: &SessionId) -> Result<()> {
        // A turn may start further tasks until it has ended.
        for session in self.family(id).await? {
            self.abort(&session.id).await;
        }
        let family = self.family(id).await?;
        let mut held = Vec::with_capacity(family.len());
        // Parents first: a turn waits for its tasks, never the other way round.
        for session in &family {
            let turn = self.core.active.lock_prompt(&session.id).await;
            self.abort(&session.id).await;
            let writer = self.core.records.store().lock_session(&session.id).await?;
            held.push((turn, writer));
        }
        let ids: Vec<_> = family.iter().map(|session| session.id.clone()).collect();
        for session in family.into_iter().rev() {
            self.core
                .records
                .store()
                .remove_session(&session.id)
                .await?;
            self.core
                .records
                .publish(Event::SessionDeleted { info: session });
        }
        self.removed.lock().insert(id.clone(), ids);
        Ok(())
    }

    /// Restores a removed session with its tasks.
    pub async fn restore(&self, id: &SessionId) -> Result<Session> {
        let known = self.removed.lock().remove(id);
        let family = match known {
            Some(family) => family,
            None => self.family_in_trash(id).await?,
        };
        for member in &family {
            self.core.records.store().restore_session(member).await?;
            let info = self.get(member).await?;
            self.core.records.publish(Event::SessionCreated { info });
        }
        self.get(id).await
    }

    /// Removed sessions, last removed first, without tasks that are restored with their parent.
    pub async fn trashed(&self) -> Result<Vec<TrashedSession>> {
        let all = self.core.records.store().trashed().await?;
        let ids: HashSet<_> = all.iter().map(|one| one.session.id.clone()).collect();
        let is_root = |one: &Trashed| match &one.session.parent_id {
            Some(parent) => !ids.contains(parent),
            None => true,
        };
        let view = |one: Trashed| TrashedSession {
            id: one.session.id,
            title: one.session.title,
            directory: one.session.directory,
            removed: one.removed,
        };
        Ok(all.into_iter().filter(is_root).map(view).collect())
    }

    /// The sessions that were removed together, by their parents: for a restore after a restart.
    async fn family_in_trash(&self, id: &SessionId) -> Result<Vec<SessionId>> {
        let all = self.core.records.store().trashed().await?;
        let mut family = vec![id.clone()];
        let mut next = 0;
        while let Some(parent) = family.get(next).cloned() {
            let below = all
                .iter()
                .filter(|one| one.session.parent_id.as_ref() == Some(&parent))
                .map(|one| one.session.id.clone())
                .filter(|id| !family.contains(id));
            let below: Vec<_> = below.collect();
            family.extend(below);
            next += 1;
        }
        Ok(family)
    }

    /// Sessions whose title contains every word.
    pub async fn search(&self, project: &Project, words: &str) -> Result<Vec<Session>> {
        let mut sessions = self.list(project).await?;
        sessions.retain(title_contains(words));
        Ok(sessions)
    }

    /// The session and its tasks, parents first.
    async fn family(&self, id: &SessionId) -> Result<Vec<Session>> {
        let all = self.list_all().await?;
        let mut family = vec![self.get(id).await?];
        let mut next = 0;
        while next < family.len() {
            let parent = family[next].id.clone();
            let known: Vec<_> = family.iter().map(|session| session.id.clone()).collect();
            family.extend(
                all.iter()
                    .filter(|session| session.parent_id.as_ref() == Some(&parent))
                    .filter(|session| !known.contains(&session.id))
                    .cloned(),
            );
            next += 1;
        }
        Ok(family)
    }
}

/// Whether a session's title contains every word.
pub fn title_contains(words: &str) -> impl Fn(&Session) -> bool {
    let words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
    move |session| {
        let title = session.title.to_lowercase();
        words.iter().all(|word| title.contains(word))
    }
}
