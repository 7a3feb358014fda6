//! The branch of a folder and what is not committed in it.

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{GitOperation, GitStatus};
use lathe_records::Result;

use super::Git;

/// Whether a folder lies in a repository, without starting git.
pub fn in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|above| above.join(".git").exists())
}

impl Git {
    pub async fn status(&self) -> Result<GitStatus> {
        let output = self
            .run(&[
                "status",
                "--porcelain=v2",
                "--branch",
                "--show-stash",
                "-z",
                "--ignore-submodules=all",
                "--untracked-files=normal",
            ])
            .await?;
        let mut status = parse(&output);
        status.operation = self.operation().await?;
        Ok(status)
    }

    /// The folder in which git keeps what belongs to this checkout.
    pub async fn git_dir(&self) -> Result<PathBuf> {
        let dir = self.line(&["rev-parse", "--absolute-git-dir"]).await?;
        Ok(PathBuf::from(dir))
    }

    pub(super) async fn operation(&self) -> Result<Option<GitOperation>> {
        const MARKS: [(&str, GitOperation); 6] = [
            ("rebase-merge", GitOperation::Rebase),
            ("rebase-apply", GitOperation::Rebase),
            ("MERGE_HEAD", GitOperation::Merge),
            ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
            ("REVERT_HEAD", GitOperation::Revert),
            ("BISECT_LOG", GitOperation::Bisect),
        ];
        let dir = self.git_dir().await?;
        let found = MARKS.into_iter().find(|(name, _)| dir.join(name).exists());
        Ok(found.map(|(_, operation)| operation))
    }
}

fn parse(output: &[u8]) -> GitStatus {
    let mut status = GitStatus::default();
    let text = String::from_utf8_lossy(output);
    let mut records = text.split('\0');
    while let Some(record) = records.next() {
        if let Some(header) = record.strip_prefix("# ") {
            read_header(&mut status, header);
            continue;
        }
        let mut fields = record.split(' ');
        match fields.next() {
            Some(kind @ ("1" | "2")) => {
                let changed = fields.next().unwrap_or_default().as_bytes();
                let is_set = |at: usize| changed.get(at).is_some_and(|sign| *sign != b'.');
                status.staged += usize::from(is_set(0));
                status.unstaged += usize::from(is_set(1));
                if kind == "2" {
                    // The path before a rename.
                    records.next();
                }
            }
            Some("u") => status.conflicts += 1,
            Some("?") => status.untracked += 1,
            _ => {}
        }
    }
    status
}

fn read_header(status: &mut GitStatus, header: &str) {
    let Some((name, value)) = header.split_once(' ') else {
        return;
    };
    let number = |text: &str| text.trim_start_matches(['+', '-']).parse().unwrap_or(0);
    match name {
        "branch.oid" if value != "(initial)" => status.head = Some(value.to_owned()),
        "branch.head" if value != "(detached)" => status.branch = Some(value.to_owned()),
        "branch.ab" => {
            let mut counts = value.split(' ').map(number);
            status.ahead = counts.next().unwrap_or(0);
            status.behind = counts.next().unwrap_or(0);
        }
        "stash" => status.stashes = number(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_with_renames_conflicts_and_stashes() {
        let output = b"# branch.oid abc\0# branch.head main\0# branch.upstream o/main\0\
            # branch.ab +2 -1\0# stash 3\x001 M. N... 100644 100644 100644 a b staged.txt\0\
            1 .M N... 100644 100644 100644 a b one.txt\0\
            2 R. N... 100644 100644 100644 a b R100 new.txt\x001 old.txt\0\
            u UU N... 1 2 3 4 a b c both.txt\0? new file\0";
        let wanted = GitStatus {
            branch: Some("main".into()),
            head: Some("abc".into()),
            ahead: 2,
            behind: 1,
            staged: 2,
            unstaged: 1,
            untracked: 1,
            conflicts: 1,
            stashes: 3,
            ..GitStatus::default()
        };
        assert_eq!(parse(output), wanted);
    }
}
