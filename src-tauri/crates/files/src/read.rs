//! Reads files whose path comes from outside: a config, a project, an import.
//!
//! Such a path may lead to a pipe, which blocks for ever, to a device, which never ends, to a file
//! that grows while it is read, or to a file system that does not answer. Only regular files are
//! opened, at most as much is read as the caller has room for, and only for so long.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Longer than a slow disk or a file server takes for what is read here.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it does not exist")]
    Missing,
    #[error("it is a folder")]
    Folder,
    /// A pipe, a device, a socket, or a link where none is followed.
    #[error("it is not a regular file")]
    Special,
    #[error("it is larger than {}", size(*.0))]
    TooLarge(u64),
    #[error("it is not text in UTF-8")]
    NotText,
    #[error("it couldn’t be read within {} s", .0.as_secs())]
    TooSlow(Duration),
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::Missing,
            io::ErrorKind::IsADirectory => ReadError::Folder,
            _ => ReadError::Io(error),
        }
    }
}

/// For callers that pass errors of the system on.
impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match &error {
            ReadError::Io(inner) => inner.kind(),
            ReadError::Missing => io::ErrorKind::NotFound,
            ReadError::Folder => io::ErrorKind::IsADirectory,
            ReadError::TooLarge(_) => io::ErrorKind::FileTooLarge,
            ReadError::TooSlow(_) => io::ErrorKind::TimedOut,
            ReadError::Special | ReadError::NotText => io::ErrorKind::InvalidData,
        };
        match error {
            ReadError::Io(inner) => inner,
            other => io::Error::new(kind, other),
        }
    }
}

/// The whole content of a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_within(TIME_LIMIT, path, false, limit)
}

/// The same for a path without links, such as a canonical one: if its last name is a link by
/// now, it was changed since it was checked.
pub fn read_real(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_within(TIME_LIMIT, path, true, limit)
}

/// The same as text.
pub fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    String::from_utf8(read(path, limit)?).map_err(|_| ReadError::NotText)
}

/// Opens a regular file, in time. Reading it then has no limit: it may grow meanwhile.
pub fn open(path: &Path) -> Result<(File, Metadata), ReadError> {
    open_within(TIME_LIMIT, path, false)
}

/// The same for a path without links.
pub fn open_real(path: &Path) -> Result<(File, Metadata), ReadError> {
    open_within(TIME_LIMIT, path, true)
}

fn read_within(
    time: Duration,
    path: &Path,
    is_real: bool,
    limit: u64,
) -> Result<Vec<u8>, ReadError> {
    let path = path.to_owned();
    in_time(time, move || read_opened(open_as(&path, is_real)?, limit))
}

fn open_within(time: Duration, path: &Path, is_real: bool) -> Result<(File, Metadata), ReadError> {
    let path = path.to_owned();
    in_time(time, move || open_as(&path, is_real))
}

/// Does the work on a thread of its own, which is left alone if it takes too long: a call to a file
/// system that does not answer cannot be ended.
fn in_time<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let (sender, done) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().name("read".to_owned());
    // The receiver is gone if the time is over.
    thread.spawn(move || drop(sender.send(work())))?;
    match done.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(ReadError::TooSlow(limit)),
        Err(RecvTimeoutError::Disconnected) => {
            Err(ReadError::Io(io::Error::other("the reading thread failed")))
        }
    }
}

fn open_as(path: &Path, is_real: bool) -> Result<(File, Metadata), ReadError> {
    #[cfg(test)]
    tests::hang_if_told(path);
    // Before opening, because that alone has an effect on some devices; and again afterwards,
    // because another file may have that name by then.
    check(&match is_real {
        true => fs::symlink_metadata(path)?,
        false => fs::metadata(path)?,
    })?;
    let file = options(is_real).open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    Ok((file, metadata))
}

fn check(found: &Metadata) -> Result<(), ReadError> {
    if found.is_dir() {
        return Err(ReadError::Folder);
    }
    if !found.is_file() {
        return Err(ReadError::Special);
    }
    Ok(())
}

#[cfg(unix)]
fn options(is_real: bool) -> OpenOptions {
    use rustix::fs::OFlags;
    // Opening a pipe would wait for its other end.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, is_real);
    let mut options = OpenOptions::new();
    options.read(true);
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    options
}

#[cfg(not(unix))]
fn options(_: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

fn read_opened((file, metadata): (File, Metadata), limit: u64) -> Result<Vec<u8>, ReadError> {
    if metadata.len() > limit {
        return Err(ReadError::TooLarge(limit));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // One more than allowed: files under `/proc` have no length, and others grow.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge(limit));
    }
    Ok(bytes)
}

fn size(bytes: u64) -> String {
    const MEGABYTE: u64 = 1024 * 1024;
    match bytes {
        bytes if bytes >= MEGABYTE => format!("{} MB", bytes / MEGABYTE),
        bytes if bytes >= 1024 => format!("{} KB", bytes / 1024),
        bytes => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T>(result: Result<T, ReadError>) -> String {
        match result {
            Ok(_) => "read".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_and_refused_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert_eq!(refused(read(&path, 4)), "it is larger than 4 bytes");
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(refused(read_text(&path, 5)), "it is not text in UTF-8");
    }

    #[test]
    fn the_limit_is_named_as_people_say_it() {
        let sizes = [4, 2048, 1024 * 1024, 20 << 20].map(size);
        assert_eq!(sizes, ["4 bytes", "2 KB", "1 MB", "20 MB"]);
    }

    #[test]
    fn what_is_not_there_and_folders_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for (name, why) in [
            ("none", "it does not exist"),
            ("file/none", "it does not exist"),
            (".", "it is a folder"),
        ] {
            assert_eq!(refused(read(&folder.path().join(name), 9)), why, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_sockets_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [
            &pipe,
            &socket,
            &link,
            Path::new("/dev/zero"),
            Path::new("/dev/tty"),
        ] {
            let why = "it is not a regular file";
            assert_eq!(refused(read(path, 9)), why, "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_unless_the_path_must_be_real() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "1").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, 9).unwrap(), b"1");
        assert_eq!(read_real(&path, 9).unwrap(), b"1");
        assert_eq!(refused(read_real(&link, 9)), "it is not a regular file");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_without_a_length_is_still_limited() {
        // Its length is zero, and it has thousands of bytes.
        let path = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert_eq!(refused(read(path, 100)), "it is larger than 100 bytes");
        assert!(read(path, 100_000).unwrap().len() > 100);
    }

    /// A file of this name is on a file system that does not answer.
    const DEAD: &str = "on-a-dead-server";

    pub(super) fn hang_if_told(path: &Path) {
        while path.ends_with(DEAD) {
            thread::park();
        }
    }

    #[test]
    fn a_file_system_that_does_not_answer_is_given_up() {
        let time = Duration::from_millis(10);
        let path = Path::new("/mnt").join(DEAD);
        for is_real in [false, true] {
            let read = read_within(time, &path, is_real, 9);
            assert!(matches!(read, Err(ReadError::TooSlow(_))), "{read:?}");
            let opened = open_within(time, &path, is_real);
            assert!(matches!(opened, Err(ReadError::TooSlow(_))), "{opened:?}");
        }
        let slow = ReadError::TooSlow(TIME_LIMIT);
        assert_eq!(slow.to_string(), "it couldn’t be read within 10 s");
    }

    #[test]
    fn an_error_of_the_system_keeps_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read(&folder.path().join("none"), 9).unwrap_err();
        assert_eq!(io::Error::from(missing).kind(), io::ErrorKind::NotFound);
        let large = io::Error::from(ReadError::TooLarge(1024));
        assert_eq!(large.to_string(), "it is larger than 1 KB");
    }
}
