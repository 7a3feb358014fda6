//! The steps of a session that changed files, and the whole project as it was after each.

use std::path::Path;

use lathe_protocol::ipc::{SessionStep, StepPlace, TreeEntryView};
use lathe_protocol::{MessageWithParts, Part, SessionId};
use lathe_snapshot::{SideRepo, TreeId};

use crate::Review;
use crate::error::{Result, ReviewError};
use crate::scope::count;
use crate::snapshots::temporary_label;
use crate::steps::{self, StepParts, StepTrees};

/// A position between two steps: everything from here on is later.
pub struct Place {
    message: usize,
    part: usize,
}

impl Place {
    pub fn find(messages: &[MessageWithParts], at: &StepPlace) -> Result<Place> {
        let missing = || ReviewError::missing("step", at.message_id.as_str());
        match &at.part_id {
            Some(part) => {
                let step = steps::step_parts(messages, &at.message_id, part);
                let step = step.ok_or_else(missing)?;
                Ok(Place {
                    message: step.message,
                    part: step.parts.end,
                })
            }
            None => {
                let mut all = messages.iter();
                let message = all.position(|one| *one.info.id() == at.message_id);
                Ok(Place {
                    message: message.ok_or_else(missing)?,
                    part: 0,
                })
            }
        }
    }

    /// The number of messages before the place, with the one that it cuts.
    pub fn messages(&self) -> usize {
        self.message + usize::from(self.part > 0)
    }

    /// Whether a part of a message was made after the place, by their positions.
    pub fn is_before(&self, message: usize, part: usize) -> bool {
        (message, part) >= (self.message, self.part)
    }

    /// What was done after the place.
    pub fn later(&self, messages: &[MessageWithParts]) -> Vec<StepTrees> {
        let mut steps = steps::read_project(messages);
        steps.retain(|step| self.is_before(step.message, step.parts.start));
        steps
    }

    /// The tree of the whole project at the place, if a later step has taken one.
    fn tree(&self, messages: &[MessageWithParts]) -> Option<TreeId> {
        let later = messages.iter().enumerate().skip(self.message);
        let mut parts = later.flat_map(|(at, message)| {
            let from = if at == self.message { self.part } else { 0 };
            message.parts.iter().skip(from)
        });
        parts.find_map(|part| match part {
            Part::StepStart(start) => start.snapshot.as_deref()?.parse().ok(),
            _ => None,
        })
    }
}

impl Review {
    /// The steps that changed files, the oldest first.
    pub async fn session_steps(
        &self,
        session: &SessionId,
        worktree: &Path,
        messages: &[MessageWithParts],
    ) -> Result<Vec<SessionStep>> {
        let all = steps::read_project(messages);
        let mut wanted = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let Some(answer) = message.info.as_assistant() else {
                continue;
            };
            for part in message.parts.iter() {
                let Part::StepStart(start) = part else {
                    continue;
                };
                let parts = steps::step_parts(messages, message.info.id(), &start.id);
                let parts = parts.unwrap_or(StepParts {
                    message: at,
                    parts: 0..0,
                });
                let mut trees = all.clone();
                trees.retain(|step| parts.contains(step));
                if trees.iter().any(|step| step.start != step.finish) {
                    let step = SessionStep {
                        message_id: message.info.id().clone(),
                        part_id: start.id.clone(),
                        turn_id: answer.parent_id.clone(),
                        time: answer.time.created,
                        files: Vec::new(),
                        additions: 0,
                        deletions: 0,
                    };
                    wanted.push((step, trees));
                }
            }
        }
        let label = temporary_label(session);
        let read = move |repo: &SideRepo| {
            let mut steps = Vec::with_capacity(wanted.len());
            for (mut step, trees) in wanted {
                for change in count(repo, &label, &trees)? {
                    step.files.push(change.path.to_string());
                    step.additions += change.additions;
                    step.deletions += change.deletions;
                }
                if !step.files.is_empty() {
                    steps.push(step);
                }
            }
            repo.release(&repo.references(&label)?)?;
            Ok(steps)
        };
        self.snapshots.with_repo(worktree, read).await
    }

    /// Runs work on the tree of the whole project at a place.
    pub async fn at_place<T: Send + 'static>(
        &self,
        session: &SessionId,
        worktree: &Path,
        messages: &[MessageWithParts],
        at: &StepPlace,
        work: impl FnOnce(&SideRepo, TreeId) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tree = Place::find(messages, at)?.tree(messages);
        let label = temporary_label(session);
        let run = move |repo: &SideRepo| {
            let tree = match tree.filter(|tree| repo.contains(*tree)) {
                Some(tree) => tree,
                // Nothing was done since: the files are as they were.
                None => repo.take(&label)?.hash,
            };
            let done = work(repo, tree);
            repo.release(&repo.references(&label)?)?;
            done
        };
        self.snapshots.with_repo(worktree, run).await
    }
}

/// What lies in a folder of a tree, folders first.
pub fn list_folder(repo: &SideRepo, tree: TreeId, folder: &str) -> Result<Vec<TreeEntryView>> {
    let prefix = match folder {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let mut entries: Vec<TreeEntryView> = Vec::new();
    for (path, _) in repo.files(tree)? {
        let path = path.to_string();
        let Some(rest) = path.strip_prefix(&prefix) else {
            continue;
        };
        let (name, is_folder) = match rest.split_once('/') {
            Some((name, _)) => (name, true),
            None => (rest, false),
        };
        if entries
            .last()
            .is_some_and(|last| last.folder && last.name == name)
        {
            continue;
        }
        entries.push(TreeEntryView {
            name: name.to_owned(),
            path: format!("{prefix}{name}"),
            folder: is_folder,
        });
    }
    entries.sort_by(|a, b| b.folder.cmp(&a.folder).then_with(|| a.name.cmp(&b.name)));
    entries.dedup();
    Ok(entries)
}
