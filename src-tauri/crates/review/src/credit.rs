//! What one call did to files, as far as it is known: stored with the call's part.
//!
//! What our own tools write is known to the byte. For a command there is a tree right before it
//! and one right after; of what lies between, only what its own processes wrote is the agent's.
//! Where that is not known, nothing is claimed: the person decides.

mod beforehand;
pub mod keeper;

use std::collections::{BTreeMap, BTreeSet};

use lathe_protocol::{CallOutcome, ToolPart, ToolState};
use lathe_snapshot::{RelPath, TreeId};
use serde::{Deserialize, Serialize};

/// The key in the `extra` fields of a tool part. The field names below are stored.
pub const KEY: &str = "credit";

/// A call that has this, even empty, was made by a version that records credit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Why it is not known what the call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// What the call wrote and cannot be reverted, by kind. No part of a revert.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_kept: BTreeMap<Kind, NotKept>,
}

/// Why something is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ignored,
    Outside,
    Git,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotKept {
    pub count: usize,
    /// One of them.
    pub example: String,
}

/// Two trees, and whose the changes between them are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    pub before: String,
    /// Absent while the call runs, and after a crash until the session is opened again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The trees are of files outside of the project.
    #[serde(default, skip_serializing_if = "is_false")]
    pub outside: bool,
    pub proof: Proof,
    /// Changed meanwhile, and not by the call.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub by_others: BTreeSet<String>,
    /// Changed by the call and meanwhile by something else, too.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub shared: BTreeSet<String>,
}

/// What makes the changes of a span the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// Our own tool wrote them.
    Written,
    /// The processes of the command were seen to write them.
    Witnessed,
    /// It is not known who wrote them.
    None,
    /// The call was cut short, and the tree after it was taken later.
    Late,
}

/// How a span names a file: a name that is not UTF-8 in hexadecimal, after a byte that no name
/// has. Two such names must not look the same.
pub fn key(path: &RelPath) -> String {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(name) => name.to_owned(),
        Err(_) => {
            let bytes = path.as_bytes().iter();
            let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
            format!("\0{digits}")
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Why a change is not simply the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Something else changed the file while the command ran.
    ByOthers,
    /// The command and something else changed it, or it is not known which of them.
    Shared,
    /// The step was cut short.
    CutShort,
}

impl Span {
    /// A span whose end is not known yet.
    pub fn open(before: TreeId, proof: Proof) -> Span {
        Span {
            before: before.to_string(),
            after: None,
            outside: false,
            proof,
            by_others: BTreeSet::new(),
            shared: BTreeSet::new(),
        }
    }

    #[must_use]
    pub fn until(mut self, after: TreeId) -> Span {
        self.after = Some(after.to_string());
        self
    }

    pub fn trees(&self) -> Option<(TreeId, TreeId)> {
        let after = self.after.as_ref()?;
        Some((self.before.parse().ok()?, after.parse().ok()?))
    }

    /// `None` if the change of this path is the agent's.
    pub fn doubt(&self, path: &RelPath) -> Option<Doubt> {
        match self.proof {
            Proof::Written => None,
            Proof::None => Some(Doubt::Shared),
            Proof::Late => Some(Doubt::CutShort),
            Proof::Witnessed => {
                let name = key(path);
                if self.shared.contains(&name) {
                    Some(Doubt::Shared)
                } else {
                    self.by_others.contains(&name).then_some(Doubt::ByOthers)
                }
            }
        }
    }
}

impl Credit {
    pub fn add_not_kept(&mut self, kind: Kind, example: String) {
        let known = self.not_kept.entry(kind).or_default();
        known.count += 1;
        if known.count == 1 {
            known.example = example;
        }
    }

    /// What of the call a revert will not cover, for its card.
    pub fn not_covered_sentences(&self) -> Vec<String> {
        let unknown = self.unknown.iter();
        let unknown = unknown.map(|why| format!("What it did cannot all be reverted: {why}"));
        unknown.chain(self.not_kept_sentences()).collect()
    }

    /// One sentence for each kind.
    pub fn not_kept_sentences(&self) -> Vec<String> {
        let sentence = |(kind, one): (&Kind, &NotKept)| {
            let (count, example) = (one.count, &one.example);
            let files = if count == 1 { "file" } else { "files" };
            match kind {
                Kind::Ignored => {
                    format!("{count} ignored {files} can’t be reverted, such as {example}")
                }
                Kind::Outside => format!(
                    "{count} {files} outside of the project can’t be reverted, such as {example}"
                ),
                Kind::Git => "What git itself stores can’t be reverted".to_owned(),
            }
        };
        self.not_kept.iter().map(sentence).collect()
    }

    pub fn of(part: &ToolPart) -> Option<Credit> {
        let stored = part.extra.0.get(KEY)?;
        Some(
            serde_json::from_value(stored.clone()).unwrap_or_else(|_| Credit {
                unknown: Some("its record can’t be read".to_owned()),
                ..Credit::default()
            }),
        )
    }

    pub fn store_in(&self, part: &mut ToolPart) {
        let value = serde_json::to_value(self).unwrap_or_default();
        part.extra.0.insert(KEY.to_owned(), value);
    }
}

/// Tools of ours and of the program that sessions are imported from that never change files.
const READ_ONLY: [&str; 18] = [
    "codesearch",
    "glob",
    "grep",
    "invalid",
    "list",
    "ls",
    "lsp",
    "plan_enter",
    "plan_exit",
    "question",
    "read",
    "skill",
    "todoread",
    "todowrite",
    "tool_search",
    "view",
    "webfetch",
    "websearch",
];

/// Tools that change a file completely or not at all.
const ALL_OR_NOTHING: [&str; 4] = ["apply_patch", "edit", "multiedit", "write"];

/// Whether a call without a record of its credit may have changed files.
pub fn may_have_written(part: &ToolPart) -> bool {
    let name = part.tool.as_str();
    match part.state() {
        _ if READ_ONLY.contains(&name) => false,
        ToolState::Pending(_) => false,
        ToolState::Running(_) | ToolState::Completed(_) => true,
        ToolState::Error(failed) => {
            let outcome = failed.metadata.as_ref();
            let outcome = outcome.and_then(|metadata| metadata.get(CallOutcome::KEY));
            let outcome = outcome.and_then(|outcome| outcome.as_str());
            let not_started = [CallOutcome::Denied, CallOutcome::NotRun];
            !ALL_OR_NOTHING.contains(&name)
                && !not_started.iter().any(|one| outcome == Some(one.as_str()))
        }
    }
}
