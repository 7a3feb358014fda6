//! What of the kept changes goes into the index. Pure.
//!
//! Only kept lines change what the index has: a file without them, or whose kept lines have been
//! changed by the agent since, is not staged at all.

use lathe_records::{Failed, Result};
use lathe_review::judge;
use lathe_review::lines::merge::merge;
use lathe_review::lines::{self, Block, LineSet, marks::Mark};
use lathe_review::scope::{Contents, kept_lines};
use lathe_snapshot::{FileContent, Mode, RelPath};
use lathe_workspace::git::{FileKind, InIndex};

type Staged = Option<(FileKind, Vec<u8>)>;

/// A file with only its kept changes.
pub(crate) struct Kept {
    pub path: RelPath,
    base: Option<FileContent>,
    wanted: Option<FileContent>,
    /// The lines of the agent's text, and which of them are kept.
    agent: Vec<String>,
    blocks: Vec<Block>,
    lines: LineSet,
}

/// The kept changes of a file: none if no mark fits any more, two for a file that was moved.
pub(crate) fn kept_of(contents: &Contents, marks: &[Mark]) -> Vec<Kept> {
    let lines = kept_lines(contents, marks);
    let fits = match contents.blocks().is_empty() {
        true => marks.contains(&Mark::whole_file(&contents.version)),
        false => !lines.is_empty(),
    };
    if !fits {
        return Vec::new();
    }
    let moved = contents.from.clone().map(|from| Kept {
        path: from,
        base: contents.old.clone(),
        wanted: None,
        agent: Vec::new(),
        blocks: Vec::new(),
        lines: LineSet::default(),
    });
    let kept = Kept {
        path: contents.path.clone(),
        base: contents.old.clone(),
        wanted: judge::only_kept(contents, marks),
        agent: contents.lines().1.into_iter().map(str::to_owned).collect(),
        blocks: contents.blocks().to_vec(),
        lines,
    };
    moved.into_iter().chain([kept]).collect()
}

impl Kept {
    /// The kept changes in what the index already has.
    pub fn staged(&self, indexed: Option<InIndex>) -> Result<Staged> {
        let is_base = |there: &InIndex| {
            let base = self.base.as_ref();
            base.is_some_and(|base| base.bytes == there.bytes)
        };
        let (wanted, there) = match (&self.wanted, indexed) {
            // What is only in the index would be lost.
            (None, Some(there)) if !there.is_committed && !is_base(&there) => {
                return Err(self.in_the_way());
            }
            (None, _) => return Ok(None),
            (Some(wanted), None) => return Ok(Some((kind(wanted.mode), wanted.bytes.clone()))),
            (Some(wanted), Some(there)) => (wanted, there),
        };
        let staged = |bytes: Vec<u8>| Ok(Some((kind(wanted.mode), bytes)));
        if is_base(&there) || there.bytes == wanted.bytes {
            return staged(wanted.bytes.clone());
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let base = self.base.as_ref().map_or(&[][..], |base| &base.bytes[..]);
        let texts = (text(base), text(&there.bytes), text(&wanted.bytes));
        let (Some(base), Some(in_index), Some(text)) = texts else {
            return match there.is_committed && self.lines == LineSet::all(&self.blocks) {
                true => staged(wanted.bytes.clone()),
                false => Err(self.in_the_way()),
            };
        };
        // Git may keep other line ends than the files on the disk have.
        let differ = in_index.contains("\r\n") != text.contains("\r\n");
        let ends = |text: &str| match differ {
            true => text.replace("\r\n", "\n"),
            false => text.to_owned(),
        };
        let in_index = ends(&in_index);
        let merged = merge(&ends(&base), &in_index, &ends(&text));
        if merged.conflicts.is_empty() {
            return staged(merged.mine.into_bytes());
        }
        let agent: Vec<String> = self.agent.iter().map(|line| ends(line)).collect();
        let agent: Vec<&str> = agent.iter().map(String::as_str).collect();
        match self.onto(&in_index, &agent).filter(|_| there.is_committed) {
            Some(text) => staged(text.into_bytes()),
            None => Err(self.in_the_way()),
        }
    }

    /// The kept lines in a commit that has an earlier form of them. `None` if a kept line stands
    /// together with one that is not kept.
    fn onto(&self, committed: &str, agent: &[&str]) -> Option<String> {
        let there = lines::split(committed);
        let blocks = lines::blocks(&there, agent, false);
        let removed = |at: usize| {
            self.blocks.iter().any(|block| {
                let kept = self.lines.old.count_in(&block.old);
                kept > 0 && (block.new.start..=block.new.end).contains(&at)
            })
        };
        let is_kept = |block: &Block| match block.new.is_empty() {
            true => removed(block.new.start),
            false => self.lines.new.count_in(&block.new) == block.new.len(),
        };
        let (kept, rest): (Vec<Block>, Vec<Block>) = blocks.iter().cloned().partition(is_kept);
        let mixed = rest
            .iter()
            .any(|block| self.lines.new.count_in(&block.new) > 0);
        if kept.is_empty() || mixed {
            return None;
        }
        Some(lines::without(&there, agent, &blocks, &LineSet::all(&rest)))
    }

    fn in_the_way(&self) -> Failed {
        Failed::refused(format!(
            "What is staged of {} already changes the same lines. Unstage it first",
            self.path
        ))
    }
}

fn kind(mode: Mode) -> FileKind {
    match mode {
        Mode::Executable => FileKind::Executable,
        Mode::Link => FileKind::Link,
        Mode::File | Mode::Folder => FileKind::File,
    }
}
