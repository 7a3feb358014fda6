//! What a person did in the review of a session: marks, comments, and the actions to undo.
//!
//! Stored beside the session, so that all of it survives a restart.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_protocol::ipc::{CommentState, DiffSide, ReviewAction, ReviewActionKind, ReviewScope};
use lathe_protocol::{MessageId, Millis, PartId, SessionId};
use lathe_records::Records;
use lathe_store::Key;
use serde::{Deserialize, Serialize};

use crate::Review;
use crate::error::Result;
use crate::lines::marks::Mark;
use crate::revert::RevertedFile;

/// Older actions can no longer be undone.
const MOST_ACTIONS: usize = 200;

/// The field names are stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewRecord {
    /// By path.
    pub kept: BTreeMap<String, Vec<Mark>>,
    /// The version of each file that the person has viewed.
    pub viewed: BTreeMap<String, String>,
    pub comments: Vec<Comment>,
    /// The oldest first.
    pub done: Vec<Action>,
    /// What was undone and can be done again, the newest last.
    pub undone: Vec<Action>,
}

/// One action, with what is needed to undo it and to do it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub kind: ReviewActionKind,
    pub time: Millis,
    /// Tells what was done before what. Older versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PartId>,
    pub files: Vec<String>,
    /// The marks of each file before and after.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<String, (Vec<Mark>, Vec<Mark>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Where these files are, if not in the session's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// A comment before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<(Option<Comment>, Option<Comment>)>,
}

/// Files that an action changed on the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Each with the trees that have it before and after.
    pub files: Vec<RevertedFile>,
    /// The same without the person's lines.
    #[serde(default)]
    pub own: Vec<RevertedFile>,
    /// The part that marks it in the timeline.
    pub part: Option<(MessageId, PartId)>,
}

/// A stored comment. The lines are found again by their text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub id: String,
    pub path: String,
    pub side: DiffSide,
    /// Where the lines were, counted from 0.
    pub line: usize,
    pub lines: Vec<String>,
    /// The line above and below.
    #[serde(default)]
    pub above: Option<String>,
    #[serde(default)]
    pub below: Option<String>,
    pub text: String,
    pub time: Millis,
    pub state: CommentState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Millis>,
    /// What was looked at. Older versions did not store it.
    #[serde(default = "whole_session", skip_serializing_if = "is_whole_session")]
    pub scope: ReviewScope,
}

fn whole_session() -> ReviewScope {
    ReviewScope::Session
}

fn is_whole_session(scope: &ReviewScope) -> bool {
    *scope == ReviewScope::Session
}

impl Action {
    pub fn new(records: &Records, kind: ReviewActionKind, files: Vec<String>) -> Action {
        let time = records.now();
        Action {
            kind,
            time,
            id: Some(records.ids().part(time)),
            files,
            marks: BTreeMap::new(),
            moved: None,
            folder: None,
            comment: None,
        }
    }

    pub fn view(&self) -> ReviewAction {
        ReviewAction {
            kind: self.kind,
            files: self.files.clone(),
            time: self.time,
        }
    }
}

impl ReviewRecord {
    /// Adds a new action: what was undone before can no longer be done again.
    pub fn add(&mut self, action: Action) {
        self.undone.clear();
        self.push_done(action);
    }

    pub fn push_done(&mut self, action: Action) {
        self.done.push(action);
        let over = self.done.len().saturating_sub(MOST_ACTIONS);
        self.done.drain(..over);
    }

    pub fn set_marks(&mut self, path: &str, marks: Vec<Mark>) {
        match marks.is_empty() {
            true => self.kept.remove(path),
            false => self.kept.insert(path.to_owned(), marks),
        };
    }

    pub fn marks(&self, path: &str) -> &[Mark] {
        self.kept.get(path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Puts a comment as it is on one side of an action.
    pub fn put_comment(&mut self, was: Option<&Comment>, is: Option<&Comment>) {
        let id = was.or(is).map(|comment| comment.id.clone());
        let at = self
            .comments
            .iter()
            .position(|one| Some(&one.id) == id.as_ref());
        match (at, is) {
            (Some(at), Some(comment)) => self.comments[at] = comment.clone(),
            (Some(at), None) => drop(self.comments.remove(at)),
            (None, Some(comment)) => self.comments.push(comment.clone()),
            (None, None) => {}
        }
    }
}

impl Review {
    pub async fn record(&self, session: &SessionId) -> Result<ReviewRecord> {
        let key = Key::session_review(session)?;
        Ok(self.records.store().read(&key).await?.unwrap_or_default())
    }

    /// Changes the record; one change at a time.
    pub async fn edit_record<T>(
        &self,
        session: &SessionId,
        edit: impl FnOnce(&mut ReviewRecord) -> Result<T>,
    ) -> Result<T> {
        let lock = {
            let mut all = self.editing.lock();
            // Those that are neither held nor waited for.
            all.retain(|_, lock| Arc::strong_count(lock) > 1);
            all.entry(session.clone()).or_default().clone()
        };
        let _editing = lock.lock().await;
        let mut record = self.record(session).await?;
        let before = record.clone();
        let edited = edit(&mut record)?;
        if record != before {
            let key = Key::session_review(session)?;
            self.records.store().write_durable(&key, &record).await?;
        }
        Ok(edited)
    }
}
