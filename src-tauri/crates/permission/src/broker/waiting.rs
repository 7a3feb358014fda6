//! The requests that wait for an answer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use lathe_protocol::{
    MessageId, PermissionId, PermissionReply, PermissionRequest, SessionId, serial_cmp,
};
use tokio::sync::oneshot;

use super::{Inquiry, PermissionBroker};
use crate::Authority;

/// What the person said yes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yes {
    ToThisCall,
    /// For longer, so that this one need not be asked about any more.
    ToAnother,
}

/// What becomes of a call that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Allowed(Yes),
    Refused(Option<String>),
    /// Another call of the step was refused.
    NotRun,
}

pub struct Waiting {
    pub request: PermissionRequest,
    /// None for a request that only the person can answer.
    pub inquiry: Option<Inquiry>,
    pub answer: oneshot::Sender<Outcome>,
}

impl Waiting {
    /// The session that a person started.
    pub fn root(&self) -> &SessionId {
        let inquiry = self.inquiry.as_ref();
        inquiry.map_or(&self.request.session_id, |one| &one.authority.root)
    }
}

#[derive(Default)]
pub struct WaitingRequests {
    requests: HashMap<PermissionId, Waiting>,
    /// The newest steps that a plain no stopped, by their message.
    stopped: VecDeque<MessageId>,
}

impl WaitingRequests {
    pub fn add(&mut self, waiting: Waiting) {
        self.requests.insert(waiting.request.id.clone(), waiting);
    }

    /// Whether a plain no stopped the step of a request. A call beside the refused one may ask
    /// right after the answer.
    pub fn is_stopped(&self, request: &PermissionRequest) -> bool {
        let tool = request.tool.as_ref();
        tool.is_some_and(|tool| self.stopped.contains(&tool.message_id))
    }

    /// Stops the step of a refused request.
    pub fn stop(&mut self, refused: &PermissionRequest) {
        /// More steps than ask at the same time.
        const MOST: usize = 64;
        if let Some(tool) = &refused.tool {
            self.stopped.push_back(tool.message_id.clone());
        }
        if self.stopped.len() > MOST {
            self.stopped.pop_front();
        }
    }

    pub fn take(&mut self, id: &PermissionId) -> Option<Waiting> {
        self.requests.remove(id)
    }

    pub fn take_if(
        &mut self,
        id: &PermissionId,
        wanted: impl Fn(&Waiting) -> bool,
    ) -> Option<Waiting> {
        self.requests
            .get(id)
            .is_some_and(wanted)
            .then(|| self.take(id))?
    }

    pub fn take_all_below(&mut self, root: &SessionId) -> Vec<Waiting> {
        let below = |_: &PermissionId, one: &mut Waiting| one.root() == root;
        self.requests
            .extract_if(below)
            .map(|(_, one)| one)
            .collect()
    }

    /// Oldest first.
    pub fn requests(&self) -> Vec<PermissionRequest> {
        let mut requests: Vec<_> = self
            .requests
            .values()
            .map(|one| one.request.clone())
            .collect();
        requests.sort_by(|a, b| serial_cmp(a.id.as_str(), b.id.as_str()));
        requests
    }

    /// The requests that rules could allow, and who makes them.
    pub fn authorities(&self) -> Vec<(PermissionId, Arc<Authority>)> {
        let authority = |(id, one): (&PermissionId, &Waiting)| {
            let inquiry = one.inquiry.as_ref()?;
            Some((id.clone(), inquiry.authority.clone()))
        };
        self.requests.iter().filter_map(authority).collect()
    }
}

/// Removes a request whose call was dropped (an abort) before it was answered.
pub struct Withdraw<'a> {
    pub broker: &'a PermissionBroker,
    pub id: PermissionId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let waiting = self.broker.waiting.lock().take(&self.id);
        if let Some(waiting) = waiting {
            self.broker
                .close(waiting, PermissionReply::Reject, Outcome::NotRun);
        }
    }
}
