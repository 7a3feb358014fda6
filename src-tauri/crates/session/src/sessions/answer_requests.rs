//! Permission requests and questions: what waits for a person, and the answers.

use std::collections::HashMap;

use lathe_protocol::ipc::Activity;
use lathe_protocol::{
    PermissionId, PermissionRequest, ProjectId, QuestionId, QuestionRequest, Rule, Ruleset,
    SessionId,
};
use lathe_records::Result;

use super::Sessions;
use crate::permission::Answer;

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
            permissions,
            questions,
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

    pub async fn approved(&self, project: &ProjectId) -> Result<Ruleset> {
        self.core.permissions.broker.approved(project).await
    }

    pub async fn revoke(&self, project: &ProjectId, rule: &Rule) -> Result<()> {
        self.core.permissions.broker.revoke(project, rule).await
    }

    pub fn set_rules(&self, rules: Ruleset) {
        self.core.permissions.set_rules(rules);
    }

    /// Allows this without asking while the program runs. Like a "yes" of the person, it does
    /// not override a rule that denies.
    pub fn grant(&self, rules: Ruleset) {
        self.core.permissions.broker.grant(rules);
    }

    /// Stops asking, in every project.
    pub fn set_allow_all(&self, allow: bool) {
        self.core.permissions.set_allow_all(allow);
    }

    pub fn answer_question(&self, id: &QuestionId, answers: Vec<Vec<String>>) -> Result<()> {
        self.core.questions.reply(id, answers)
    }

    pub fn dismiss_question(&self, id: &QuestionId) -> Result<()> {
        self.core.questions.dismiss(id)
    }
}
