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
use super::outcome::{Move, Reach, SWAPS};
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
const X32: i32 = 0x4000_0000;

/// How long a save may have been stamped before it happened: the kernel's clock for files is
/// coarse.
const COARSE: Duration = Duration::from_millis(20);
/// Larger files are not compared; they count as changed by something else.
const MOST_COMPARED: u64 = 1 << 20;
const POLL_MILLISECONDS: i32 = 100;
const PAUSE_MILLISECONDS: i32 = 2;

/// What was seen.
pub struct Seen {
    since: SystemTime,
    reach: Reach,
    writes: CommandWrites,
    /// What the command itself did: never more than the system counts of it.
    own: Tally,
    counts: Option<Counts>,
    /// Files that something else had open for writing when the command first wrote them.
    held: BTreeSet<PathBuf>,
}

/// Runs until the last process of the command has ended, or until it is stopped.
pub fn watch(listener: &OwnedFd, since: SystemTime, reach: Reach, stop: &AtomicBool) -> Seen {
    let mut seen = Seen {
        since: since - COARSE,
        reach,
        writes: CommandWrites::default(),
        own: Tally::default(),
        counts: Counts::start(),
        held: BTreeSet::new(),
    };
    loop {
        match seen.wait(listener) {
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

/// What each descriptor is ready for.
#[allow(unsafe_code)]
fn poll(descriptors: [i32; 2], milliseconds: i32) -> [i16; 2] {
    let mut entries = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: two entries, which live until the call returns.
    let ready = unsafe { libc::poll(entries.as_mut_ptr(), 2, milliseconds) };
    match ready > 0 {
        true => entries.map(|entry| entry.revents),
        false => [0; 2],
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
    /// Takes what is counted meanwhile soon: the queue of the system is not long.
    fn wait(&mut self, listener: &OwnedFd) -> Ready {
        // One that is negative is passed over.
        let queue = self.counts.as_ref().map_or(-1, Counts::descriptor);
        let [mut reports, events] = poll([listener.as_raw_fd(), queue], POLL_MILLISECONDS);
        if let (Some(counts), true) = (&mut self.counts, events != 0) {
            counts.drain();
            if reports == 0 {
                // A file that is written all the time must not wake us each time.
                [reports, _] = poll([listener.as_raw_fd(), -1], PAUSE_MILLISECONDS);
            }
        }
        match reports {
            0 => Ready::Nothing,
            _ if reports & libc::POLLIN != 0 => Ready::Report,
            _ => Ready::Ended,
        }
    }

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
                let resolve = paths::read_number(process, c + 16)?;
                match (flags & WRITING, resolve) {
                    (0, _) => Vec::new(),
                    (_, 0) => vec![Changed::File(at(a, b)?, Effect::Opens(flags))],
                    // It may be refused for where the path leads, so it is not counted.
                    _ => vec![Changed::File(at(a, b)?, Effect::Changes)],
                }
            }
            Shape::File => file(paths::open_file(process, a as i32)?),
            Shape::Rename => vec![Changed::Moved(path(a)?, path(b)?, 0)],
            Shape::RenameAt => {
                let has_flags = number == libc::SYS_renameat2;
                let how = if has_flags { e as u32 } else { 0 };
                vec![Changed::Moved(at(a, b)?, at(c, d)?, how)]
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
                names.iter().for_each(|path| self.touch(path));
                // The others are links, which stay what they are.
                if let Some(path) = names.last() {
                    self.count(path, effect, names.len() > 1);
                }
                self.writes.files.extend(names);
            }
            Changed::Moved(from, to, how) => {
                let names = (paths::real_name(&from), paths::real_name(&to));
                let (Some(from), Some(to)) = names else {
                    self.writes.incomplete = true;
                    return;
                };
                self.moved(from, to, how);
            }
        }
    }

    fn moved(&mut self, from: PathBuf, to: PathBuf, how: u32) {
        let becomes = self.reach.of_move(&from, &to, how);
        // `mv` over a file asks in vain for a free name first.
        if becomes == Move::Fails {
            return;
        }
        self.touch(&from);
        self.touch(&to);
        let swaps = how & SWAPS != 0;
        if becomes == Move::Succeeds {
            for (from, to) in [(&from, &to), (&to, &from)]
                .into_iter()
                .take(1 + usize::from(swaps))
            {
                *self.own.removed.entry(from.clone()).or_default() += 1;
                *self.own.written.entry(to.clone()).or_default() += 1;
            }
        }
        self.writes.renames.push(Rename { from, to, swaps });
    }

    /// Counts only what will be counted by the system as well: the other counts more.
    fn count(&mut self, path: &Path, effect: Effect, by_link: bool) {
        let meta = fs::symlink_metadata(path).ok();
        if let (Effect::Opens(_) | Effect::Changes, Some(meta)) = (effect, &meta)
            && meta.is_file()
            && meta.nlink() > 1
        {
            let file = (meta.dev(), meta.ino());
            self.writes.linked.insert(file, path.to_owned());
        }
        let counted = match (effect, &meta) {
            (Effect::Opens(flags), _) if !(by_link && refuses_links(flags)) => {
                let writes = self.reach.will_write(path, meta.as_ref(), flags);
                writes.then_some(&mut self.own.written)
            }
            (Effect::Removes, Some(meta)) => {
                let removes = self.reach.will_remove(path, meta);
                removes.then_some(&mut self.own.removed)
            }
            _ => None,
        };
        if let Some(counted) = counted {
            *counted.entry(path.to_owned()).or_default() += 1;
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
    /// From a name to a name, with the flags of `renameat2`.
    Moved(PathBuf, PathBuf, u32),
}

fn refuses_links(flags: u32) -> bool {
    let has = |flag: i32| flags & flag as u32 != 0;
    has(libc::O_NOFOLLOW) || has(libc::O_CREAT) && has(libc::O_EXCL)
}

fn is_native(arch: u32) -> bool {
    match std::env::consts::ARCH {
        "x86_64" => arch == 0xC000_003E,
        "aarch64" => arch == 0xC000_00B7,
        _ => false,
    }
}
