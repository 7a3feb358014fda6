//! Sessions that another program keeps, brought into our own tree.
//!
//! Three kinds of sources: a data directory of the JSON era, an SQLite database, one exported
//! session. Nothing of them is ever written; what has to be changed to be read (an old layout,
//! a database with a journal) is copied into `staging/` first. Records keep their ids, times
//! and unknown fields. A session's own record is written last and after everything else is
//! safe, so that a session that is there is complete and one that is not is brought anew.

mod bundle;
mod database;
mod exported;
mod find;
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
pub use find::{Found, SourceKind, usual_places};
use staging::Staging;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    pub added: Vec<Session>,
    /// Sessions that were here before and stay as they are.
    pub already: usize,
    pub unreadable: Vec<Unreadable>,
}

/// Something that could not be brought over, and why.
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

/// What there is to bring over, if it can be read; if not, that is listed.
fn readable<T>(
    what: impl Into<String>,
    read: Result<T, impl ToString>,
    unreadable: &mut Vec<Unreadable>,
) -> Option<T> {
    read.map_err(|why| unreadable.push(Unreadable::new(what, why)))
        .ok()
}

/// Where sessions come from, one at a time.
trait Source {
    fn sessions(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<Vec<SessionId>>;
    fn bundle(&mut self, id: &SessionId, unreadable: &mut Vec<Unreadable>) -> Result<Bundle>;
}

impl Store {
    /// Brings every session that `path` holds: a data directory, a database or an exported
    /// session. One import at a time.
    pub async fn import_from(&self, path: &Path) -> Result<Imported> {
        let path = path.to_owned();
        self.run(move |storage| storage.import_from(&path)).await
    }

    /// The sources among `places`, with how many sessions each has.
    pub async fn find_sources(&self, places: Vec<PathBuf>) -> Vec<Found> {
        self.run(move |storage| storage.find_sources(&places)).await
    }
}

impl Storage {
    fn import_from(&self, path: &Path) -> Result<Imported> {
        self.writing()?;
        let lock = self.places.locks.join("import");
        let _alone = SessionWriter::acquire(&lock, "the import".to_owned())?;
        let sources = find::sources_at(path)?;
        if sources.is_empty() {
            return Err(StoreError::NoSource(path.to_owned()));
        }
        let mut imported = Imported::default();
        for (kind, path) in sources {
            let staging = Staging::begin(&self.places.root)?;
            // Many a database shows only when it is asked that it is none.
            let opened = self.open_source(kind, &path, &staging);
            let looked_at = opened.and_then(|mut source| {
                let ids = source.sessions(&mut imported.unreadable)?;
                Ok((source, ids))
            });
            match looked_at {
                Ok((mut source, ids)) => self.take(&mut *source, ids, &mut imported)?,
                Err(error) => imported
                    .unreadable
                    .push(Unreadable::new(shown(&path), error)),
            }
        }
        Ok(imported)
    }

    fn open_source(
        &self,
        kind: SourceKind,
        path: &Path,
        staging: &Staging,
    ) -> Result<Box<dyn Source>> {
        Ok(match kind {
            SourceKind::Json => Box::new(tree::Tree::open(path, staging)?),
            SourceKind::Sqlite => Box::new(database::Database::open(path, staging)?),
            SourceKind::Exported => Box::new(exported::Exported::read(path)?),
        })
    }

    /// What the source cannot give is listed; an error is that of our own store.
    fn take(
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
            let bundle = match source.bundle(&id, &mut imported.unreadable) {
                Ok(bundle) => bundle,
                Err(error) => {
                    imported
                        .unreadable
                        .push(Unreadable::new(id.as_str(), error));
                    continue;
                }
            };
            match self.take_records(bundle) {
                Ok(bundle) => complete.push(bundle),
                // The disk is ours: an error of it ends the import.
                Err(error) if error.is_io() && !self.pulse.is_good() => return Err(error),
                Err(error) => imported
                    .unreadable
                    .push(Unreadable::new(id.as_str(), error)),
            }
        }
        self.make_safe(&complete)?;
        for bundle in complete {
            imported.added.push(self.take_session(bundle)?);
        }
        Ok(())
    }

    /// Everything but what makes the session visible.
    fn take_records(&self, mut bundle: Bundle) -> Result<Bundle> {
        self.refuse_foreign(&bundle)?;
        for (key, bytes) in std::mem::take(&mut bundle.records) {
            self.write(&key, Some(&bundle.session.id), &bytes, false)?;
        }
        Ok(bundle)
    }

    fn take_session(&self, bundle: Bundle) -> Result<Session> {
        let Bundle {
            project, session, ..
        } = bundle;
        if let Some((key, bytes)) = project
            && optional(self.fs.stat(&key.file(&self.places.tree)))
                .doing("looking at", &self.places.tree)?
                .is_none()
        {
            self.write(&key, None, &bytes, false)?;
        }
        let key = Key::session(&session.project_id, &session.id)?;
        self.write(&key, Some(&session.id), &bundle.bytes, false)?;
        self.barrier(&session.id)?;
        Ok(session)
    }

    /// Parts lie under their message's id alone: an imported message must not share the id of
    /// one that belongs to another session here.
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

    /// Many thousand files: one call for all of them where the system has it.
    fn make_safe(&self, bundles: &[Bundle]) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, open, syncfs};
            let tree = &self.places.tree;
            let synced = open(tree, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .and_then(syncfs)
                .map_err(std::io::Error::from);
            synced.doing("syncing", tree)?;
            bundles
                .iter()
                .for_each(|bundle| self.forget_owed(&bundle.session.id));
        }
        #[cfg(not(target_os = "linux"))]
        for bundle in bundles {
            self.barrier(&bundle.session.id)?;
        }
        Ok(())
    }
}

/// Reads a plain file of a sane size: a source is data from outside, and a pipe in it must not
/// hold us up.
fn read_file(path: &Path, into: &mut Vec<u8>) -> std::io::Result<()> {
    const LARGEST: u64 = 512 * 1024 * 1024;
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a plain file"));
    }
    if metadata.len() > LARGEST {
        return Err(std::io::Error::other("it is too large"));
    }
    into.clear();
    let file = std::fs::File::open(path)?;
    file.take(LARGEST).read_to_end(into).map(drop)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
