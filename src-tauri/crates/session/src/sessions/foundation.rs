//! What a crate above builds on, so that it works on the same sessions under the same locks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::TrustState;
use lathe_protocol::{ProjectId, Session, SessionId, SessionStatus};
use lathe_records::{Failed, Records, Result};
use lathe_review::Review;
use lathe_workspace::git::Git;

use super::Sessions;
use crate::title;

/// The handles that [`Sessions`] itself uses. For crates of the core: a window goes through the
/// public methods.
pub struct Foundation {
    pub records: Records,
    pub review: Arc<Review>,
    pub data_dir: PathBuf,
}

impl Sessions {
    pub fn foundation(&self) -> Foundation {
        Foundation {
            records: self.core.records.clone(),
            review: self.core.review.clone(),
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

    /// Git in a folder. What the repository makes it run is run only in a trusted project.
    pub async fn git(&self, project: &ProjectId, folder: &Path) -> Result<Git> {
        let project = self.project(project).await?;
        let trust = self.trust(&project).await?;
        Git::open(folder, trust.state == TrustState::Trusted).await
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
