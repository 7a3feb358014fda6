//! A file that is replaced when it is full, and a few older ones.
//!
//! It is made with the first line: a program that has nothing to say leaves no file.
//!
//! Several processes may append to the same file: each line is one write, and a process that
//! finds the file replaced goes on in the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file is replaced before it grows beyond this.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How many older files are kept.
const OLDER: usize = 3;

pub struct RotatingFile {
    path: PathBuf,
    file: Option<File>,
    max_bytes: u64,
}

impl RotatingFile {
    pub fn new(folder: &Path, program: &str) -> Self {
        Self::with_limit(folder, program, MAX_BYTES)
    }

    fn with_limit(folder: &Path, program: &str, max_bytes: u64) -> Self {
        RotatingFile {
            path: folder.join(format!("{program}.log")),
            file: None,
            max_bytes,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn older(&self, age: usize) -> PathBuf {
        self.path.with_extension(format!("{age}.log"))
    }

    /// The file, with room for a line of this length.
    fn with_room(&mut self, length: u64) -> io::Result<&mut File> {
        if let Some(file) = self.file.take()
            && file.metadata()?.len() + length <= self.max_bytes
        {
            return Ok(self.file.insert(file));
        }
        if let Some(folder) = self.path.parent() {
            lathe_files::create_private_folder(folder)?;
        }
        // Another process may have replaced the file already.
        let found = fs::metadata(&self.path);
        if found.is_ok_and(|found| found.len() + length > self.max_bytes) {
            for age in (1..OLDER).rev() {
                // There may be fewer.
                let _ = fs::rename(self.older(age), self.older(age + 1));
            }
            fs::rename(&self.path, self.older(1))?;
        }
        Ok(self.file.insert(open(&self.path)?))
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with_room(bytes.len() as u64)?.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut all: Vec<_> = entries
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        all.sort();
        all
    }

    fn named(all: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        all.iter().map(own).collect()
    }

    #[test]
    fn a_full_file_is_replaced_and_the_oldest_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = RotatingFile::with_limit(folder.path(), "a", 4);
        for line in [
            "1\n", "2\n", "3\n", "4\n", "5\n", "6\n", "7\n", "8\n", "9\n",
        ] {
            file.write_all(line.as_bytes()).unwrap();
        }
        let expected = [
            ("a.1.log", "7\n8\n"),
            ("a.2.log", "5\n6\n"),
            ("a.3.log", "3\n4\n"),
            ("a.log", "9\n"),
        ];
        assert_eq!(contents(folder.path()), named(&expected));
    }

    #[test]
    fn two_processes_share_a_file_that_one_of_them_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let open = || RotatingFile::with_limit(folder.path(), "a", 6);
        let (mut one, mut two) = (open(), open());
        for _ in 0..3 {
            one.write_all(b"1\n").unwrap();
            two.write_all(b"2\n").unwrap();
        }
        let expected = [("a.1.log", "1\n2\n1\n"), ("a.log", "2\n1\n2\n")];
        assert_eq!(contents(folder.path()), named(&expected));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let mut file = RotatingFile::new(&logs, "a");
        assert!(!logs.exists(), "nothing was said yet");
        file.write_all(b"1\n").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&logs), mode(file.path())), (0o700, 0o600));
    }
}
