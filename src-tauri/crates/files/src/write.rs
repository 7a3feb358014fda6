//! Atomic writes: a reader, or a start after a crash, finds the old content or the new one and
//! never a mix of both.
//!
//! New files are accessible to their owner only, from their first byte on.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// How the names of temporary files begin. A killed writer leaves one behind; the owner of the
/// folder may remove it.
pub const TEMPORARY_PREFIX: &str = ".tmp-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Replaces a file; its new content survives a power cut. The folder must exist.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = written(folder_of(path), bytes)?;
    temporary.as_file_mut().sync_all()?;
    finish(temporary, path)
}

/// The same for what can be made again: it survives a crash of this program, but after a power
/// cut the file may be empty.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_unsynced_via(folder_of(path), path, bytes)
}

/// The same with the temporary file in another folder of the same file system, for when only
/// that one is cleaned of temporary files.
pub fn write_unsynced_via(temporary_folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    finish(written(temporary_folder, bytes)?, path)
}

/// A file that is removed again unless it is renamed.
pub fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(folder)
}

/// Creates the folder, and those it lies in, for its owner only. Existing folders keep their
/// permissions. On Windows, a folder in the user's profile inherits private ones.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn written(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut temporary = temporary_file(folder)?;
    temporary.write_all(bytes)?;
    Ok(temporary)
}

fn finish(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    temporary.persist(path)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Write = fn(&Path, &[u8]) -> io::Result<()>;

    const WRITERS: [Write; 2] = [write_private_file, write_unsynced];

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_replaced_and_no_temporary_file_is_left() {
        for write in WRITERS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("notes.json");
            for text in ["first", "second"] {
                write(&path, text.as_bytes()).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
            assert_eq!(entries(folder.path()), 1);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_written_file_is_accessible_to_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        for write in WRITERS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("notes.json");
            fs::write(&path, "everyone's").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            write(&path, b"mine").unwrap();
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_keeps_the_kind_of_the_error() {
        for write in WRITERS {
            let folder = tempfile::tempdir().unwrap();
            let taken = folder.path().join("taken");
            fs::create_dir_all(taken.join("inside")).unwrap();
            assert!(write(&taken, b"new").is_err());
            assert!(taken.join("inside").is_dir());
            assert_eq!(entries(folder.path()), 1);
            let missing = folder.path().join("nowhere").join("notes.json");
            let refused = write(&missing, b"new").unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn the_temporary_file_may_lie_in_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (temporary, path) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir(&temporary).unwrap();
        write_unsynced_via(&temporary, &path, b"new").unwrap();
        assert_eq!(
            (entries(&temporary), fs::read(&path).unwrap()),
            (0, b"new".to_vec())
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_new_folder_is_private_and_an_old_one_stays_as_it_is() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let new = folder.path().join("one/two");
        create_private_folder(&new).unwrap();
        create_private_folder(&new).unwrap();
        let modes = [folder.path(), &folder.path().join("one"), &new].map(mode);
        assert_eq!(modes, [0o755, 0o700, 0o700]);
    }
}
