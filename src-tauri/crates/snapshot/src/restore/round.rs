//! The record of a restore on its way, so that a killed one can be rolled back.
//!
//! It is written before the first file moves, and removed when the owner of the restore has
//! noted down what was done. The record has what is needed to tell, from the files alone, how far
//! the restore came: nothing has to be written between two moves.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use lathe_files::create_private_folder;

use super::roll_back;
use crate::{
    error::{Context, Result},
    fields::{Reader, Writer},
    os::fault::step,
    path::RelPath,
    scan::stat_cache::now,
    tree::{Leaf, Mode, Permissions},
};

/// How a path gets to what the plan wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// A new file is moved to where nothing is.
    Create,
    /// A new file swaps places with the old one.
    Replace,
    /// The old file has other names, too, which must not be torn from it.
    Overwrite,
    SetBits,
    MakeFolder,
    Delete,
    RemoveFolder,
}

const CODES: [(How, u8); 7] = [
    (How::Create, b'c'),
    (How::Replace, b'r'),
    (How::Overwrite, b'o'),
    (How::SetBits, b'b'),
    (How::MakeFolder, b'm'),
    (How::Delete, b'd'),
    (How::RemoveFolder, b'f'),
];

#[derive(Debug, Clone)]
pub(super) struct Move {
    pub path: RelPath,
    pub how: How,
    pub expected: Option<Leaf>,
    pub wanted: Option<Leaf>,
    /// Device and inode of the new file, or of the old one where that one stays.
    pub identity: (u64, u64),
    /// The path is on another file system than the trash, so its file can only be copied there.
    pub copied: bool,
    /// The name of the new file among the prepared ones.
    pub number: u64,
}

impl Move {
    pub fn prepared(&self) -> Vec<u8> {
        self.number.to_string().into_bytes()
    }

    /// Where the old file is while it changes places without a swap.
    pub fn old(&self) -> Vec<u8> {
        format!("{}.old", self.number).into_bytes()
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub id: String,
    pub note: String,
    pub root: PathBuf,
    /// Its folder in the trash.
    pub batch: PathBuf,
    /// In the order in which they are made. Empty until all new files are prepared.
    pub moves: Vec<Move>,
    /// Folders that did not exist before.
    pub made: Vec<RelPath>,
    /// Folders that may be removed, with their permissions.
    pub removed: Vec<(RelPath, Permissions)>,
}

impl Record {
    /// The name of a file in the user's folder while it is moved between file systems.
    pub fn aside(&self, one: &Move) -> Vec<u8> {
        format!(".lathe-aside-{}-{}", self.id, one.number).into_bytes()
    }

    /// The name of a copy that a roll-back has not finished. No other file may have it: half of a
    /// copy must never be taken for the file.
    pub fn part(&self, one: &Move) -> Vec<u8> {
        [&self.aside(one)[..], b".part"].concat()
    }
}

/// A restore whose record is kept until [`Round::commit`]. If the program ends before that, the
/// next [`SideRepo::recover`](crate::SideRepo::recover) rolls it back.
#[derive(Debug)]
pub struct Round {
    pub(super) dir: PathBuf,
    pub(super) record: Record,
    /// Held while the owner is alive.
    lock: Option<File>,
}

impl Round {
    pub(super) fn begin(rounds: &Path, record: Record) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{count}-{}", std::process::id(), now());
        let dir = rounds.join(&id);
        step()?;
        create_private_folder(&dir.join(PREPARED))?;
        let mut round = Self {
            lock: Some(lock(&dir)?),
            record: Record { id, ..record },
            dir,
        };
        round.lock_or_gone()?;
        // Nothing has moved yet, so after a power cut nothing has to be known.
        round.save_unsynced()?;
        Ok(round)
    }

    /// A clean-up may have removed the folder before it was locked.
    fn lock_or_gone(&mut self) -> io::Result<()> {
        match self.lock.as_ref().map(File::try_lock) {
            Some(Ok(())) => Ok(()),
            _ => Err(io::Error::other("another restore is being rolled back")),
        }
    }

    pub(super) fn prepared(&self) -> PathBuf {
        self.dir.join(PREPARED)
    }

    pub(super) fn save(&self) -> io::Result<()> {
        step()?;
        lathe_files::write_private_file(&self.dir.join(RECORD), &encode(&self.record))
    }

    /// The caller syncs the whole file system after that.
    pub(super) fn save_unsynced(&self) -> io::Result<()> {
        step()?;
        lathe_files::write_unsynced(&self.dir.join(RECORD), &encode(&self.record))
    }

    /// For a file that could neither be put back nor moved to the trash: it must not be removed
    /// together with the round.
    pub(super) fn save_prepared(&self) -> io::Result<()> {
        let name = format!("kept-{}", self.record.id);
        let to = self.dir.parent().unwrap_or(&self.dir).with_file_name(name);
        tracing::warn!(to = %to.display(), "a file could not be put back");
        step()?;
        fs::rename(self.prepared(), to)
    }

    /// The restore is final: it is not rolled back any more.
    pub fn commit(mut self) -> Result<()> {
        self.remove().context("finishing a restore")
    }

    /// The record goes first: without it nothing is rolled back.
    fn remove(&mut self) -> io::Result<()> {
        step()?;
        match fs::remove_file(self.dir.join(RECORD)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.lock = None;
        step()?;
        fs::remove_dir_all(&self.dir)
    }
}

const RECORD: &str = "record";
const PREPARED: &str = "new";

fn lock(dir: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(dir.join("lock"))
}

/// A restore that was not committed, and whose program has ended.
#[derive(Debug)]
pub struct OpenRound(Round);

impl OpenRound {
    /// All of them, oldest first. `root` is where the work tree is now, if it can move.
    pub(crate) fn find(rounds: &Path, root: Option<&Path>) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for name in crate::temporary_files::file_names(rounds).context("looking for restores")? {
            let dir = rounds.join(name);
            let opened = Self::open(dir).context("looking for restores")?;
            found.extend(opened.map(|Self(mut round)| {
                if let Some(root) = root {
                    round.record.root = root.to_owned();
                }
                Self(round)
            }));
        }
        found.sort_by_key(|one| {
            let time = one.0.record.id.rsplit('-').next();
            time.and_then(|time| time.parse::<i128>().ok())
        });
        Ok(found)
    }

    fn open(dir: PathBuf) -> io::Result<Option<Self>> {
        let lock = match lock(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let mut round = Round {
            lock: Some(lock),
            record: Record::default(),
            dir,
        };
        let bytes = match fs::read(round.dir.join(RECORD)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // It was killed before its first move, or after its end.
                round.remove()?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match decode(&bytes) {
            Some(record) => round.record = record,
            // Records are written whole. This one was damaged later, so it cannot be used; what
            // it speaks of is left alone.
            None => {
                tracing::warn!(dir = %round.dir.display(), "the record of a restore is damaged");
                return Ok(None);
            }
        }
        Ok(Some(Self(round)))
    }

    /// What the owner wrote into the record.
    pub fn note(&self) -> &str {
        &self.0.record.note
    }

    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.0.record.moves.iter().map(|one| &one.path)
    }

    /// Leaves the files as they are.
    pub fn keep(self) -> Result<()> {
        self.0.commit()
    }

    /// Brings back what was there before, except where something changed meanwhile.
    pub fn roll_back(self) -> Result<Recovered> {
        let recovered = roll_back::run(&self.0).context("rolling a restore back")?;
        self.0.commit()?;
        Ok(recovered)
    }
}

/// Rolls back the restores that have no note: nothing else can know of them.
pub(crate) fn roll_back_without_owner(rounds: &Path, root: &Path) -> Vec<Recovered> {
    let found = OpenRound::find(rounds, Some(root)).unwrap_or_else(|error| {
        tracing::warn!(%error, "restores that were killed cannot be read");
        Vec::new()
    });
    let mut recovered = Vec::new();
    for one in found.into_iter().rev().filter(|one| one.note().is_empty()) {
        match one.roll_back() {
            Ok(one) => recovered.push(one),
            Err(error) => tracing::warn!(%error, "a restore could not be rolled back"),
        }
    }
    recovered
}

/// What became of a restore that was killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    pub note: String,
    /// As they were before the restore.
    pub rolled_back: Vec<RelPath>,
    /// Changed by another program since, so they were left alone; each with the place in the
    /// trash where the version from before the restore is.
    pub left: Vec<(RelPath, Option<PathBuf>)>,
}

const MAGIC: &[u8] = b"lathe-round-1\n";

fn encode(record: &Record) -> Vec<u8> {
    let mut out = Writer::new(MAGIC);
    out.text(record.id.as_bytes());
    out.text(record.note.as_bytes());
    out.text(record.root.as_os_str().as_encoded_bytes());
    out.text(record.batch.as_os_str().as_encoded_bytes());
    out.number(record.moves.len() as u64);
    for one in &record.moves {
        out.text(one.path.as_bytes());
        let code = CODES.iter().find(|(how, _)| *how == one.how);
        out.byte(code.map_or(b'?', |(_, code)| *code));
        write_leaf(&mut out, one.expected);
        write_leaf(&mut out, one.wanted);
        out.number(one.identity.0);
        out.number(one.identity.1);
        out.byte(u8::from(one.copied));
        out.number(one.number);
    }
    out.number(record.made.len() as u64);
    for path in &record.made {
        out.text(path.as_bytes());
    }
    out.number(record.removed.len() as u64);
    for (path, permissions) in &record.removed {
        out.text(path.as_bytes());
        write_permissions(&mut out, *permissions);
    }
    out.finish()
}

fn decode(bytes: &[u8]) -> Option<Record> {
    let mut from = Reader::new(bytes, MAGIC)?;
    let string = |bytes: Box<[u8]>| String::from_utf8(bytes.into_vec()).ok();
    let path = |bytes: Box<[u8]>| crate::os::path_of(&bytes).to_owned();
    Some(Record {
        id: string(from.text()?)?,
        note: string(from.text()?)?,
        root: path(from.text()?),
        batch: path(from.text()?),
        moves: (0..from.number()?)
            .map(|_| read_move(&mut from))
            .collect::<Option<_>>()?,
        made: (0..from.number()?)
            .map(|_| Some(RelPath::unchecked(&from.text()?)))
            .collect::<Option<_>>()?,
        removed: (0..from.number()?)
            .map(|_| {
                let path = RelPath::unchecked(&from.text()?);
                Some((path, read_permissions(&mut from)?))
            })
            .collect::<Option<_>>()?,
    })
}

fn read_move(from: &mut Reader<'_>) -> Option<Move> {
    let path = RelPath::unchecked(&from.text()?);
    let code = from.byte()?;
    let how = CODES.iter().find(|(_, known)| *known == code)?.0;
    Some(Move {
        path,
        how,
        expected: read_leaf(from)?,
        wanted: read_leaf(from)?,
        identity: (from.number()?, from.number()?),
        copied: from.byte()? != 0,
        number: from.number()?,
    })
}

const MODES: [(Mode, u8); 4] = [
    (Mode::File, b'f'),
    (Mode::Executable, b'x'),
    (Mode::Link, b'l'),
    (Mode::Folder, b'd'),
];

fn write_leaf(out: &mut Writer, leaf: Option<Leaf>) {
    let Some(leaf) = leaf else {
        return out.byte(b'-');
    };
    let code = MODES.iter().find(|(mode, _)| *mode == leaf.mode);
    out.byte(code.map_or(b'?', |(_, code)| *code));
    out.bytes(leaf.id.as_slice());
    write_permissions(out, leaf.permissions);
}

fn read_leaf(from: &mut Reader<'_>) -> Option<Option<Leaf>> {
    let code = from.byte()?;
    if code == b'-' {
        return Some(None);
    }
    let mode = MODES.iter().find(|(_, known)| *known == code)?.0;
    Some(Some(Leaf {
        mode,
        id: from.id()?,
        permissions: read_permissions(from)?,
    }))
}

fn write_permissions(out: &mut Writer, permissions: Permissions) {
    out.number(permissions.bits().map_or(0, |bits| u64::from(bits) + 1));
}

fn read_permissions(from: &mut Reader<'_>) -> Option<Permissions> {
    Some(match from.number()? {
        0 => Permissions::UNKNOWN,
        bits => Permissions::new(u32::try_from(bits - 1).ok()?),
    })
}
