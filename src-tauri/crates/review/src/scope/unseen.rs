//! What the agent did in a scope and its list of files does not show.

use std::path::Path;

use lathe_protocol::{MessageWithParts, Part};
use lathe_snapshot::SideRepo;

use super::ScopeFiles;
use crate::Review;
use crate::credit::Credit;
use crate::error::Result;
use crate::snapshots::OUTSIDE;
use crate::steps::{self, StepTrees, chains};

/// Sentences for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unseen {
    /// What no snapshot tells.
    pub unknown: Vec<String>,
    /// What is known and is no part of the list.
    pub not_shown: Vec<String>,
}

impl Review {
    /// `within` tells whether a part of a message, by their positions, belongs to the scope.
    pub async fn unseen(
        &self,
        messages: &[MessageWithParts],
        files: &ScopeFiles,
        within: impl Fn(usize, usize) -> bool,
    ) -> Result<Unseen> {
        let calls = steps::unknown_calls(messages).into_iter();
        let calls = calls.filter(|call| within(call.message, call.part));
        let mut unseen = Unseen {
            unknown: calls.map(|call| call.text).collect(),
            not_shown: not_kept(messages, &within),
        };
        unseen.unknown.extend(match files.missing {
            0 => None,
            1 => Some("What one step did is not known: its snapshots are not here".to_owned()),
            count => Some(format!(
                "What {count} steps did is not known: their snapshots are not here"
            )),
        });
        let mut outside = steps::read(messages);
        outside.retain(|step| {
            let is_there = within(step.message, step.parts.start);
            step.is_outside() && is_there && step.start != step.finish
        });
        if !outside.is_empty() {
            unseen.not_shown.extend(self.outside(outside).await?);
        }
        Ok(unseen)
    }

    /// The files outside of the project, in one sentence.
    async fn outside(&self, steps: Vec<StepTrees>) -> Result<Option<String>> {
        let list = move |repo: &SideRepo| {
            let paths = chains(repo, &steps)?.spans().into_keys();
            Ok(paths.map(|path| format!("/{path}")).collect::<Vec<_>>())
        };
        let paths = self.snapshots.with_repo(Path::new(OUTSIDE), list).await?;
        Ok(paths.first().map(|example| {
            let files = if paths.len() == 1 { "file" } else { "files" };
            let count = paths.len();
            format!(
                "{count} {files} outside of the project can be reverted with the turn only, such \
                 as {example}"
            )
        }))
    }
}

/// Each sentence once.
fn not_kept(messages: &[MessageWithParts], within: &impl Fn(usize, usize) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (message, content) in messages.iter().enumerate() {
        for (at, part) in content.parts.iter().enumerate() {
            if let (Part::Tool(tool), true) = (part, within(message, at)) {
                let credit = Credit::of(tool).unwrap_or_default();
                found.extend(credit.not_kept_sentences());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}
