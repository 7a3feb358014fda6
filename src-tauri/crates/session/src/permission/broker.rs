//! Permission requests that wait for a person, and the effect of the answers.

use std::collections::HashMap;
use std::sync::Arc;

use lathe_protocol::{
    Action, Event, MessageId, PermissionId, PermissionReply, PermissionRequest, ProjectId, Rule,
    Ruleset, SessionId,
};
use lathe_store::Key;
use lathe_tools::ToolFailure;
use lathe_tools::context::MayRead;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use lathe_policy::{Verdict, covers, decide, may_read, rule};
use lathe_records::Records;
use lathe_records::{Failed, Result};

/// What a person said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Once,
    Always,
    /// With a message the model reads it and continues; without one, the turn stops.
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

pub struct PermissionBroker {
    records: Records,
    open: Mutex<Open>,
    /// Allowed in advance, like a "yes" of the person: it does not override a rule that denies.
    granted: Mutex<Ruleset>,
}

#[derive(Default)]
struct Open {
    waiting: HashMap<PermissionId, Waiting>,
    /// The message of each session whose call was last refused without a reason. That ends the
    /// turn, so later calls of the message are refused without asking.
    refused: HashMap<SessionId, MessageId>,
}

impl Open {
    fn is_refused(&self, request: &PermissionRequest) -> bool {
        let refused = self.refused.get(&request.session_id);
        let tool = request.tool.as_ref();
        refused.is_some() && refused == tool.map(|tool| &tool.message_id)
    }

    fn take(&mut self, wanted: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let waiting = self.waiting.extract_if(|_, one| wanted(one));
        waiting.map(|(_, one)| one).collect()
    }
}

/// A request together with the rules that decide it.
pub struct Inquiry<'a> {
    pub project: &'a ProjectId,
    pub rules: &'a [Rule],
    pub request: PermissionRequest,
    pub opaque: bool,
}

impl PermissionBroker {
    pub fn new(records: Records) -> Self {
        PermissionBroker {
            records,
            open: Mutex::default(),
            granted: Mutex::default(),
        }
    }

    pub fn grant(&self, rules: Ruleset) {
        *self.granted.lock() = rules;
    }

    /// Returns when it is allowed. If the caller stops waiting, the request is withdrawn.
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
            broker: self,
            id: request.id.clone(),
        };
        let waiting = Waiting {
            project: project.clone(),
            request: request.clone(),
            rules: rules.to_vec(),
            opaque,
            answer,
        };
        {
            let mut open = self.open.lock();
            if open.is_refused(&request) {
                return Err(ToolFailure::rejected());
            }
            open.waiting.insert(request.id.clone(), waiting);
        }
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
        let waiting = self.open.lock().waiting.remove(id);
        let waiting = waiting.ok_or_else(|| Failed::missing("permission request", id.as_str()))?;
        if answer == Answer::Always {
            self.approve(&waiting).await?;
        }
        let (project, request) = (waiting.project.clone(), waiting.request.clone());
        self.close(waiting, answer.clone());
        match answer {
            Answer::Once => {}
            Answer::Always => self.release_covered(&project).await?,
            Answer::Reject { message } => self.cancel_others(request, message),
        }
        Ok(())
    }

    pub fn pending(&self) -> Vec<PermissionRequest> {
        let open = self.open.lock();
        let waiting = open.waiting.values();
        let mut requests: Vec<_> = waiting.map(|one| one.request.clone()).collect();
        requests.sort_by(|a, b| lathe_protocol::serial_cmp(a.id.as_str(), b.id.as_str()));
        requests
    }

    /// What may be read without asking, by the current rules and answers.
    pub async fn may_read(&self, project: &ProjectId, rules: &[Rule]) -> Result<MayRead> {
        let approved = self.approved(project).await?;
        Ok(Arc::new(may_read(rules, &approved)))
    }

    /// What the person answered with "always" in a project.
    pub async fn approved(&self, project: &ProjectId) -> Result<Ruleset> {
        let key = Key::permission(project)?;
        Ok(self.records.store().read(&key).await?.unwrap_or_default())
    }

    /// Removes one "always".
    pub async fn revoke(&self, project: &ProjectId, revoked: &Rule) -> Result<()> {
        let revoked = revoked.clone();
        let edit = move |rules: &mut Ruleset| rules.retain(|rule| *rule != revoked);
        self.change_approved(project, edit).await
    }

    /// Atomic: an answer in another window or process must not be lost.
    async fn change_approved(
        &self,
        project: &ProjectId,
        edit: impl FnOnce(&mut Ruleset) + Send + 'static,
    ) -> Result<()> {
        let key = Key::permission(project)?;
        let changed = self.records.store().update_or_default(&key, edit);
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
        let covered = self.open.lock().take(covered);
        for waiting in covered {
            self.close(waiting, Answer::Once);
        }
        Ok(())
    }

    /// Rejects the other requests of the session too. Without a message, the turn stops.
    fn cancel_others(&self, refused: PermissionRequest, message: Option<String>) {
        let session = refused.session_id;
        let others = {
            let mut open = self.open.lock();
            if let (None, Some(tool)) = (&message, refused.tool) {
                open.refused.insert(session.clone(), tool.message_id);
            }
            open.take(|one| one.request.session_id == session)
        };
        for waiting in others {
            let message = message.clone();
            self.close(waiting, Answer::Reject { message });
        }
    }

    fn close(&self, waiting: Waiting, answer: Answer) {
        self.records.publish(Event::PermissionReplied {
            session_id: waiting.request.session_id,
            request_id: waiting.request.id,
            reply: answer.reply(),
        });
        // The call may have ended by now; the answer then has no reader.
        let _ = waiting.answer.send(answer);
    }
}

/// Allows everything that no rule denies: the person asked for it themselves.
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

/// Removes a request whose call was dropped (an abort) before it was answered.
struct Withdraw<'a> {
    broker: &'a PermissionBroker,
    id: PermissionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let waiting = self.broker.open.lock().waiting.remove(&self.id);
        if let Some(waiting) = waiting {
            self.broker.close(waiting, Answer::Reject { message: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use lathe_protocol::{IdSource, Millis, Tick};
    use lathe_store::{Options, Store};
    use serde_json::json;

    use super::*;
    use lathe_records::bus::{Bus, BusItem, Notification, Subscription};
    use lathe_records::clock::SystemClock;

    async fn asked(items: &mut Subscription) -> Option<PermissionId> {
        loop {
            match items.next().await? {
                BusItem::Notification(numbered) => match &numbered.notification {
                    Notification::Event(event) => match &**event {
                        Event::PermissionAsked(request) => return Some(request.id.clone()),
                        _ => continue,
                    },
                    _ => continue,
                },
                BusItem::Missed => return None,
            }
        }
    }

    #[tokio::test]
    async fn after_a_refusal_without_a_reason_other_calls_of_the_step_do_not_ask() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Options::default()).await;
        let bus = Bus::default();
        let mut items = bus.subscribe();
        let records = Records::new(store.unwrap(), bus, Arc::new(SystemClock));
        let broker = PermissionBroker::new(records);
        let ids = IdSource::new(Tick::default());
        let session = ids.session(Millis(1));
        let [step, next] = [1, 2].map(|at| ids.message(Millis(at)));
        let project = ProjectId::parse("global").unwrap();
        let ask = |message: &MessageId| {
            let request = serde_json::from_value(json!({
                "id": ids.permission(Millis(3)), "sessionID": session, "permission": "bash",
                "patterns": ["touch x"], "metadata": {}, "always": [],
                "tool": { "messageID": message, "callID": "call" },
            }));
            broker.ask(Inquiry {
                project: &project,
                rules: &[],
                request: request.unwrap(),
                opaque: false,
            })
        };
        let no = async |items: &mut Subscription, message: Option<&str>| {
            let id = asked(items).await.unwrap();
            let message = message.map(str::to_owned);
            broker.reply(&id, Answer::Reject { message }).await.unwrap();
        };

        let (first, ()) = tokio::join!(ask(&step), no(&mut items, Some("not so")));
        assert!(first.unwrap_err().text.contains("not so"));
        let (second, ()) = tokio::join!(ask(&step), no(&mut items, None));
        assert_eq!(second, Err(ToolFailure::rejected()));
        assert_eq!(ask(&step).await, Err(ToolFailure::rejected()));

        let (later, ()) = tokio::join!(ask(&next), no(&mut items, Some("another turn")));
        assert!(later.unwrap_err().text.contains("another turn"));
    }
}
