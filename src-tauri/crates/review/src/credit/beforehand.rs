//! What of a command a revert will not cover, as far as its words tell before it runs.

use std::path::Path;

use lathe_snapshot::{Coverage, SideRepo, SnapshotRef};

use super::keeper::below;
use crate::error::Result;

const GIT: &str = "What git itself stores can’t be reverted";
/// More are not named.
const MOST_NAMED: usize = 3;

/// One sentence for git, and one for each file that the command names and that no snapshot holds.
pub fn not_covered(
    repo: &SideRepo,
    label: &str,
    command: &str,
    directory: &Path,
) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let mut words = command.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
    if words.any(|word| word == "git") {
        sentences.push(GIT.to_owned());
    }
    let taken = repo.references(label)?;
    let newest = taken.iter().rev().map(SnapshotRef::tree);
    let Some(newest) = newest
        .into_iter()
        .find(|tree| !repo.holds_only_images(*tree))
    else {
        return Ok(sentences);
    };
    let coverage = repo.coverage(newest)?;
    let ends_word = |c: char| c.is_whitespace() || "'\"`;|&<>()=".contains(c);
    let mut named = Vec::new();
    for word in command.split(ends_word).filter(|word| !word.is_empty()) {
        let file = directory.join(word);
        let path = below(repo.worktree(), &file).filter(|_| file.is_file());
        let path = path.filter(|path| !named.contains(path));
        if let Some(path) = path
            && let Coverage::LeftOut(reason) = coverage.of(&path)
            && named.len() < MOST_NAMED
        {
            sentences.push(format!("{path} can’t be reverted: {reason}"));
            named.push(path);
        }
    }
    Ok(sentences)
}
