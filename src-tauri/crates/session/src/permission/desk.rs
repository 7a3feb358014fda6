//! Where requests wait for a person, and where their answers take effect.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    Action, Event, PermissionId, PermissionReply, PermissionRequest, ProjectId, Rule, Ruleset,
    SessionId,
};
use lathe_store::Key;
use lathe_tools::ToolFailure;
use lathe_tools::context::MayRead;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::rules::{Verdict, covers, decide, may_read, rule};
use crate::error::{Failed, Result};
use crate::records::Records;

/// What a person said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Once,
    Always,
    /// With a message the model reads it and goes on; without, the turn stops.
    Reject {
        message: Option<String>,
    },
}

impl Answer {
    pub fn reply(&self) -> PermissionReply {
        match self {
            Answer::Once => PermissionReply::Once,
            Answer::Always => PermissionReply::Always,
            Answer::Reject { .. } => PermissionReply::Reject,
        }
    }
}

struct Waiting {
    project: ProjectId,
    request: PermissionRequest,
    rules: Ruleset,
    opaque: bool,
    answer: oneshot::Sender<Answer>,
}

pub struct PermissionDesk {
    records: Records,
    waiting: Mutex<HashMap<PermissionId, Waiting>>,
    /// Yes, said before anything was asked; never more than a yes, so a deny stays one.
    granted: Mutex<Ruleset>,
}

/// One call's question to the rules.
pub struct Inquiry<'a> {
    pub project: &'a ProjectId,
    pub rules: &'a [Rule],
    pub request: PermissionRequest,
    pub opaque: bool,
}

impl PermissionDesk {
    pub fn new(records: Records) -> Self {
        PermissionDesk {
            records,
            waiting: Mutex::default(),
            granted: Mutex::default(),
        }
    }

    pub fn grant(&self, rules: Ruleset) {
        *self.granted.lock() = rules;
    }

    /// Returns when it is allowed. A caller that stops waiting takes its request back.
    pub async fn ask(&self, inquiry: Inquiry<'_>) -> Result<(), ToolFailure> {
        let Inquiry {
            project,
            rules,
            request,
            opaque,
        } = inquiry;
        let approved = self.approved(project).await.map_err(|error| {
            ToolFailure::failed(format!("The stored permissions cannot be read: {error}"))
        })?;
        match decide(
            rules,
            &approved,
            &request.permission,
            &request.patterns,
            opaque,
        ) {
            Verdict::Allow => return Ok(()),
            Verdict::Deny(rule) => return Err(denied(&rule)),
            Verdict::Ask => {}
        }
        let (permission, patterns) = (&request.permission, &request.patterns);
        if covers(&self.granted.lock(), permission, patterns, opaque) {
            return Ok(());
        }
        let (answer, answered) = oneshot::channel();
        let _withdraw = Withdraw {
            desk: self,
            id: request.id.clone(),
        };
        let waiting = Waiting {
            project: project.clone(),
            request: request.clone(),
            rules: rules.to_vec(),
            opaque,
            answer,
        };
        self.waiting.lock().insert(request.id.clone(), waiting);
        self.records.publish(Event::PermissionAsked(request));
        match answered.await {
            Ok(Answer::Once | Answer::Always) => Ok(()),
            Ok(Answer::Reject {
                message: Some(message),
            }) => Err(ToolFailure::failed(format!(
                "The user rejected this tool call and said: {message}"
            ))),
            Ok(Answer::Reject { message: None }) => Err(ToolFailure::rejected()),
            Err(_) => Err(ToolFailure::aborted()),
        }
    }

    pub async fn reply(&self, id: &PermissionId, answer: Answer) -> Result<()> {
        let waiting = self.waiting.lock().remove(id);
        let waiting = waiting.ok_or_else(|| Failed::missing("permission request", id.as_str()))?;
        if answer == Answer::Always {
            self.approve(&waiting).await?;
        }
        let (project, session) = (waiting.project.clone(), waiting.request.session_id.clone());
        self.close(waiting, answer.clone());
        match answer {
            Answer::Once => {}
            Answer::Always => self.release_covered(&project).await?,
            Answer::Reject { message } => self.cancel_session(&session, message),
        }
        Ok(())
    }

    pub fn pending(&self) -> Vec<PermissionRequest> {
        let waiting = self.waiting.lock();
        let mut requests: Vec<_> = waiting.values().map(|one| one.request.clone()).collect();
        requests.sort_by(|a, b| lathe_protocol::serial_cmp(a.id.as_str(), b.id.as_str()));
        requests
    }

    /// What may be read without a question, as rules and answers stand now.
    pub async fn may_read(&self, project: &ProjectId, rules: &[Rule]) -> Result<MayRead> {
        let approved = self.approved(project).await?;
        Ok(Arc::new(may_read(rules, &approved)))
    }

    /// What the person answered with "always" in a project.
    pub async fn approved(&self, project: &ProjectId) -> Result<Ruleset> {
        let key = Key::permission(project)?;
        Ok(self.records.store().read(&key).await?.unwrap_or_default())
    }

    /// Takes one "always" back.
    pub async fn revoke(&self, project: &ProjectId, revoked: &Rule) -> Result<()> {
        let revoked = revoked.clone();
        let edit = move |rules: &mut Ruleset| rules.retain(|rule| *rule != revoked);
        self.change_approved(project, edit).await
    }

    /// In one go: another answer, here or in another process, must not be lost.
    async fn change_approved(
        &self,
        project: &ProjectId,
        edit: impl FnOnce(&mut Ruleset) + Send + 'static,
    ) -> Result<()> {
        let key = Key::permission(project)?;
        let changed = self.records.store().update_or_new(&key, edit);
        Ok(changed.await.map(drop)?)
    }

    async fn approve(&self, waiting: &Waiting) -> Result<()> {
        let PermissionRequest {
            permission, always, ..
        } = &waiting.request;
        let new = always.iter();
        let new: Ruleset = new
            .map(|pattern| rule(permission, pattern, Action::Allow))
            .collect();
        let edit = move |rules: &mut Ruleset| {
            for rule in new {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        };
        self.change_approved(&waiting.project, edit).await
    }

    async fn release_covered(&self, project: &ProjectId) -> Result<()> {
        let approved = self.approved(project).await?;
        let covered = |one: &Waiting| {
            let request = &one.request;
            one.project == *project
                && decide(
                    &one.rules,
                    &approved,
                    &request.permission,
                    &request.patterns,
                    one.opaque,
                ) == Verdict::Allow
        };
        for waiting in self.take(covered) {
            self.close(waiting, Answer::Once);
        }
        Ok(())
    }

    /// What was said to one holds for all: without a word to read, the turn would stop.
    fn cancel_session(&self, session: &SessionId, message: Option<String>) {
        for waiting in self.take(|one| one.request.session_id == *session) {
            let message = message.clone();
            self.close(waiting, Answer::Reject { message });
        }
    }

    fn take(&self, wanted: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let mut waiting = self.waiting.lock();
        let ids: Vec<_> = waiting
            .iter()
            .filter(|(_, one)| wanted(one))
            .map(|(id, _)| id.clone())
            .collect();
        ids.iter().filter_map(|id| waiting.remove(id)).collect()
    }

    fn close(&self, waiting: Waiting, answer: Answer) {
        self.records.publish(Event::PermissionReplied {
            session_id: waiting.request.session_id,
            request_id: waiting.request.id,
            reply: answer.reply(),
        });
        // The call may be gone by now; its answer then has no reader.
        let _ = waiting.answer.send(answer);
    }
}

/// What no rule forbids is allowed here: the person asked for it themselves.
pub fn unless_denied(
    rules: &[Rule],
    permission: &str,
    patterns: &[String],
) -> Result<(), ToolFailure> {
    match decide(rules, &[], permission, patterns, false) {
        Verdict::Deny(rule) => Err(denied(&rule)),
        Verdict::Allow | Verdict::Ask => Ok(()),
    }
}

fn denied(rule: &Rule) -> ToolFailure {
    ToolFailure::denied(format!(
        "This is denied by a rule ({} \"{}\"). Do not try to get around it.",
        rule.permission, rule.pattern
    ))
}

/// Removes a request whose call was dropped (an abort) before anyone answered.
struct Withdraw<'a> {
    desk: &'a PermissionDesk,
    id: PermissionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let waiting = self.desk.waiting.lock().remove(&self.id);
        if let Some(waiting) = waiting {
            self.desk.close(waiting, Answer::Reject { message: None });
        }
    }
}
