//! Which events are worth a notification: a turn waits, has ended or has failed. Pure.

use std::collections::HashSet;

use lathe_protocol::ipc::Activity;
use lathe_protocol::{Event, Message, MessageError, PermissionRequest, SessionId, SessionStatus};

/// The permission to go on after a limit.
const LIMIT: &str = "limit";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    Permission,
    Limit,
    Question,
    Finished,
    Failed,
}

impl News {
    pub fn is_end(self) -> bool {
        matches!(self, News::Finished | News::Failed)
    }
}

/// Remembers what was heard of the turns that run, and which requests are known.
#[derive(Debug, Default)]
pub struct Watch {
    busy: HashSet<SessionId>,
    failed: HashSet<SessionId>,
    /// Stopped by the person, who knows that.
    stopped: HashSet<SessionId>,
    /// Requests that were heard of, by id.
    asked: HashSet<String>,
}

impl Watch {
    pub fn hear(&mut self, event: &Event) -> Option<(SessionId, News)> {
        match event {
            Event::PermissionAsked(request) => self.permission(request),
            Event::QuestionAsked(request) => {
                self.question(request.id.as_str(), &request.session_id)
            }
            Event::PermissionReplied { request_id, .. } => {
                self.asked.remove(request_id.as_str());
                None
            }
            Event::QuestionReplied { request_id, .. }
            | Event::QuestionRejected { request_id, .. } => {
                self.asked.remove(request_id.as_str());
                None
            }
            Event::SessionStatus { session_id, status } => {
                if *status != SessionStatus::Idle && self.busy.insert(session_id.clone()) {
                    self.failed.remove(session_id);
                    self.stopped.remove(session_id);
                }
                None
            }
            Event::SessionError {
                session_id: Some(id),
                error: Some(error),
            } => {
                if is_stop(error) {
                    self.stopped.insert(id.clone());
                } else if !error.is_warning() {
                    self.failed.insert(id.clone());
                }
                None
            }
            Event::MessageUpdated {
                info: Message::Assistant(message),
            } => {
                if message.error.as_ref().is_some_and(is_stop) {
                    self.stopped.insert(message.session_id.clone());
                }
                None
            }
            Event::SessionIdle { session_id } => self.end(session_id),
            _ => None,
        }
    }

    /// After events were missed: what is so now, and was not heard of.
    pub fn catch_up(&mut self, activity: &Activity) -> Vec<(SessionId, News)> {
        let over: Vec<_> = self
            .busy
            .iter()
            .filter(|id| !activity.statuses.contains_key(*id))
            .cloned()
            .collect();
        let mut news: Vec<_> = over.iter().filter_map(|id| self.end(id)).collect();
        self.busy.extend(activity.statuses.keys().cloned());
        for request in &activity.permissions {
            news.extend(self.permission(request));
        }
        for request in &activity.questions {
            news.extend(self.question(request.id.as_str(), &request.session_id));
        }
        news
    }

    fn permission(&mut self, request: &PermissionRequest) -> Option<(SessionId, News)> {
        let news = match request.permission.as_str() {
            LIMIT => News::Limit,
            _ => News::Permission,
        };
        let is_new = self.asked.insert(request.id.as_str().to_owned());
        is_new.then(|| (request.session_id.clone(), news))
    }

    fn question(&mut self, id: &str, session: &SessionId) -> Option<(SessionId, News)> {
        let is_new = self.asked.insert(id.to_owned());
        is_new.then(|| (session.clone(), News::Question))
    }

    fn end(&mut self, id: &SessionId) -> Option<(SessionId, News)> {
        self.busy.remove(id);
        let (failed, stopped) = (self.failed.remove(id), self.stopped.remove(id));
        let news = match (failed, stopped) {
            (_, true) => return None,
            (true, false) => News::Failed,
            (false, false) => News::Finished,
        };
        Some((id.clone(), news))
    }
}

fn is_stop(error: &MessageError) -> bool {
    matches!(error, MessageError::Aborted(_))
}

#[cfg(test)]
mod tests;
