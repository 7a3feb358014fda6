//! What a crate above builds on, so that it works on the same sessions under the same locks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_permission::{Authority, Gate, Permissions};
use lathe_protocol::{Project, Session, SessionId, SessionStatus};
use lathe_records::{Failed, Records, Result};
use lathe_review::Review;
use lathe_tools::{Environment, Registry};
use lathe_workspace::Workspace;
use lathe_workspace::git::Git;
use lathe_workspace::project::root_of;

use super::Sessions;
use super::environment::unwritable;
use crate::new_session::NewSession;
use crate::title;

const MOST_LOCKS: usize = 64;

/// The handles that [`Sessions`] itself uses. For crates of the core: a window goes through the
/// public methods.
#[derive(Clone)]
pub struct Foundation {
    pub records: Records,
    pub review: Arc<Review>,
    pub workspace: Arc<Workspace>,
    pub permissions: Arc<Permissions>,
    pub environment: Arc<Environment>,
    pub built_in_tools: Registry,
    pub data_dir: PathBuf,
}

impl Sessions {
    pub fn foundation(&self) -> Foundation {
        Foundation {
            records: self.core.records.clone(),
            review: self.core.review.clone(),
            workspace: self.core.workspace.clone(),
            permissions: self.core.permissions.clone(),
            environment: self.core.tools.environment.clone(),
            built_in_tools: self.core.tools.built_in.clone(),
            data_dir: self.core.data_dir.clone(),
        }
    }

    /// Until the result is dropped, prompts and reverts of this session wait.
    pub async fn hold_prompts(&self, id: &SessionId) -> impl Drop + use<> {
        self.core.active.lock_prompt(id).await
    }

    /// Does something to a session that no turn and no other process works on. The caller holds
    /// the prompts.
    pub async fn while_idle<T>(
        &self,
        id: &SessionId,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.status(id) != SessionStatus::Idle {
            return Err(Failed::Busy);
        }
        let writer = self.runner.lock(id).await?;
        let done = work.await;
        self.runner.release(id, writer, done).await
    }

    /// Does something to folders that no session works in, of this process or another one. Prompts
    /// of all their sessions wait meanwhile.
    pub async fn while_folders_idle<T>(
        &self,
        folders: &[&Path],
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut sessions = self.list_all().await?;
        sessions.retain(|session| {
            let directory = Path::new(&session.directory);
            folders.iter().any(|folder| directory.starts_with(folder))
        });
        // In the same order for every caller, so that none waits for another one.
        sessions.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
        let mut prompts = Vec::new();
        for session in &sessions {
            prompts.push(self.core.active.lock_prompt(&session.id).await);
        }
        if sessions
            .iter()
            .any(|one| self.status(&one.id) != SessionStatus::Idle)
        {
            return Err(Failed::Busy);
        }
        // Each lock is an open file. Another process hardly works on one of the older sessions.
        sessions.sort_by_key(|session| std::cmp::Reverse(session.time.updated));
        let mut writers = Vec::new();
        for session in sessions.iter().take(MOST_LOCKS) {
            writers.push(self.core.records.store().lock_session(&session.id).await?);
        }
        work.await
    }

    /// Git in a folder. What the repository makes it run is run only if the person trusts the
    /// checkout that the folder lies in: another one of the project may be a stranger's.
    pub async fn git(&self, folder: &Path) -> Result<Git> {
        let decided = self.core.workspace.setups().decided(&root_of(folder));
        Git::open(folder, decided.git.as_deref()).await
    }

    /// A worktree that we have made of a checkout is trusted as that one is.
    pub fn share_git_trust(&self, checkout: &Path, worktree: &Path) -> Result<()> {
        let setups = self.core.workspace.setups();
        let trusted = setups.decided(&root_of(checkout)).git;
        let set = setups.set_git_trust(worktree, trusted);
        set.map_err(unwritable)
    }

    /// The folder is gone. Another one of that name is not trusted for it.
    pub fn forget_git_trust(&self, worktree: &Path) -> Result<()> {
        let set = self.core.workspace.setups().set_git_trust(worktree, None);
        set.map_err(unwritable)
    }

    /// What the default agent may do in a new session of a folder.
    pub async fn authority_in(&self, project: &Project, directory: &Path) -> Result<Authority> {
        let setup = self.core.workspace.setup_in(project, directory).await;
        let folder = directory.display().to_string();
        let session = NewSession::in_directory(&folder).draft(&self.core.records, project);
        let agent = setup.agents.get(None);
        self.core.authority(&setup, project, &session, &agent).await
    }

    /// Asks in a session for what its agent may not do unasked.
    pub async fn gate(&self, session: &Session, project: &Project) -> Result<Gate> {
        let core = &self.core;
        let setup = core.workspace.setup(session, project).await;
        let newest = self.newest_prompt(session).await?;
        let agent = newest.and_then(|prompt| prompt.agent);
        let agent = setup.agents.get(agent.as_deref());
        let authority = core.authority(&setup, project, session, &agent).await?;
        let (permissions, authority) = (&core.permissions, Arc::new(authority));
        Ok(Gate::new(permissions, authority, session, project, None))
    }

    /// One answer of the small model of the session's project; `None` if there is none.
    pub async fn ask_small_model(
        &self,
        session: &Session,
        system: &str,
        prompt: String,
    ) -> Result<Option<String>> {
        let project = self.core.workspace.project_of(session).await?;
        let models = self.core.workspace.setup_of(&project).await.models.clone();
        let model = models.default().await;
        Ok(title::ask_small_model(&models, system, prompt, model).await)
    }
}
