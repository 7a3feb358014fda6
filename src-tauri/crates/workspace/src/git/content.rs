//! Contents of files in commits and in the index.

use lathe_records::{Failed, Result};

use super::Git;

/// Larger files are left out: they are not reviewed line by line.
const LARGEST: usize = 16 << 20;
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
    pub path: String,
    pub content: Option<(FileKind, Vec<u8>)>,
}

impl Git {
    /// What differs from a commit, in the index or on the disk, below the folder.
    pub async fn changed_since(&self, commit: Option<&str>) -> Result<Vec<Committed>> {
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
        let mut files = Vec::new();
        let mut wanted = Vec::new();
        let mut fields = listed.split(|byte| *byte == 0);
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let mut head = head.trim_start_matches(':').split(' ');
            let kind = head.next().and_then(FileKind::parse);
            let (_, blob) = (head.next(), head.next().unwrap_or_default().to_owned());
            if let Some(kind) = kind {
                wanted.push((files.len(), kind, blob));
            }
            files.push(Committed {
                path: path.to_vec(),
                content: None,
            });
        }
        let hashes: Vec<&str> = wanted.iter().map(|(_, _, blob)| blob.as_str()).collect();
        let blobs = self.blobs(&hashes).await?;
        let mut left_out = Vec::new();
        for ((at, kind, _), blob) in wanted.into_iter().zip(blobs) {
            match blob {
                Some(bytes) => files[at].content = Some((kind, bytes)),
                None => left_out.push(at),
            }
        }
        for at in left_out.into_iter().rev() {
            files.remove(at);
        }
        let others = self
            .run(&["ls-files", "-z", "--others", "--exclude-standard"])
            .await?;
        let others = others.split(|byte| *byte == 0);
        let paths = others.filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        files.extend(paths.map(|path| Committed {
            path: path.to_vec(),
            content: None,
        }));
        Ok(files)
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

    /// What the index has of each path.
    pub async fn indexed(&self, paths: &[&str]) -> Result<Vec<Option<(FileKind, Vec<u8>)>>> {
        let mut found = Vec::with_capacity(paths.len());
        for path in paths {
            let listed = self
                .run(&[
                    "--literal-pathspecs",
                    "ls-files",
                    "-z",
                    "--stage",
                    "--",
                    path,
                ])
                .await?;
            let listed = String::from_utf8_lossy(&listed).into_owned();
            let mut head = listed
                .split(['\0', '\t'])
                .next()
                .unwrap_or_default()
                .split(' ');
            let kind = head.next().and_then(FileKind::parse);
            let blob = head.next().unwrap_or_default().to_owned();
            found.push(match kind {
                Some(kind) => {
                    let blob = self.blobs(&[&blob]).await?.pop().flatten();
                    blob.map(|bytes| (kind, bytes))
                }
                None => None,
            });
        }
        Ok(found)
    }

    /// Puts contents into the index, all or none. Files on the disk are not touched.
    pub async fn put_into_index(&self, files: &[Indexed]) -> Result<()> {
        let prefix = self.line(&["rev-parse", "--show-prefix"]).await?;
        let mut input = Vec::new();
        for file in files {
            let entry = match &file.content {
                Some((kind, bytes)) => {
                    let put = self
                        .run_with(
                            &["hash-object", "-w", "--stdin", "--no-filters"],
                            bytes.clone(),
                        )
                        .await?;
                    let blob = String::from_utf8_lossy(&put).trim().to_owned();
                    format!("{} {blob}\t{prefix}{}\0", kind.mode(), file.path)
                }
                None => format!("0 {}\t{prefix}{}\0", "0".repeat(40), file.path),
            };
            input.extend(entry.into_bytes());
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
