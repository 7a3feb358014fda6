//! Imports sessions of another program.
//!
//! OpenCode has three kinds of sources: a data directory with JSON files, an SQLite database, and one
//! exported session. Those of other agents are read by the crate `import`. A source is never changed; what has to be converted before it can be read (an
//! old layout, a database with a journal) is copied to `staging/` first. Records keep their ids,
//! times and unknown fields. A session's own record is written last, after everything else is
//! durable, so that a session that exists is complete and any other is imported again.

mod bundle;
mod database;
mod exported;
mod foreign;
mod sources;
mod staging;
mod tree;

use std::path::{Path, PathBuf};

use lathe_import::{Control, LeftOut, Progress};
use lathe_protocol::{Session, SessionId};

use crate::error::{IoContext, Result, StoreError, optional};
use crate::key::Key;
use crate::locks::SessionWriter;
use crate::storage::Storage;
use crate::store::Store;
use bundle::Bundle;
pub use sources::{FoundSource, ImportFrom, SourceKind, default_import_paths};
use staging::Staging;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    pub added: Vec<Session>,
    /// Number of sessions that existed before and were left unchanged.
    pub already: usize,
    pub unreadable: Vec<Unreadable>,
    /// Sessions that were imported before and got what was added since.
    pub grown: Vec<Session>,
    /// Records by type that are not imported, with the reason.
    pub left_out: Vec<LeftOut>,
    /// Messages that were written, where they were counted.
    pub messages: usize,
    pub stopped: bool,
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

    /// Imports sessions in a form that is converted and not taken over.
    fn import_newer(&self, _: &Storage, _: &Control, _: &mut Imported) -> Result<()> {
        Ok(())
    }
}

impl Store {
    /// Imports every session in `path`: a data directory, a database or an exported session. Only
    /// one import can run at a time.
    pub async fn import_from(&self, path: &Path) -> Result<Imported> {
        self.import_watched(path, None, Control::default()).await
    }

    /// As [`Store::import_from`], for sessions of one program only if it is named. `control`
    /// reports how far it is and stops it; what was written by then stays.
    pub async fn import_watched(
        &self,
        path: &Path,
        from: Option<ImportFrom>,
        control: Control,
    ) -> Result<Imported> {
        let path = path.to_owned();
        self.run(move |storage| storage.import_from(&path, from, &control))
            .await
    }

    /// The sources in `paths`, with the number of sessions in each.
    pub async fn find_sources(&self, paths: Vec<PathBuf>) -> Vec<FoundSource> {
        self.run(move |storage| storage.find_sources(&paths)).await
    }
}

impl Storage {
    fn import_from(
        &self,
        path: &Path,
        from: Option<ImportFrom>,
        control: &Control,
    ) -> Result<Imported> {
        self.write_state()?;
        let lock = self.dirs.locks.join("import");
        let _lock = SessionWriter::acquire(&lock, "the import".to_owned(), "import")?;
        let mut sources = sources::find_at(path)?;
        sources.retain(|(kind, _)| from.is_none_or(|from| from == kind.program()));
        if sources.is_empty() {
            return Err(StoreError::NoSource(path.to_owned()));
        }
        let mut imported = Imported::default();
        for (kind, path) in sources {
            if let Some(program) = kind.foreign() {
                self.import_foreign(program, &path, control, &mut imported)?;
                continue;
            }
            let staging = Staging::start(&self.dirs.root)?;
            // Some files turn out not to be a database only at the first query.
            let opened = open_source(kind, &path, &staging);
            let listed = opened.and_then(|mut source| {
                let ids = source.list_sessions(&mut imported.unreadable)?;
                Ok((source, ids))
            });
            match listed {
                Ok((mut source, ids)) => {
                    self.import_sessions(&mut *source, ids, control, &mut imported)?;
                    match source.import_newer(self, control, &mut imported) {
                        Err(error @ StoreError::Database(_)) => imported
                            .unreadable
                            .push(Unreadable::new(display(&path), error)),
                        done => done?,
                    }
                }
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
        control: &Control,
        imported: &mut Imported,
    ) -> Result<()> {
        let mut complete = Vec::new();
        let files = ids.len();
        for (done, id) in ids.into_iter().enumerate() {
            if control.is_stopped() {
                imported.stopped = true;
                break;
            }
            control.report(Progress {
                files,
                done,
                sessions: complete.len(),
                messages: imported.messages,
            });
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
            let messages = bundle.messages.len();
            match self.write_records(bundle) {
                Ok(bundle) => {
                    imported.messages += messages;
                    complete.push(bundle);
                }
                // If this store cannot write, the import ends.
                Err(error) if error.is_io() && !self.health.is_good() => return Err(error),
                Err(error) => imported
                    .unreadable
                    .push(Unreadable::new(id.as_str(), error)),
            }
        }
        let ids: Vec<_> = complete.iter().map(|bundle| &bundle.session.id).collect();
        self.sync_imported(&ids)?;
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
    fn sync_imported(&self, sessions: &[&SessionId]) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open, syncfs};
            let tree = &self.dirs.tree;
            let synced = open(tree, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .and_then(syncfs)
                .map_err(std::io::Error::from);
            synced.doing("syncing", tree)?;
            sessions.iter().for_each(|id| self.forget_unsynced(id));
        }
        #[cfg(not(target_os = "linux"))]
        for id in sessions {
            self.barrier(id)?;
        }
        Ok(())
    }
}

fn open_source(kind: SourceKind, path: &Path, staging: &Staging) -> Result<Box<dyn Source>> {
    Ok(match kind {
        SourceKind::Json => Box::new(tree::Tree::open(path, staging)?),
        SourceKind::Sqlite => Box::new(database::Database::open(path, staging)?),
        SourceKind::Exported | SourceKind::Codex | SourceKind::Claude => {
            Box::new(exported::Exported::read(path)?)
        }
    })
}

/// Reads a regular file of limited size. A source is data from outside, and a pipe in it must not
/// block the import.
fn read_file(path: &Path, into: &mut Vec<u8>) -> std::io::Result<()> {
    const MAX_BYTES: u64 = 512 * 1024 * 1024;
    *into = lathe_files::read(path, MAX_BYTES)?;
    Ok(())
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
