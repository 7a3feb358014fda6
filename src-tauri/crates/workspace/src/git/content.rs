//! Contents of files in commits and in the index.

use std::ffi::OsString;

use lathe_records::{Failed, Result};

use super::conversion::Conversion;
use super::{Git, os_string};

/// Larger files are left out: they are not reviewed line by line.
const LARGEST: usize = 16 << 20;
const LIST_INDEX: [&str; 5] = ["--literal-pathspecs", "ls-files", "-z", "--stage", "--"];
const COMPARE_INDEX: [&str; 6] = [
    "--literal-pathspecs",
    "diff-index",
    "--cached",
    "--quiet",
    "HEAD",
    "--",
];
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Executable,
    Link,
}

impl FileKind {
    fn parse(mode: &str) -> Option<FileKind> {
        match mode {
            "100644" => Some(FileKind::File),
            "100755" => Some(FileKind::Executable),
            "120000" => Some(FileKind::Link),
            _ => None,
        }
    }

    fn mode(self) -> &'static str {
        match self {
            FileKind::File => "100644",
            FileKind::Executable => "100755",
            FileKind::Link => "120000",
        }
    }
}

/// A file that may differ from its committed content; `None` if it was not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Relative to the folder.
    pub path: Vec<u8>,
    pub content: Option<(FileKind, Vec<u8>)>,
}

/// A file as the index is to have it; without content it is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    pub path: Vec<u8>,
    pub content: Option<(FileKind, Vec<u8>)>,
}

/// What the index has of a file, as git would write it to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InIndex {
    pub kind: FileKind,
    pub bytes: Vec<u8>,
    /// The newest commit has the same.
    pub is_committed: bool,
}

/// What differs from a commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub files: Vec<Committed>,
    /// Paths that are only named, and why.
    pub left_out: Vec<(Vec<u8>, &'static str)>,
}

const TOO_LARGE: &str = "it is larger than 16 MB";
const NO_FILE: &str = "it can’t be read";
const OWN_REPOSITORY: &str = "it is a repository of its own";
const NO_FILTER: &str = "its git filter does not run here";

impl Git {
    /// What differs from a commit, in the index or on the disk, below the folder.
    pub async fn changed_since(&self, commit: Option<&str>) -> Result<Changed> {
        let commit = commit.unwrap_or(EMPTY_TREE);
        let listed = self
            .run(&[
                "diff-index",
                "-z",
                "--raw",
                "--no-abbrev",
                "--no-renames",
                "--relative",
                "--ignore-submodules=all",
                commit,
                "--",
                ".",
            ])
            .await?;
        let mut changed = Changed::default();
        let mut wanted = Vec::new();
        let mut fields = listed.split(|byte| *byte == 0);
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let mut head = head.trim_start_matches(':').split(' ');
            let kind = head.next().and_then(FileKind::parse);
            let (_, blob) = (head.next(), head.next().unwrap_or_default().to_owned());
            match (self.why_unread(path)?, kind) {
                (Some(why), _) => changed.left_out.push((path.to_vec(), why)),
                (None, Some(kind)) => wanted.push((path.to_vec(), kind, blob)),
                (None, None) => changed.files.push(Committed {
                    path: path.to_vec(),
                    content: None,
                }),
            }
        }
        let paths: Vec<&[u8]> = wanted.iter().map(|(path, ..)| path.as_slice()).collect();
        let conversions = self.conversions(&paths).await?;
        let hashes: Vec<&str> = wanted.iter().map(|(_, _, blob)| blob.as_str()).collect();
        let blobs = self.blobs(&hashes).await?;
        for ((path, kind, name), blob) in wanted.into_iter().zip(blobs) {
            let bytes = match (blob, conversions.get(&path)) {
                (None, _) => Err(TOO_LARGE),
                (Some(_), Some(Conversion::Missing(_))) => Err(NO_FILTER),
                (Some(_), Some(Conversion::Git)) if kind != FileKind::Link => {
                    Ok(self.on_disk(&name, &path).await?)
                }
                (Some(bytes), _) => Ok(bytes),
            };
            match bytes {
                Ok(bytes) => changed.files.push(Committed {
                    path,
                    content: Some((kind, bytes)),
                }),
                Err(why) => changed.left_out.push((path, why)),
            }
        }
        let others = self
            .run(&["ls-files", "-z", "--others", "--exclude-standard"])
            .await?;
        for path in others
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
        {
            let why = match path.strip_suffix(b"/") {
                Some(_) => Some(OWN_REPOSITORY),
                None => self.why_unread(path)?,
            };
            match why {
                Some(why) => changed.left_out.push((path.to_vec(), why)),
                None => changed.files.push(Committed {
                    path: path.to_vec(),
                    content: None,
                }),
            }
        }
        Ok(changed)
    }

    /// Asked before anything is read: a disk image must not fill the memory, and a pipe waits.
    fn why_unread(&self, path: &[u8]) -> Result<Option<&'static str>> {
        let found = std::fs::symlink_metadata(self.folder().join(os_string(path)?));
        Ok(match found {
            Ok(found) if found.is_file() => (found.len() > LARGEST as u64).then_some(TOO_LARGE),
            Ok(found) if !found.is_dir() && !found.is_symlink() => Some(NO_FILE),
            _ => None,
        })
    }

    /// The commit that the folder is at; `None` before the first one.
    pub async fn head(&self) -> Option<String> {
        self.line(&["rev-parse", "--verify", "--quiet", "HEAD"])
            .await
            .ok()
    }

    /// The contents of blobs; `None` for what is too large or missing.
    async fn blobs(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let input = |names: &[&str]| names.join("\n").into_bytes();
        let sizes = self
            .run_with(
                &["cat-file", "--batch-check=%(objecttype) %(objectsize)"],
                input(names),
            )
            .await?;
        let fits = |line: &str| {
            let size = line
                .strip_prefix("blob ")
                .and_then(|size| size.parse().ok());
            size.is_some_and(|size: usize| size <= LARGEST)
        };
        let fits: Vec<bool> = String::from_utf8_lossy(&sizes).lines().map(fits).collect();
        let wanted = names.iter().zip(&fits).filter(|(_, fits)| **fits);
        let wanted: Vec<&str> = wanted.map(|(name, _)| *name).collect();
        let output = self
            .run_with(&["cat-file", "--batch=%(objectsize)"], input(&wanted))
            .await?;
        let mut rest = output.as_slice();
        let mut blobs = Vec::with_capacity(names.len());
        for at in 0..names.len() {
            blobs.push(match fits.get(at) {
                Some(true) => Some(take_blob(&mut rest)?),
                _ => None,
            });
        }
        Ok(blobs)
    }

    /// What the index has of each path. Refused for a file in conflict, of which it has several.
    pub async fn indexed(&self, paths: &[&[u8]]) -> Result<Vec<Option<InIndex>>> {
        let conversions = self.conversions(paths).await?;
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let name = os_string(path)?;
            let mut args: Vec<OsString> = LIST_INDEX.map(OsString::from).to_vec();
            args.push(name.clone());
            let listed = self.run(&args).await?;
            let listed = String::from_utf8_lossy(&listed).into_owned();
            let head = listed.split(['\0', '\t']).next().unwrap_or_default();
            let mut head = head.split(' ');
            let kind = head.next().and_then(FileKind::parse);
            let blob = head.next().unwrap_or_default().to_owned();
            let Some(kind) = kind else {
                found.push(None);
                continue;
            };
            if head.next() != Some("0") {
                // The index has no text of it that a change could be put into.
                return Err(Failed::refused(format!(
                    "{} is in conflict. Settle it with git add first",
                    String::from_utf8_lossy(path)
                )));
            }
            let bytes = match conversions.get(*path) {
                Some(_) if kind != FileKind::Link => Some(self.on_disk(&blob, path).await?),
                _ => self.blobs(&[&blob]).await?.pop().flatten(),
            };
            let mut args: Vec<OsString> = COMPARE_INDEX.map(OsString::from).to_vec();
            args.push(name);
            let is_committed = self.run(&args).await.is_ok();
            found.push(bytes.map(|bytes| InIndex {
                kind,
                bytes,
                is_committed,
            }));
        }
        Ok(found)
    }

    /// Puts contents into the index, all or none. Files on the disk are not touched.
    pub async fn put_into_index(&self, files: &[Indexed]) -> Result<()> {
        let stored = files.iter().filter(|file| file.content.is_some());
        let paths: Vec<&[u8]> = stored.map(|file| file.path.as_slice()).collect();
        self.ensure_filters(&paths).await?;
        let mut input = Vec::new();
        for file in files {
            let entry = match &file.content {
                Some((kind, bytes)) => {
                    let how = match kind {
                        FileKind::Link => "--no-filters".into(),
                        _ => os_string(&[&b"--path="[..], &file.path].concat())?,
                    };
                    let args = ["hash-object".into(), "-w".into(), "--stdin".into(), how];
                    let put = self.run_with(&args, bytes.clone()).await?;
                    let blob = String::from_utf8_lossy(&put).trim().to_owned();
                    format!("{} {blob}\t", kind.mode())
                }
                None => format!("0 {}\t", "0".repeat(40)),
            };
            input.extend(entry.into_bytes());
            input.extend(&file.path);
            input.push(0);
        }
        self.run_with(&["update-index", "-z", "--index-info"], input)
            .await?;
        Ok(())
    }
}

fn take_blob(rest: &mut &[u8]) -> Result<Vec<u8>> {
    let broken = || Failed::refused("git sent something else than a file");
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(broken)?;
    let size: usize = String::from_utf8_lossy(&rest[..end])
        .parse()
        .map_err(|_| broken())?;
    let bytes = rest
        .get(end + 1..end + 1 + size)
        .ok_or_else(broken)?
        .to_vec();
    *rest = rest.get(end + 2 + size..).unwrap_or_default();
    Ok(bytes)
}
