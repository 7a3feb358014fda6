//! Imports sessions of another program.
//!
//! There are three kinds of sources: a data directory with JSON files, an SQLite database, and one
//! exported session. A source is never changed; what has to be converted before it can be read (an
//! old layout, a database with a journal) is copied to `staging/` first. Records keep their ids,
//! times and unknown fields. A session's own record is written last, after everything else is
//! durable, so that a session that exists is complete and any other is imported again.

mod bundle;
mod database;
mod exported;
mod sources;
mod staging;
mod tree;

use std::io::Read;
use std::path::{Path, PathBuf};

use lathe_protocol::{Session, SessionId};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::locks::SessionWriter;
use crate::storage::Storage;
use crate::store::Store;
use bundle::Bundle;
pub use sources::{FoundSource, SourceKind, default_import_paths};
use staging::Staging;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    pub added: Vec<Session>,
    /// Number of sessions that existed before and were left unchanged.
    pub already: usize,
    pub unreadable: Vec<Unreadable>,
}

/// Something that could not be imported, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub what: String,
    pub why: String,
}

impl Unreadable {
    fn new(what: impl Into<String>, why: impl ToString) -> Self {
        Unreadable {
            what: what.into(),
            why: why.to_string(),
        }
    }
}

/// The value, or None after adding the error to the list of what could not be read.
fn readable<T>(
    what: impl Into<String>,
    read: Result<T, impl ToString>,
    unreadable: &mut Vec<Unreadable>,
) -> Option<T> {
    read.map_err(|why| unreadable.push(Unreadable::new(what, why)))
        .ok()
}

/// A source gives its sessions one at a time.
trait Source {
    fn list_sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>>;
    fn load_session(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle>;
}

impl Store {
    /// Imports every session in `path`: a data directory, a database or an exported session. Only
    /// one import can run at a time.
    pub async fn import_from(&self, path: &Path) -> Result<Imported> {
        let path = path.to_owned();
        self.run(move |storage| storage.import_from(&path)).await
    }

    /// The sources in `paths`, with the number of sessions in each.
    pub async fn find_sources(&self, paths: Vec<PathBuf>) -> Vec<FoundSource> {
        self.run(move |storage| storage.find_sources(&paths)).await
    }
}

impl Storage {
    fn import_from(&self, path: &Path) -> Result<Imported> {
        self.write_state()?;
        let lock = self.dirs.locks.join("import");
        let _lock = SessionWriter::acquire(&lock, "the import".to_owned())?;
        let sources = sources::find_at(path)?;
        if sources.is_empty() {
            return Err(StoreError::NoSource(path.to_owned()));
        }
        let mut imported = Imported::default();
        for (kind, path) in sources {
            let staging = Staging::start(&self.dirs.root)?;
            // Some files turn out not to be a database only at the first query.
            let opened = open_source(kind, &path, &staging);
            let listed = opened.and_then(|mut source| {
                let ids = source.list_sessions(&mut imported.unreadable)?;
                Ok((source, ids))
            });
            match listed {
                Ok((mut source, ids)) => self.import_sessions(&mut *source, ids, &mut imported)?,
                Err(error) => imported
                    .unreadable
                    .push(Unreadable::new(display(&path), error)),
            }
        }
        Ok(imported)
    }

    /// What the source cannot provide is listed; an error comes from this store.
    fn import_sessions(
        &self,
        source: &mut dyn Source,
        ids: Vec<SessionId>,
        imported: &mut Imported,
    ) -> Result<()> {
        let mut complete = Vec::new();
        for id in ids {
            if self.session_key(&id)?.is_some() {
                imported.already += 1;
                continue;
            }
            let bundle = match source.load_session(&id, &mut imported.unreadable) {
                Ok(bundle) => bundle,
                Err(error) => {
                    imported
                        .unreadable
                        .push(Unreadable::new(id.as_str(), error));
                    continue;
                }
            };
            match self.write_records(bundle) {
                Ok(bundle) => complete.push(bundle),
                // If this store cannot write, the import ends.
                Err(error) if error.is_io() && !self.health.is_good() => return Err(error),
                Err(error) => imported
                    .unreadable
                    .push(Unreadable::new(id.as_str(), error)),
            }
        }
        self.sync_imported(&complete)?;
        for bundle in complete {
            imported.added.push(self.write_session_record(bundle)?);
        }
        Ok(())
    }

    /// Writes everything but the session's own record, which makes it visible.
    fn write_records(&self, mut bundle: Bundle) -> Result<Bundle> {
        self.refuse_foreign(&bundle)?;
        for (key, bytes) in std::mem::take(&mut bundle.records) {
            self.write(&key, Some(&bundle.session.id), &bytes, false)?;
        }
        Ok(bundle)
    }

    fn write_session_record(&self, bundle: Bundle) -> Result<Session> {
        let Bundle {
            project, session, ..
        } = bundle;
        if let Some((key, bytes)) = project
            && optional(self.fs.metadata(&key.file(&self.dirs.tree)))
                .doing("looking at", &self.dirs.tree)?
                .is_none()
        {
            self.write(&key, None, &bytes, false)?;
        }
        let key = Key::session(&session.project_id, &session.id)?;
        self.write(&key, Some(&session.id), &bundle.bytes, false)?;
        self.barrier(&session.id)?;
        Ok(session)
    }

    /// The key of a part has its message's id and not its session's. An imported message must
    /// therefore not have the id of a message of another session.
    fn refuse_foreign(&self, bundle: &Bundle) -> Result<()> {
        for message in &bundle.messages {
            let parts = self.parts(message, &mut Vec::new())?;
            let foreign = parts
                .items
                .iter()
                .any(|part| *part.session_id() != bundle.session.id);
            if foreign || !parts.damaged.is_empty() {
                return Err(StoreError::Foreign {
                    what: message.to_string(),
                });
            }
        }
        Ok(())
    }

    /// Makes many thousand files durable, with one system call where there is one.
    fn sync_imported(&self, bundles: &[Bundle]) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open, syncfs};
            let tree = &self.dirs.tree;
            let synced = open(tree, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .and_then(syncfs)
                .map_err(std::io::Error::from);
            synced.doing("syncing", tree)?;
            bundles
                .iter()
                .for_each(|bundle| self.forget_unsynced(&bundle.session.id));
        }
        #[cfg(not(target_os = "linux"))]
        for bundle in bundles {
            self.barrier(&bundle.session.id)?;
        }
        Ok(())
    }
}

fn open_source(kind: SourceKind, path: &Path, staging: &Staging) -> Result<Box<dyn Source>> {
    Ok(match kind {
        SourceKind::Json => Box::new(tree::Tree::open(path, staging)?),
        SourceKind::Sqlite => Box::new(database::Database::open(path, staging)?),
        SourceKind::Exported => Box::new(exported::Exported::read(path)?),
    })
}

/// Reads a regular file of limited size. A source is data from outside, and a pipe in it must not
/// block the import.
fn read_file(path: &Path, into: &mut Vec<u8>) -> std::io::Result<()> {
    const MAX_BYTES: u64 = 512 * 1024 * 1024;
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a plain file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(std::io::Error::other("it is too large"));
    }
    into.clear();
    let file = std::fs::File::open(path)?;
    file.take(MAX_BYTES).read_to_end(into).map(drop)
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
