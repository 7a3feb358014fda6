//! Permission requests and questions: what waits for a person, and the answers.

use std::collections::HashMap;
use std::path::Path;

use lathe_protocol::ipc::{Activity, Limits, ModeView};
use lathe_protocol::{
    PermissionId, PermissionMode, PermissionRequest, Project, QuestionId, QuestionRequest, Rule,
    Ruleset, SessionId,
};
use lathe_records::{Failed, Result};

use super::Sessions;
use lathe_permission::{Answer, Checkout};

impl Sessions {
    pub fn permissions(&self) -> Vec<PermissionRequest> {
        self.core.permissions.broker.pending()
    }

    pub fn questions(&self) -> Vec<QuestionRequest> {
        self.core.questions.pending()
    }

    /// What all sessions are doing, for a window that has just subscribed.
    pub async fn activity(&self) -> Activity {
        let statuses: HashMap<_, _> = self.statuses().into_iter().collect();
        let (permissions, questions) = (self.permissions(), self.questions());
        let mut wanted: Vec<_> = statuses.keys().cloned().collect();
        wanted.extend(permissions.iter().map(|request| request.session_id.clone()));
        wanted.extend(questions.iter().map(|request| request.session_id.clone()));
        let mut sessions = HashMap::new();
        while let Some(id) = wanted.pop() {
            if sessions.contains_key(&id) {
                continue;
            }
            // A session that was removed in the meantime has its own event.
            if let Ok(session) = self.get(&id).await {
                wanted.extend(session.parent_id.clone());
                sessions.insert(id, session.shortened());
            }
        }
        Activity {
            statuses,
            permissions: permissions
                .into_iter()
                .map(PermissionRequest::shortened)
                .collect(),
            questions,
            failed: self.core.records.bus().failed(),
            sessions: sessions.into_values().collect(),
        }
    }

    /// The requests of a session and of its tasks: a person who watches the parent must see
    /// what its tasks wait for.
    pub fn permissions_in(&self, id: &SessionId) -> Vec<PermissionRequest> {
        let mut requests = self.permissions();
        requests.retain(|request| self.belongs_to(&request.session_id, id));
        requests
    }

    pub fn questions_in(&self, id: &SessionId) -> Vec<QuestionRequest> {
        let mut requests = self.questions();
        requests.retain(|request| self.belongs_to(&request.session_id, id));
        requests
    }

    fn belongs_to(&self, session: &SessionId, id: &SessionId) -> bool {
        session == id || self.core.active.parent(session).as_ref() == Some(id)
    }

    pub async fn answer_permission(&self, id: &PermissionId, answer: Answer) -> Result<()> {
        self.core.permissions.broker.reply(id, answer).await
    }

    /// What the person allowed for good in a checkout of a project.
    pub async fn approved(&self, project: &Project) -> Result<Ruleset> {
        let broker = &self.core.permissions.broker;
        broker.approved(&Checkout::of(project)).await
    }

    pub async fn revoke(&self, project: &Project, rule: &Rule) -> Result<()> {
        let broker = &self.core.permissions.broker;
        broker.revoke(&Checkout::of(project), rule).await
    }

    pub fn set_rules(&self, rules: Ruleset) {
        self.core.permissions.set_rules(rules);
    }

    /// Allows this without asking while the program runs. Like a "yes" of the person, it does
    /// not override a rule that denies.
    pub fn grant(&self, rules: Ruleset) {
        self.core.permissions.broker.grant(rules);
    }

    /// How much happens in a project without a question, and what this machine can confine.
    pub async fn mode(&self, project: &Project) -> ModeView {
        let workspace = &self.core.workspace;
        let decided = workspace.setups().decided(Path::new(&project.worktree));
        ModeView {
            mode: self.core.permissions.mode(decided.mode),
            sandbox: workspace.sandbox().view().await,
        }
    }

    /// Holds from the next call on. Auto is refused where no sandbox works.
    pub async fn set_mode(&self, project: &Project, mode: PermissionMode) -> Result<()> {
        self.ensure_available(mode).await?;
        let workspace = &self.core.workspace;
        let worktree = Path::new(&project.worktree);
        let set = workspace.setups().set_mode(worktree, mode);
        set.map_err(|error| Failed::refused(format!("Couldn’t save the mode: {error}")))
    }

    /// The mode for this run of the program, in every project.
    pub async fn override_mode(&self, mode: PermissionMode) -> Result<()> {
        self.ensure_available(mode).await?;
        self.core.permissions.override_mode(mode);
        Ok(())
    }

    async fn ensure_available(&self, mode: PermissionMode) -> Result<()> {
        if mode != PermissionMode::Auto {
            return Ok(());
        }
        match self.core.workspace.sandbox().view().await.unavailable {
            Some(why) => Err(Failed::refused(format!("Auto needs a sandbox. {why}"))),
            None => Ok(()),
        }
    }

    /// Where turns pause and ask, from their next step on.
    pub fn set_limits(&self, limits: Limits) {
        self.core.permissions.limits.set(limits);
    }

    pub fn answer_question(&self, id: &QuestionId, answers: Vec<Vec<String>>) -> Result<()> {
        self.core.questions.reply(id, answers)
    }

    pub fn dismiss_question(&self, id: &QuestionId) -> Result<()> {
        self.core.questions.dismiss(id)
    }
}
