//! 0 → 1: one tree for all projects.
//!
//! Before, each project had a tree of its own beside `storage/`:
//! `project/{directory}/storage/session/{info,message,part}/…`. Those trees are not changed and
//! serve as the backup.

use std::path::{Path, PathBuf};

use lathe_protocol::ProjectId;
use serde_json::{Value, json};

use super::{Change, inline_parts};
use crate::error::Result;
use crate::json_format;
use crate::key::segment;
use crate::storage::encode;
use crate::validate::fingerprint;

/// The directory of all sessions whose folder had no repository.
const NO_PROJECT: &str = "global";

pub(super) fn run(change: &mut Change) -> Result<()> {
    let projects = change.storage.dirs.root.join("project");
    for directory in change.names(&projects)? {
        let old = projects.join(&directory).join("storage").join("session");
        OldProject {
            id: project_id_for(&directory),
            old,
        }
        .run(change)?;
    }
    Ok(())
}

/// The directory's name, which was made from the project's path, becomes the project's id. If the
/// project later gets another id, its sessions are still found by their directory.
fn project_id_for(directory: &str) -> String {
    match ProjectId::parse(directory) {
        Ok(id) => id.as_str().to_owned(),
        Err(_) => format!("{:016x}", fingerprint(directory.as_bytes())),
    }
}

struct OldProject {
    id: String,
    old: PathBuf,
}

impl OldProject {
    fn run(&self, change: &mut Change) -> Result<()> {
        let worktree = self.find_worktree(change)?;
        let mut earliest = None;
        for name in records(change, &self.old.join("info"))? {
            let Some(bytes) = change.read(&self.old.join("info").join(&name))? else {
                continue;
            };
            let bytes = match json_format::from_bytes::<Value>(&bytes) {
                Ok(session) => {
                    earliest = earliest
                        .into_iter()
                        .chain(session["time"]["created"].as_i64())
                        .min();
                    let id = name.strip_suffix(".json").unwrap_or_default();
                    let root = self.find_root(change, id)?.or_else(|| worktree.clone());
                    encode(&self.with_location(session, root))?
                }
                // It is copied unchanged and later reported as damaged.
                Err(_) => bytes,
            };
            change.add(&Path::new("session").join(&self.id).join(&name), &bytes)?;
        }
        self.copy_messages(change)?;
        self.copy_parts(change)?;
        let Some(worktree) = worktree else {
            return Ok(());
        };
        let created = earliest.unwrap_or_default();
        let project =
            json!({ "id": self.id, "worktree": worktree, "time": { "created": created } });
        change.add(
            &Path::new("project").join(format!("{}.json", self.id)),
            &encode(&project)?,
        )
    }

    /// Sessions did not have their project and directory.
    fn with_location(&self, mut session: Value, directory: Option<String>) -> Value {
        if let Some(fields) = session.as_object_mut() {
            fields
                .entry("projectID")
                .or_insert_with(|| self.id.clone().into());
            fields
                .entry("directory")
                .or_insert_with(|| directory.unwrap_or_default().into());
        }
        session
    }

    fn copy_messages(&self, change: &mut Change) -> Result<()> {
        let messages = self.old.join("message");
        for session in folders(change, &messages)? {
            let folder = messages.join(&session);
            for name in records(change, &folder)? {
                let Some(bytes) = change.read(&folder.join(&name))? else {
                    continue;
                };
                let to = Path::new("message").join(&session).join(&name);
                add_message(change, &to, bytes)?;
            }
        }
        Ok(())
    }

    fn copy_parts(&self, change: &mut Change) -> Result<()> {
        let parts = self.old.join("part");
        for session in folders(change, &parts)? {
            let parts = parts.join(session);
            for message in folders(change, &parts)? {
                copy_records(
                    change,
                    &parts.join(&message),
                    &Path::new("part").join(&message),
                )?;
            }
        }
        Ok(())
    }

    /// Any answer has the root of the project. Sessions outside of all projects have none.
    fn find_worktree(&self, change: &Change) -> Result<Option<String>> {
        if self.id == NO_PROJECT {
            return Ok(None);
        }
        for session in folders(change, &self.old.join("message"))? {
            let root = self.find_root(change, &session)?;
            if root.is_some() {
                return Ok(root);
            }
        }
        Ok(None)
    }

    /// The root directory of a session, from one of its answers.
    fn find_root(&self, change: &Change, session: &str) -> Result<Option<String>> {
        let folder = self.old.join("message").join(session);
        for name in records(change, &folder)? {
            let Some(bytes) = change.read(&folder.join(name))? else {
                continue;
            };
            let Ok(message) = json_format::from_bytes::<Value>(&bytes) else {
                continue;
            };
            if let Some(root) = inline_parts::root(&message) {
                return Ok(Some(root.to_owned()));
            }
        }
        Ok(None)
    }
}

/// Adds a message after its parts.
fn add_message(change: &mut Change, to: &Path, bytes: Vec<u8>) -> Result<()> {
    let message = json_format::from_bytes::<Value>(&bytes).ok();
    let Some(split) = message.as_ref().and_then(inline_parts::split) else {
        return change.add(to, &bytes);
    };
    let name = to.file_stem().unwrap_or_default();
    let folder = Path::new("part").join(name);
    for (id, part) in split.parts {
        if segment(&id).is_ok() {
            change.add(&folder.join(format!("{id}.json")), &encode(&part)?)?;
        }
    }
    change.add(to, &encode(&split.info)?)
}

fn copy_records(change: &mut Change, from: &Path, to: &Path) -> Result<()> {
    for name in records(change, from)? {
        if let Some(bytes) = change.read(&from.join(&name))? {
            change.add(&to.join(&name), &bytes)?;
        }
    }
    Ok(())
}

fn records(change: &Change, folder: &Path) -> Result<Vec<String>> {
    let is_record = |name: &String| {
        name.strip_suffix(".json")
            .is_some_and(|id| segment(id).is_ok())
    };
    Ok(change
        .names(folder)?
        .into_iter()
        .filter(is_record)
        .collect())
}

fn folders(change: &Change, folder: &Path) -> Result<Vec<String>> {
    Ok(change
        .names(folder)?
        .into_iter()
        .filter(|name| segment(name).is_ok())
        .collect())
}
