//! Permission requests that wait for a person, and the effect of the answers.

mod grants;
mod waiting;

use std::sync::Arc;

use lathe_policy::decision::{Call, Decision, Mode, Need, decide};
use lathe_policy::{Verdict, rule};
use lathe_protocol::{
    Action, CommandDanger, Event, Extra, Map, PermissionId, PermissionNeed, PermissionReply,
    PermissionRequest, Rule, Ruleset, SessionId, ToolRef,
};
use lathe_records::{Failed, Records, Result};
use lathe_tools::ToolFailure;
use lathe_tools::context::MayRead;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::authority::Authority;
pub use grants::Checkout;
use grants::SessionGrants;
use waiting::{Outcome, Waiting, WaitingRequests, Withdraw, Yes};

/// What a person said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Once,
    /// While the program runs, in the whole session and its tasks.
    Session,
    Always,
    /// With a message, the model reads it and continues; without one, the turn stops.
    Reject {
        message: Option<String>,
    },
}

impl Answer {
    pub fn reply(&self) -> PermissionReply {
        match self {
            Answer::Once => PermissionReply::Once,
            Answer::Session => PermissionReply::Session,
            Answer::Always => PermissionReply::Always,
            Answer::Reject { .. } => PermissionReply::Reject,
        }
    }
}

/// Why a call may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Rules allow it in every mode.
    Rules,
    /// The mode allows what would be asked otherwise.
    Mode,
    /// They said yes to this very call.
    Person,
}

impl Allowed {
    /// The same where nobody was asked about this very call: a yes in advance, or to another call,
    /// is as good as a rule.
    fn unasked(self) -> Self {
        match self {
            Allowed::Person => Allowed::Rules,
            other => other,
        }
    }
}

/// What a call wants to do, and in whose name.
pub struct Inquiry {
    pub authority: Arc<Authority>,
    pub session: SessionId,
    pub tool: Option<ToolRef>,
    pub needs: Vec<Need>,
    pub dangers: Vec<CommandDanger>,
    /// For the dialog.
    pub metadata: Map,
}

pub struct PermissionBroker {
    records: Records,
    waiting: Mutex<WaitingRequests>,
    /// Allowed in advance, like a "yes" of the person: it does not override a rule that denies.
    granted: Mutex<Ruleset>,
    session_grants: SessionGrants,
}

impl PermissionBroker {
    pub fn new(records: Records) -> Self {
        PermissionBroker {
            records,
            waiting: Mutex::default(),
            granted: Mutex::default(),
            session_grants: SessionGrants::default(),
        }
    }

    pub fn grant(&self, rules: Ruleset) {
        *self.granted.lock() = rules;
    }

    /// Returns when it is allowed. If the caller stops waiting, the request is withdrawn.
    pub async fn ask(&self, inquiry: Inquiry) -> Result<Allowed, ToolFailure> {
        let approved = self.approved_for(&inquiry.authority).await;
        let approved = approved.map_err(unreadable)?;
        let decision = self.decide(&inquiry, &approved, inquiry.authority.mode);
        let allowed = allowed_by(&inquiry, &approved);
        match decision.verdict {
            Verdict::Deny(_) => return Err(denied(&decision)),
            Verdict::Allow => return Ok(allowed.unasked()),
            Verdict::Ask => {}
        }
        let request = self.request(&inquiry, &decision);
        match self.wait_for_answer(request, Some(inquiry)).await? {
            Yes::ToThisCall => Ok(allowed),
            Yes::ToAnother => Ok(allowed.unasked()),
        }
    }

    /// Asks the person, whatever rules and modes say.
    pub async fn ask_person(&self, request: PermissionRequest) -> Result<(), ToolFailure> {
        self.wait_for_answer(request, None).await.map(|_| ())
    }

    async fn wait_for_answer(
        &self,
        request: PermissionRequest,
        inquiry: Option<Inquiry>,
    ) -> Result<Yes, ToolFailure> {
        let (answer, answered) = oneshot::channel();
        let _withdraw = Withdraw {
            broker: self,
            id: request.id.clone(),
        };
        let waiting = Waiting {
            request: request.clone(),
            inquiry,
            answer,
        };
        {
            let mut requests = self.waiting.lock();
            if requests.is_stopped(&request) {
                return Err(ToolFailure::not_run());
            }
            requests.add(waiting);
        }
        self.records.publish(Event::PermissionAsked(request));
        match answered.await {
            Ok(Outcome::Allowed(yes)) => Ok(yes),
            Ok(Outcome::Refused(Some(message))) => Err(ToolFailure::denied(format!(
                "The user declined this tool call and said: {message}"
            ))),
            Ok(Outcome::Refused(None)) => Err(ToolFailure::rejected()),
            Ok(Outcome::NotRun) => Err(ToolFailure::not_run()),
            Err(_) => Err(ToolFailure::aborted()),
        }
    }

    fn decide(&self, inquiry: &Inquiry, approved: &[Rule], mode: Mode) -> Decision {
        decide(&Call {
            askers: &inquiry.authority.askers(),
            mode,
            approved,
            granted: &self.granted.lock(),
            needs: &inquiry.needs,
        })
    }

    /// One request for everything that is not allowed yet.
    fn request(&self, inquiry: &Inquiry, decision: &Decision) -> PermissionRequest {
        let judged = inquiry.needs.iter().zip(&decision.needs);
        let open = judged.filter(|(_, judged)| judged.verdict == Verdict::Ask);
        let needs: Vec<PermissionNeed> = open
            .map(|(need, judged)| PermissionNeed {
                permission: need.permission.clone(),
                patterns: need.patterns.clone(),
                reasons: judged.reasons.clone(),
                always: judged.always.clone(),
            })
            .collect();
        let main = needs.first().cloned();
        let can_be_remembered = needs.iter().all(|need| !need.always.is_empty());
        let (permission, patterns, always) = match main {
            Some(need) if can_be_remembered => (need.permission, need.patterns, need.always),
            Some(need) => (need.permission, need.patterns, Vec::new()),
            None => Default::default(),
        };
        PermissionRequest {
            id: self.records.ids().permission(self.records.now()),
            session_id: inquiry.session.clone(),
            permission,
            patterns,
            metadata: inquiry.metadata.clone(),
            always,
            tool: inquiry.tool.clone(),
            needs,
            dangers: inquiry.dangers.clone(),
            extra: Extra::default(),
        }
    }

    pub async fn reply(&self, id: &PermissionId, answer: Answer) -> Result<()> {
        let waiting = self.waiting.lock().take(id);
        let waiting = waiting.ok_or_else(|| Failed::missing("permission request", id.as_str()))?;
        if let Err(error) = self.remember(&waiting, &answer).await {
            // The person can answer again.
            self.waiting.lock().add(waiting);
            return Err(error);
        }
        let reply = answer.reply();
        match answer {
            Answer::Once => self.close(waiting, reply, Outcome::Allowed(Yes::ToThisCall)),
            Answer::Session | Answer::Always => {
                self.close(waiting, reply, Outcome::Allowed(Yes::ToThisCall));
                self.release_allowed().await?;
            }
            Answer::Reject { message } => {
                let stops = message.is_none();
                let root = waiting.root().clone();
                if stops {
                    self.waiting.lock().stop(&waiting.request);
                }
                self.close(waiting, reply, Outcome::Refused(message));
                if stops {
                    self.cancel_all_of(&root);
                }
            }
        }
        Ok(())
    }

    /// Stores what an answer allows from now on.
    async fn remember(&self, waiting: &Waiting, answer: &Answer) -> Result<()> {
        let Some(inquiry) = &waiting.inquiry else {
            return Ok(());
        };
        let request = &waiting.request;
        if request.always.is_empty() {
            return Ok(());
        }
        let new = request.needs.iter().flat_map(|need| {
            let patterns = need.always.iter();
            patterns.map(|pattern| rule(&need.permission, pattern, Action::Allow))
        });
        let new: Ruleset = new.collect();
        let authority = &inquiry.authority;
        match answer {
            Answer::Session => self.session_grants.add(&authority.root, new),
            Answer::Always => self.approve(&authority.checkout, new).await?,
            Answer::Once | Answer::Reject { .. } => {}
        }
        Ok(())
    }

    pub fn pending(&self) -> Vec<PermissionRequest> {
        self.waiting.lock().requests()
    }

    /// What may be read without asking, by the current rules and answers.
    pub async fn may_read(&self, authority: &Authority) -> Result<MayRead> {
        let approved = self.approved_for(authority).await?;
        Ok(Arc::new(authority.may_read(&approved)))
    }

    /// What the person allowed for good in the project, and for the session.
    pub async fn approved_for(&self, authority: &Authority) -> Result<Ruleset> {
        let mut approved = self.approved(&authority.checkout).await?;
        approved.extend(self.session_grants.of(&authority.root));
        Ok(approved)
    }

    /// Releases the waiting requests that are allowed by now.
    pub async fn release_allowed(&self) -> Result<()> {
        let mut allowed = Vec::new();
        for (id, authority) in self.waiting.lock().authorities() {
            allowed.push((id, authority));
        }
        for (id, authority) in allowed {
            let approved = self.approved_for(&authority).await?;
            let is_allowed = |waiting: &Waiting| {
                waiting.inquiry.as_ref().is_some_and(|inquiry| {
                    let decision = self.decide(inquiry, &approved, inquiry.authority.mode);
                    decision.verdict == Verdict::Allow
                })
            };
            let taken = self.waiting.lock().take_if(&id, is_allowed);
            if let Some(waiting) = taken {
                let released = Outcome::Allowed(Yes::ToAnother);
                self.close(waiting, PermissionReply::Once, released);
            }
        }
        Ok(())
    }

    /// A plain no stops the step: nothing else of it is asked about or run, in tasks beside it
    /// neither.
    fn cancel_all_of(&self, root: &SessionId) {
        let others = self.waiting.lock().take_all_below(root);
        for waiting in others {
            self.close(waiting, PermissionReply::Reject, Outcome::NotRun);
        }
    }

    fn close(&self, waiting: Waiting, reply: PermissionReply, outcome: Outcome) {
        self.records.publish(Event::PermissionReplied {
            session_id: waiting.request.session_id,
            request_id: waiting.request.id,
            reply,
        });
        // The call may have ended by now; the answer then has no reader.
        let _ = waiting.answer.send(outcome);
    }
}

/// Why it may happen once the person has said yes to what is asked. A yes to one need, now or in
/// advance, says nothing of those that only the mode allows, and nothing of a command that a rule
/// allows.
fn allowed_by(inquiry: &Inquiry, approved: &[Rule]) -> Allowed {
    let in_mode = |mode: Mode| {
        decide(&Call {
            askers: &inquiry.authority.askers(),
            mode,
            approved,
            granted: &[],
            needs: &inquiry.needs,
        })
    };
    let (by_rules, by_mode) = (in_mode(Mode::Ask), in_mode(inquiry.authority.mode));
    let judged = || by_rules.needs.iter().zip(&by_mode.needs);
    let mut commands = judged().zip(&inquiry.needs);
    let ran_by_rules =
        commands.any(|((_, mode), need)| need.command.is_some() && mode.verdict == Verdict::Allow);
    if judged().any(|(rules, mode)| rules.verdict != mode.verdict) {
        Allowed::Mode
    } else if by_rules.verdict == Verdict::Allow || ran_by_rules {
        Allowed::Rules
    } else {
        Allowed::Person
    }
}

/// Allows everything that no rule denies: the person asked for it themselves.
pub fn unless_denied(authority: &Authority, needs: &[Need]) -> Result<(), ToolFailure> {
    let decision = decide(&Call {
        askers: &authority.askers(),
        mode: Mode::FullAccess,
        approved: &[],
        granted: &[],
        needs,
    });
    match decision.verdict {
        Verdict::Deny(_) => Err(denied(&decision)),
        Verdict::Allow | Verdict::Ask => Ok(()),
    }
}

fn denied(decision: &Decision) -> ToolFailure {
    ToolFailure::denied(format!(
        "{} Do not try to get around it.",
        decision.reasons.join(" ")
    ))
}

fn unreadable(error: Failed) -> ToolFailure {
    ToolFailure::failed(format!("The stored permissions can’t be read: {error}"))
}
