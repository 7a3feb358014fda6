//! A data directory with JSON files, in the current layout or an older one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{IdSource, MessageId, Millis, SessionId, Tick};

use super::bundle::{Bundle, Raw, parse_session};
use super::staging::Staging;
use super::{Source, Unreadable, display, read_file, readable};
use crate::error::{IoContext, Result, optional};
use crate::fs::{Disk, Fs};
use crate::key::{Key, segment};
use crate::migrate;
use crate::parallel;
use crate::storage::{DataDirs, Storage};
use crate::store::{Options, open_storage};

/// The folder in which each project had its own tree before there was one for all.
const PROJECT_TREES: &str = "project";

pub(super) struct Tree {
    storage: Storage,
    session_keys: HashMap<SessionId, (Key, Millis)>,
    /// What could not be copied from an older layout.
    not_copied: Vec<Unreadable>,
}

/// The bytes of a message, and of its parts by name if their folder can be read.
type RawMessage = (Raw, Result<Vec<(String, Raw)>>);

pub(super) fn is_tree(folder: &Path) -> bool {
    folder.join("storage").is_dir() || !project_trees(folder).is_empty()
}

/// The number of sessions by their file names, without reading them.
pub(super) fn count_sessions(folder: &Path) -> Result<usize> {
    let records = |folder: &Path| {
        let names = readable_paths_in(folder);
        names.filter(|path| is_json(path))
    };
    let sessions = folder.join("storage").join("session");
    let mut found: HashSet<_> = readable_paths_in(&sessions)
        .flat_map(|project| records(&project).collect::<Vec<_>>())
        .filter_map(|path| path.file_stem().map(ToOwned::to_owned))
        .collect();
    if migrate::version(&Disk, &DataDirs::below(folder))? == 0 {
        for tree in project_trees(folder) {
            let ids = records(&tree.join("session").join("info"));
            found.extend(ids.filter_map(|path| path.file_stem().map(ToOwned::to_owned)));
        }
    }
    Ok(found.len())
}

impl Tree {
    /// A tree in the current layout is read in place; an older one is copied and the copy migrated.
    pub(super) fn open(root: &Path, staging: &Staging) -> Result<Tree> {
        let dirs = DataDirs::below(root);
        let mut not_copied = Vec::new();
        let storage = if migrate::version(&Disk, &dirs)? == migrate::VERSION {
            let ids = IdSource::new(Tick::default());
            Storage::new(dirs, Arc::new(Disk), None, ids)
        } else {
            let copy = staging.folder()?;
            let storage = copy.join("storage");
            copy_tree(&dirs.tree, &storage, &mut not_copied)?;
            let projects = root.join(PROJECT_TREES);
            let projects = readable(display(&projects), paths_in(&projects), &mut not_copied);
            for old in projects.unwrap_or_default() {
                let old = old.join("storage");
                let inside = old.strip_prefix(root).unwrap_or(&old);
                copy_tree(&old, &copy.join(inside), &mut not_copied)?;
            }
            open_storage(DataDirs::below(copy), Options::default())?
        };
        Ok(Tree {
            storage,
            session_keys: HashMap::new(),
            not_copied,
        })
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        let path = key.file(&self.storage.dirs.tree);
        let mut bytes = Vec::new();
        let found = optional(read_file(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.map(|()| bytes))
    }

    fn names(&self, folder: &Key) -> Result<Vec<String>> {
        let folder = folder.folder(&self.storage.dirs.tree);
        let mut names = self.storage.record_names(&folder)?;
        names.sort();
        Ok(names)
    }

    fn load_message(&self, session: &SessionId, message: &str) -> Result<RawMessage> {
        let raw = |key: Key| match self.read(&key) {
            Ok(bytes) => Ok(bytes.unwrap_or_default()),
            Err(error) => Err(error.to_string()),
        };
        let info = raw(Key::new(["message", session.as_str(), message])?);
        let folder = Key::new(["part", message])?;
        let parts = self.names(&folder).and_then(|names| {
            let part = |name: String| Ok((name.clone(), raw(folder.child(&name)?)));
            names.into_iter().map(part).collect()
        });
        Ok((info, parts))
    }

    /// Lists folders whose session or message does not exist.
    fn list_orphans(&self, unreadable: &mut Vec<Unreadable>) {
        let tree = &self.storage.dirs.tree;
        let mut messages = HashSet::new();
        for folder in readable_paths_in(&tree.join("message")) {
            let session = id_in_name(&folder);
            let known =
                SessionId::parse(&session).is_ok_and(|id| self.session_keys.contains_key(&id));
            messages.extend(readable_paths_in(&folder).map(|file| id_in_name(&file)));
            if !known {
                let what = format!("messages of {session}");
                unreadable.push(Unreadable::new(what, "their session is not there"));
            }
        }
        for folder in readable_paths_in(&tree.join("part")) {
            let message = id_in_name(&folder);
            if !messages.contains(&message) {
                let what = format!("parts of {message}");
                unreadable.push(Unreadable::new(what, "their message is not there"));
            }
        }
    }

    /// Lists files that are skipped because of their name or type.
    fn list_strays(&self, unreadable: &mut Vec<Unreadable>) {
        let tree = &self.storage.dirs.tree;
        let mut skip = |path: &Path, why: &str| {
            let what = path.strip_prefix(tree).unwrap_or(path);
            unreadable.push(Unreadable::new(display(what), why));
        };
        for project in readable_paths_in(&tree.join("session")) {
            if fs::symlink_metadata(&project).is_ok_and(|found| !found.is_dir()) {
                skip(&project, "it is not a folder");
            }
        }
        for kind in ["session", "message", "part"] {
            for folder in readable_paths_in(&tree.join(kind)) {
                let records = readable_paths_in(&folder).filter(|path| is_json(path));
                for record in records.filter(|path| segment(&id_in_name(path)).is_err()) {
                    skip(&record, "its name is no id");
                }
            }
        }
    }
}

impl Source for Tree {
    fn list_sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>> {
        unreadable.append(&mut self.not_copied);
        for project in self.storage.session_folders()? {
            let keys = self.storage.session_keys(&project);
            let keys = readable(format!("sessions of {project}"), keys, unreadable);
            for key in keys.unwrap_or_default() {
                let session = self
                    .read(&key)
                    .and_then(|bytes| parse_session(&key, &bytes.unwrap_or_default()));
                let Some(session) = readable(key.as_str(), session, unreadable) else {
                    continue;
                };
                // If a session has two records, the newer one is imported.
                let updated = session.time.updated;
                let is_older = |(_, other): &(Key, Millis)| *other < updated;
                if self.session_keys.get(&session.id).is_none_or(is_older) {
                    self.session_keys.insert(session.id, (key, updated));
                }
            }
        }
        self.list_orphans(unreadable);
        self.list_strays(unreadable);
        let mut ids: Vec<_> = self.session_keys.keys().cloned().collect();
        ids.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        Ok(ids)
    }

    fn load_session(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle> {
        let key = match self.session_keys.get(id) {
            Some((key, _)) => key.clone(),
            None => Key::new(["session", "global", id.as_str()])?,
        };
        let bytes = self.read(&key)?.unwrap_or_default();
        let mut bundle = Bundle::new(&key, bytes, unreadable)?;
        let read = |key: Key, unreadable: &mut Vec<Unreadable>| {
            readable(key.as_str(), self.read(&key), unreadable).flatten()
        };
        let project = Key::project(&bundle.session.project_id)?;
        if let Some(bytes) = read(project, unreadable) {
            bundle.set_project(bytes, unreadable);
        }
        let mut messages = self.names(&Key::new(["message", id.as_str()])?)?;
        messages.retain(|message| {
            let id = MessageId::parse(message);
            if let Err(bad) = &id {
                unreadable.push(Unreadable::new(format!("message {message}"), bad));
            }
            id.is_ok()
        });
        let loaded = parallel::map(&messages, |message, _| self.load_message(id, message));
        for (message, loaded) in messages.iter().zip(loaded) {
            let (info, parts) = loaded?;
            let parts = readable(format!("parts of {message}"), parts, unreadable);
            bundle.add_message(message, info, parts.unwrap_or_default(), unreadable);
        }
        if let Some(todos) = read(Key::todo(id)?, unreadable) {
            bundle.add_todos(todos, unreadable);
        }
        if let Some(diffs) = read(Key::session_diff(id)?, unreadable) {
            bundle.add_diffs(diffs, unreadable);
        }
        Ok(bundle)
    }
}

/// The trees of single projects, in the oldest layout.
fn project_trees(root: &Path) -> Vec<PathBuf> {
    readable_paths_in(&root.join(PROJECT_TREES))
        .map(|project| project.join("storage"))
        .filter(|tree| tree.is_dir())
        .collect()
}

/// What cannot be read is listed and left out; an error comes from writing the copy.
fn copy_tree(from: &Path, to: &Path, unreadable: &mut Vec<Unreadable>) -> Result<()> {
    let mut bytes = Vec::new();
    let paths = readable(display(from), paths_in(from), unreadable);
    for path in paths.unwrap_or_default() {
        let Some(name) = path.file_name() else {
            continue;
        };
        let to_path = to.join(name);
        let kind = fs::symlink_metadata(&path);
        let Some(kind) = readable(display(&path), kind, unreadable) else {
            continue;
        };
        if kind.is_dir() {
            copy_tree(&path, &to_path, unreadable)?;
            continue;
        }
        let read = match kind.is_file() {
            true => read_file(&path, &mut bytes),
            false => Err(io::Error::other("it is neither a file nor a folder")),
        };
        if readable(display(&path), read, unreadable).is_some() {
            Disk.create_dir_all(to).doing("creating", to)?;
            Disk.create(&to_path, &bytes).doing("writing", &to_path)?;
        }
    }
    Ok(())
}

/// Sorted, so that an import has the same result each time. A missing folder counts as empty.
fn paths_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(entries) = optional(fs::read_dir(folder))? else {
        return Ok(Vec::new());
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// As [`paths_in`], but a folder that cannot be read counts as empty.
fn readable_paths_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    paths_in(folder).unwrap_or_default().into_iter()
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// The id in the name of a file or folder.
fn id_in_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".json").unwrap_or(&name).to_owned()
}
