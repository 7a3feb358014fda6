//! A data directory of the JSON era: the same tree as ours, or one that came before it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{IdSource, MessageId, Millis, SessionId, Tick};

use super::bundle::{Bundle, Raw, session_of};
use super::staging::Staging;
use super::{Source, Unreadable, read_file, readable, shown};
use crate::error::{IoContext, Result, optional};
use crate::fs::{Disk, Fs};
use crate::key::{Key, segment};
use crate::migrate;
use crate::parallel;
use crate::storage::{Places, Storage};
use crate::store::{Options, begin};

/// Where each project kept its own tree before there was one for all.
const OLDEST: &str = "project";

pub(super) struct Tree {
    storage: Storage,
    homes: HashMap<SessionId, (Key, Millis)>,
    /// What did not get into the copy of an older layout.
    not_copied: Vec<Unreadable>,
}

/// A message as it lies there, with its parts by their names, if their folder can be read.
type RawMessage = (Raw, Result<Vec<(String, Raw)>>);

pub(super) fn is_tree(folder: &Path) -> bool {
    folder.join("storage").is_dir() || !oldest_trees(folder).is_empty()
}

/// How many sessions there seem to be, without reading them.
pub(super) fn count(folder: &Path) -> Result<usize> {
    let records = |folder: &Path| {
        let names = files_in(folder);
        names.filter(|path| is_json(path))
    };
    let sessions = folder.join("storage").join("session");
    let mut found: HashSet<_> = files_in(&sessions)
        .flat_map(|project| records(&project).collect::<Vec<_>>())
        .filter_map(|path| path.file_stem().map(ToOwned::to_owned))
        .collect();
    if migrate::version(&Disk, &Places::below(folder))? == 0 {
        for tree in oldest_trees(folder) {
            let ids = records(&tree.join("session").join("info"));
            found.extend(ids.filter_map(|path| path.file_stem().map(ToOwned::to_owned)));
        }
    }
    Ok(found.len())
}

impl Tree {
    /// A tree of today's layout is read where it is; an older one is copied and brought up to
    /// date in the copy.
    pub(super) fn open(root: &Path, staging: &Staging) -> Result<Tree> {
        let places = Places::below(root);
        let mut not_copied = Vec::new();
        let storage = if migrate::version(&Disk, &places)? == migrate::VERSION {
            let ids = IdSource::new(Tick::default());
            Storage::new(places, Arc::new(Disk), None, ids)
        } else {
            let copy = staging.folder()?;
            let storage = copy.join("storage");
            copy_tree(&places.tree, &storage, &mut not_copied)?;
            let projects = root.join(OLDEST);
            let projects = readable(shown(&projects), entries_of(&projects), &mut not_copied);
            for old in projects.unwrap_or_default() {
                let old = old.join("storage");
                let inside = old.strip_prefix(root).unwrap_or(&old);
                copy_tree(&old, &copy.join(inside), &mut not_copied)?;
            }
            begin(Places::below(copy), Options::default())?
        };
        Ok(Tree {
            storage,
            homes: HashMap::new(),
            not_copied,
        })
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        let path = key.file(&self.storage.places.tree);
        let mut bytes = Vec::new();
        let found = optional(read_file(&path, &mut bytes)).doing("reading", &path)?;
        Ok(found.map(|()| bytes))
    }

    fn names(&self, folder: &Key) -> Result<Vec<String>> {
        let folder = folder.folder(&self.storage.places.tree);
        let mut names = self.storage.names(&folder)?;
        names.sort();
        Ok(names)
    }

    fn load(&self, session: &SessionId, message: &str) -> Result<RawMessage> {
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

    /// Folders whose session or message is not there.
    fn orphans(&self, unreadable: &mut Vec<Unreadable>) {
        let tree = &self.storage.places.tree;
        let mut messages = HashSet::new();
        for folder in files_in(&tree.join("message")) {
            let session = name_of(&folder);
            let known = SessionId::parse(&session).is_ok_and(|id| self.homes.contains_key(&id));
            messages.extend(files_in(&folder).map(|file| name_of(&file)));
            if !known {
                let what = format!("messages of {session}");
                unreadable.push(Unreadable::new(what, "their session is not there"));
            }
        }
        for folder in files_in(&tree.join("part")) {
            let message = name_of(&folder);
            if !messages.contains(&message) {
                let what = format!("parts of {message}");
                unreadable.push(Unreadable::new(what, "their message is not there"));
            }
        }
    }

    /// What lies where records lie and is passed over for its name or its kind.
    fn strays(&self, unreadable: &mut Vec<Unreadable>) {
        let tree = &self.storage.places.tree;
        let mut passed_over = |path: &Path, why: &str| {
            let what = path.strip_prefix(tree).unwrap_or(path);
            unreadable.push(Unreadable::new(shown(what), why));
        };
        for project in files_in(&tree.join("session")) {
            if fs::symlink_metadata(&project).is_ok_and(|found| !found.is_dir()) {
                passed_over(&project, "it is not a folder");
            }
        }
        for kind in ["session", "message", "part"] {
            for folder in files_in(&tree.join(kind)) {
                let records = files_in(&folder).filter(|path| is_json(path));
                for record in records.filter(|path| segment(&name_of(path)).is_err()) {
                    passed_over(&record, "its name is no id");
                }
            }
        }
    }
}

impl Source for Tree {
    fn sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>> {
        unreadable.append(&mut self.not_copied);
        for project in self.storage.session_folders()? {
            let keys = self.storage.session_keys(&project);
            let keys = readable(format!("sessions of {project}"), keys, unreadable);
            for key in keys.unwrap_or_default() {
                let session = self
                    .read(&key)
                    .and_then(|bytes| session_of(&key, &bytes.unwrap_or_default()));
                let Some(session) = readable(key.as_str(), session, unreadable) else {
                    continue;
                };
                // Of two records of one session the newer one counts.
                let updated = session.time.updated;
                let older = |(_, other): &(Key, Millis)| *other < updated;
                if self.homes.get(&session.id).is_none_or(older) {
                    self.homes.insert(session.id, (key, updated));
                }
            }
        }
        self.orphans(unreadable);
        self.strays(unreadable);
        let mut ids: Vec<_> = self.homes.keys().cloned().collect();
        ids.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        Ok(ids)
    }

    fn bundle(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle> {
        let key = match self.homes.get(id) {
            Some((key, _)) => key.clone(),
            None => Key::new(["session", "global", id.as_str()])?,
        };
        let bytes = self.read(&key)?.unwrap_or_default();
        let mut bundle = Bundle::new(&key, bytes, unreadable)?;
        let found = |key: Key, unreadable: &mut Vec<Unreadable>| {
            readable(key.as_str(), self.read(&key), unreadable).flatten()
        };
        let project = Key::project(&bundle.session.project_id)?;
        if let Some(bytes) = found(project, unreadable) {
            bundle.set_project(bytes, unreadable);
        }
        let mut messages = self.names(&Key::new(["message", id.as_str()])?)?;
        messages.retain(|message| {
            let good = MessageId::parse(message);
            if let Err(bad) = &good {
                unreadable.push(Unreadable::new(format!("message {message}"), bad));
            }
            good.is_ok()
        });
        let loaded = parallel::map(&messages, |message, _| self.load(id, message));
        for (message, loaded) in messages.iter().zip(loaded) {
            let (info, parts) = loaded?;
            let parts = readable(format!("parts of {message}"), parts, unreadable);
            bundle.add_message(message, info, parts.unwrap_or_default(), unreadable);
        }
        if let Some(todos) = found(Key::todo(id)?, unreadable) {
            bundle.add_todos(todos, unreadable);
        }
        if let Some(diffs) = found(Key::session_diff(id)?, unreadable) {
            bundle.add_diffs(diffs, unreadable);
        }
        Ok(bundle)
    }
}

/// The trees of single projects that the oldest layout had.
fn oldest_trees(root: &Path) -> Vec<PathBuf> {
    files_in(&root.join(OLDEST))
        .map(|project| project.join("storage"))
        .filter(|tree| tree.is_dir())
        .collect()
}

/// What cannot be read is listed and left out; an error is that of the copy.
fn copy_tree(from: &Path, to: &Path, unreadable: &mut Vec<Unreadable>) -> Result<()> {
    let mut bytes = Vec::new();
    let paths = readable(shown(from), entries_of(from), unreadable);
    for path in paths.unwrap_or_default() {
        let Some(name) = path.file_name() else {
            continue;
        };
        let to_path = to.join(name);
        let kind = fs::symlink_metadata(&path);
        let Some(kind) = readable(shown(&path), kind, unreadable) else {
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
        if readable(shown(&path), read, unreadable).is_some() {
            Disk.create_dir_all(to).doing("creating", to)?;
            Disk.create(&to_path, &bytes).doing("writing", &to_path)?;
        }
    }
    Ok(())
}

/// Sorted, so that an import does the same each time. A folder that is not there is empty.
fn entries_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(entries) = optional(fs::read_dir(folder))? else {
        return Ok(Vec::new());
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The same, for those who can do without what cannot be read.
fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries_of(folder).unwrap_or_default().into_iter()
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

/// The id in a file's or folder's name.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".json").unwrap_or(&name).to_owned()
}
