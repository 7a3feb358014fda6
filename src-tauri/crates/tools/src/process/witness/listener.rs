//! Takes the reports of the filter, one after the other, and lets every call continue.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::counts::{Counts, Tally};
use super::filter::{CALLS, Effect, OPENS, Shape, WRITING};
use super::{handles, paths};
use crate::written::{CommandWrites, Found, Rename};

/// A report of the kernel. The layout is the kernel's.
#[repr(C)]
#[derive(Default)]
struct Report {
    id: u64,
    pid: u32,
    flags: u32,
    number: i32,
    arch: u32,
    instruction: u64,
    arguments: [u64; 6],
}

#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const RECEIVE: u64 = 0xC050_2100;
const SEND: u64 = 0xC018_2101;
const IS_VALID: u64 = 0x4008_2102;
const CONTINUE: u32 = 1;
/// The flag of `renameat2` that swaps two names.
const SWAPS: u64 = 2;
const X32: i32 = 0x4000_0000;

/// How long a save may have been stamped before it happened: the kernel's clock for files is
/// coarse.
const COARSE: Duration = Duration::from_millis(20);
/// Larger files are not compared; they count as changed by something else.
const MOST_COMPARED: u64 = 1 << 20;
const POLL_MILLISECONDS: i32 = 100;

/// What was seen.
pub struct Seen {
    since: SystemTime,
    writes: CommandWrites,
    /// What the command itself did.
    own: Tally,
    counts: Option<Counts>,
    /// Files that something else had open for writing when the command first wrote them.
    held: BTreeSet<PathBuf>,
}

/// Runs until the last process of the command has ended, or until it is stopped.
pub fn watch(listener: &OwnedFd, since: SystemTime, stop: &AtomicBool) -> Seen {
    let mut seen = Seen {
        since: since - COARSE,
        writes: CommandWrites::default(),
        own: Tally::default(),
        counts: Counts::start(),
        held: BTreeSet::new(),
    };
    loop {
        match poll(listener) {
            Ready::Report => {}
            Ready::Ended => break,
            Ready::Nothing if stop.load(Ordering::Acquire) => break,
            Ready::Nothing => continue,
        }
        let Some(report) = receive(listener) else {
            continue;
        };
        // First, because this call may give another name to a watched folder.
        if let Some(counts) = &mut seen.counts {
            counts.drain();
        }
        seen.add(&report, listener);
        let_continue(listener, report.id);
    }
    seen
}

enum Ready {
    Report,
    Nothing,
    Ended,
}

#[allow(unsafe_code)]
fn poll(listener: &OwnedFd) -> Ready {
    let mut entry = libc::pollfd {
        fd: listener.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which lives until the call returns.
    let ready = unsafe { libc::poll(&raw mut entry, 1, POLL_MILLISECONDS) };
    if ready <= 0 {
        return Ready::Nothing;
    }
    match entry.revents & libc::POLLIN != 0 {
        true => Ready::Report,
        false => Ready::Ended,
    }
}

#[allow(unsafe_code)]
fn receive(listener: &OwnedFd) -> Option<Report> {
    let mut report = Report::default();
    // SAFETY: the structure has the size that the request names, and is zeroed as required.
    let got = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut report) };
    (got == 0).then_some(report)
}

#[allow(unsafe_code)]
fn let_continue(listener: &OwnedFd, id: u64) {
    let mut answer = Answer {
        id,
        value: 0,
        error: 0,
        flags: CONTINUE,
    };
    // SAFETY: the structure has the size that the request names. A process that has died
    // meanwhile is an error that does not matter.
    unsafe {
        libc::ioctl(listener.as_raw_fd(), SEND as _, &raw mut answer);
    }
}

/// Whether the process still waits for our answer: only then what was read of it is its own.
#[allow(unsafe_code)]
fn is_valid(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: a number that lives until the call returns.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID as _, &raw const id) == 0 }
}

impl Seen {
    fn add(&mut self, report: &Report, listener: &OwnedFd) {
        let changed = self.read(report);
        if !is_valid(listener, report.id) {
            return;
        }
        match changed {
            Some(paths) => paths.into_iter().for_each(|changed| self.note(changed)),
            None => self.writes.incomplete = true,
        }
    }

    /// `None` if it is not known what the call changes.
    fn read(&self, report: &Report) -> Option<Vec<Changed>> {
        let number = i64::from(report.number);
        let known = CALLS.iter().find(|(one, _)| *one == number);
        let opened = OPENS.iter().find(|(one, ..)| *one == number);
        let shape = known
            .map(|(_, shape)| *shape)
            .or(opened.map(|(_, shape, _)| *shape));
        let shape = shape.filter(|_| report.number & X32 == 0 && is_native(report.arch))?;
        let (process, [a, b, c, d, e, _]) = (report.pid, report.arguments);
        let flags = opened.map_or(0, |(_, _, at)| report.arguments[*at as usize] as u32);
        let effect = Effect::of(number, flags);
        let path = |at: u64| paths::read(process, None, at);
        let at = |folder: u64, name: u64| paths::read(process, Some(folder as i32), name);
        let file = |path: PathBuf| vec![Changed::File(path, effect)];
        Some(match shape {
            Shape::Path => file(path(a)?),
            Shape::At => file(at(a, b)?),
            Shape::Open2 => {
                let flags = paths::read_number(process, c)? as u32;
                match flags & WRITING {
                    0 => Vec::new(),
                    _ => vec![Changed::File(at(a, b)?, Effect::Opens(flags))],
                }
            }
            Shape::File => file(paths::open_file(process, a as i32)?),
            Shape::Rename => vec![Changed::Moved(path(a)?, path(b)?, false)],
            Shape::RenameAt => {
                let swaps = number == libc::SYS_renameat2 && e & SWAPS != 0;
                vec![Changed::Moved(at(a, b)?, at(c, d)?, swaps)]
            }
            Shape::SecondPath => file(path(b)?),
            Shape::SymlinkAt => file(at(b, c)?),
            Shape::LinkAt => file(at(c, d)?),
            Shape::Unseen => return None,
        })
    }

    fn note(&mut self, changed: Changed) {
        match changed {
            Changed::File(path, effect) => {
                let names = match effect {
                    Effect::Opens(_) | Effect::Changes => paths::real_names(&path),
                    // Not what it leads to.
                    Effect::Adds | Effect::Removes => paths::real_name(&path).into_iter().collect(),
                };
                for path in names {
                    self.touch(&path);
                    self.count(&path, effect);
                    self.writes.files.insert(path);
                }
            }
            Changed::Moved(from, to, swaps) => {
                let names = (paths::real_name(&from), paths::real_name(&to));
                let (Some(from), Some(to)) = names else {
                    self.writes.incomplete = true;
                    return;
                };
                self.touch(&from);
                self.touch(&to);
                for (from, to) in [(&from, &to), (&to, &from)]
                    .into_iter()
                    .take(1 + usize::from(swaps))
                {
                    *self.own.removed.entry(from.clone()).or_default() += 1;
                    *self.own.written.entry(to.clone()).or_default() += 1;
                }
                self.writes.renames.push(Rename { from, to, swaps });
            }
        }
    }

    /// Counts only what will be counted by the system as well: the other counts more.
    fn count(&mut self, path: &Path, effect: Effect) {
        let meta = fs::symlink_metadata(path).ok();
        if let (Effect::Opens(_) | Effect::Changes, Some(meta)) = (effect, &meta)
            && meta.is_file()
            && meta.nlink() > 1
        {
            let file = (meta.dev(), meta.ino());
            self.writes.linked.insert(file, path.to_owned());
        }
        match effect {
            Effect::Opens(flags) if can_open(path, meta.as_ref(), flags) => {
                *self.own.written.entry(path.to_owned()).or_default() += 1;
            }
            Effect::Removes if meta.is_some() => {
                *self.own.removed.entry(path.to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Before the call continues: what the file is now was not written by this call.
    fn touch(&mut self, path: &Path) {
        if let Some(counts) = &mut self.counts {
            counts.watch_folder_of(path);
        }
        if self.writes.found.contains_key(path) {
            return;
        }
        if handles::is_open_for_writing(path) {
            self.held.insert(path.to_owned());
        }
        let found = self.look_at(path);
        self.writes.found.insert(path.to_owned(), found);
    }

    fn look_at(&self, path: &Path) -> Found {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match self.writes.renames.took(path) {
                    true => Found::AsBefore,
                    false => Found::Absent,
                };
            }
            Err(_) => return Found::Unsure,
        };
        if meta.is_dir() {
            return Found::AsBefore;
        }
        let since = self.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = (meta.ctime(), meta.ctime_nsec());
        let started = (since.as_secs() as i64, i64::from(since.subsec_nanos()));
        if changed < started {
            return Found::AsBefore;
        }
        let mut names = self.writes.earlier_names(path);
        if names.iter().any(|name| self.writes.files.contains(name)) {
            // Under another name, the command has written it already.
            return Found::AsBefore;
        }
        let origin = names.pop().unwrap_or_else(|| path.to_owned());
        match (meta.is_file(), meta.len() <= MOST_COMPARED) {
            (true, true) => {
                fs::read(path).map_or(Found::Unsure, |bytes| Found::Content { origin, bytes })
            }
            (true, false) => Found::Unsure,
            // A link or something else: its name alone was changed.
            (false, _) => Found::AsBefore,
        }
    }

    /// To be called when the tree after the command has been taken.
    pub fn writes(mut self) -> CommandWrites {
        let mut mixed = self.held;
        let files = self.writes.files.iter().map(PathBuf::as_path);
        let files = files.chain(self.writes.renamed());
        let open = files.filter(|path| handles::is_open_for_writing(path));
        mixed.extend(open.map(Path::to_owned));
        match &mut self.counts {
            Some(counts) => {
                counts.drain();
                mixed.extend(counts.more_than(&self.own));
                self.writes.incomplete |= counts.is_broken();
            }
            None => self.writes.incomplete = true,
        }
        self.writes.mixed = mixed;
        self.writes
    }
}

/// What a call changes, by the names it uses.
enum Changed {
    File(PathBuf, Effect),
    /// From a name to a name, and whether the two are swapped.
    Moved(PathBuf, PathBuf, bool),
}

/// Whether a call that opens a file for writing will succeed, as far as can be told.
fn can_open(path: &Path, meta: Option<&fs::Metadata>, flags: u32) -> bool {
    let has = |flag: i32| flags & flag as u32 != 0;
    match meta {
        Some(_) if has(libc::O_CREAT) && has(libc::O_EXCL) => false,
        Some(_) => rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok(),
        None => has(libc::O_CREAT),
    }
}

fn is_native(arch: u32) -> bool {
    match std::env::consts::ARCH {
        "x86_64" => arch == 0xC000_003E,
        "aarch64" => arch == 0xC000_00B7,
        _ => false,
    }
}
