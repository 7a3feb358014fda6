//! Undoing what a person did in the review, and doing it again.

use std::collections::HashSet;
use std::path::Path;

use lathe_protocol::ipc::{RevertLinesOptions, ReviewDone};
use lathe_protocol::{PartId, Session, SessionId, serial_cmp, timestamp};
use lathe_records::{Failed, Result};
use lathe_review::record::{Action, Moved, ReviewRecord};
use lathe_review::revert::{self, Edited};

use crate::Changes;
use crate::judge::revert_options;

/// What is undone next, and what is done again next.
pub(crate) struct Next {
    pub undo: Option<Action>,
    pub redo: Option<Action>,
}

impl Changes {
    /// An action whose place in the timeline is hidden or gone is passed over: its files are what
    /// the timeline made of them. While something newer can be undone in the timeline, that comes
    /// first.
    pub(crate) async fn next(&self, session: &Session, record: &ReviewRecord) -> Result<Next> {
        let all = || record.done.iter().chain(&record.undone);
        let parts: HashSet<PartId> = match all().any(|action| place(action).is_some()) {
            true => {
                let visible = self.sessions.visible_messages(session).await?;
                let parts = visible.iter().flat_map(|message| message.parts.iter());
                parts.map(|part| part.id().clone()).collect()
            }
            false => HashSet::new(),
        };
        let is_there = |action: &&Action| place(action).is_none_or(|part| parts.contains(part));
        let undo = record.done.iter().rev().find(is_there).cloned();
        let undo = match undo {
            Some(action) if self.timeline_is_newer(session, record, &action).await? => None,
            undo => undo,
        };
        Ok(Next {
            undo,
            redo: record.undone.iter().rev().find(is_there).cloned(),
        })
    }

    async fn timeline_is_newer(
        &self,
        session: &Session,
        record: &ReviewRecord,
        action: &Action,
    ) -> Result<bool> {
        let Some(newest) = revert::newest_part(&self.review, &session.id).await? else {
            return Ok(false);
        };
        if record.done.iter().any(|one| place(one) == Some(&newest)) {
            return Ok(false);
        }
        Ok(match action.id.as_ref().or(place(action)) {
            Some(part) => serial_cmp(part.as_str(), newest.as_str()).is_lt(),
            None => timestamp(newest.as_str(), self.records.now())
                .is_some_and(|time| action.time < time),
        })
    }

    /// Undoes the last action of the review.
    pub async fn undo_review(
        &self,
        id: &SessionId,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let _prompt = self.sessions.hold_prompts(id).await;
        let record = self.review.record(id).await?;
        let next = self.next(&self.sessions.get(id).await?, &record).await?;
        let action = next
            .undo
            .ok_or_else(|| Failed::refused("Nothing to undo"))?;
        self.replay(id, action, true, options).await
    }

    /// Does the action again that was undone last.
    pub async fn redo_review(
        &self,
        id: &SessionId,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let _prompt = self.sessions.hold_prompts(id).await;
        let record = self.review.record(id).await?;
        let next = self.next(&self.sessions.get(id).await?, &record).await?;
        let action = next
            .redo
            .ok_or_else(|| Failed::refused("Nothing to redo"))?;
        self.replay(id, action, false, options).await
    }

    async fn replay(
        &self,
        id: &SessionId,
        mut action: Action,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<ReviewDone> {
        let mut files = Vec::new();
        let original = action.clone();
        if let Some(moved) = action.moved.clone() {
            let edited = match &action.folder {
                Some(folder) => {
                    let folder = Path::new(folder);
                    self.move_brought(id, folder, &moved, back, options).await?
                }
                None => self.move_own(id, &moved, back, options).await?,
            };
            let is_left = edited.files.iter().any(|file| file.change.is_open());
            files = edited.files;
            if is_left {
                return self.review_done(id, files, Vec::new()).await;
            }
            if !back && edited.moved.is_some() {
                action.moved = edited.moved;
            }
            self.start_summary(id).await?;
        }
        let changed = action.files.clone();
        let edit = self.review.edit_record(id, |record| {
            for (path, (before, after)) in &action.marks {
                let marks = if back { before } else { after };
                record.set_marks(path, marks.clone());
            }
            if let Some((before, after)) = &action.comment {
                match back {
                    true => record.put_comment(after.as_ref(), before.as_ref()),
                    false => record.put_comment(before.as_ref(), after.as_ref()),
                }
            }
            match back {
                // Something else may have been done while files were moved.
                true => {
                    remove(&mut record.done, &original);
                    record.undone.push(action);
                }
                false => {
                    remove(&mut record.undone, &original);
                    record.push_done(action);
                }
            }
            Ok(())
        });
        edit.await?;
        self.review_done(id, files, changed).await
    }

    async fn move_own(
        &self,
        id: &SessionId,
        moved: &Moved,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<Edited> {
        let options = revert_options(options);
        let edited = async {
            let mut revert = self.open_edits(id).await?;
            let edited = match back {
                true => revert.move_back(moved, &options).await?,
                false => revert.edit_again(moved, &options).await?,
            };
            revert.release_temporary().await?;
            Ok::<Edited, Failed>(edited)
        };
        self.sessions.while_idle(id, edited).await
    }
}

/// The part of the timeline that marks what an action did to files.
fn place(action: &Action) -> Option<&PartId> {
    let (_, part) = action.moved.as_ref()?.part.as_ref()?;
    Some(part)
}

/// Removes the newest entry that is this action.
fn remove(actions: &mut Vec<Action>, action: &Action) {
    if let Some(at) = actions.iter().rposition(|one| one == action) {
        actions.remove(at);
    }
}
