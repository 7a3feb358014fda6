//! Both contents of a changed file. The last ones are remembered, so that a click on what was on
//! screen a moment ago still means these lines.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use lathe_snapshot::{FileContent, RelPath, SideRepo};
use parking_lot::Mutex;

use super::ScopeFile;
use crate::error::Result;
use crate::lines::{self, Block};

#[derive(Debug)]
pub struct Contents {
    pub path: RelPath,
    pub from: Option<RelPath>,
    pub version: String,
    pub old: Option<FileContent>,
    pub new: Option<FileContent>,
    blocks: OnceLock<Vec<Block>>,
    blocks_without_space: OnceLock<Vec<Block>>,
}

impl Contents {
    pub fn read(repo: &SideRepo, file: &ScopeFile) -> Result<Contents> {
        Ok(Contents {
            old: repo.image_in(file.before, file.old_path())?.content,
            new: repo.image_in(file.after, &file.path)?.content,
            path: file.path.clone(),
            from: file.from.clone(),
            version: file.version.clone(),
            blocks: OnceLock::new(),
            blocks_without_space: OnceLock::new(),
        })
    }

    pub fn cached(
        recent: &Mutex<Recent>,
        repo: &SideRepo,
        file: &ScopeFile,
    ) -> Result<Arc<Contents>> {
        let name = file.name();
        if let Some(known) = recent.lock().find(&name, &file.version) {
            return Ok(known);
        }
        let contents = Arc::new(Contents::read(repo, file)?);
        recent.lock().add(contents.clone());
        Ok(contents)
    }

    pub fn old_text(&self) -> Option<&str> {
        text(self.old.as_ref())
    }

    pub fn new_text(&self) -> Option<&str> {
        text(self.new.as_ref())
    }

    pub fn old_bytes(&self) -> Option<&[u8]> {
        self.old.as_ref().map(|content| content.bytes.as_slice())
    }

    pub fn new_bytes(&self) -> Option<&[u8]> {
        self.new.as_ref().map(|content| content.bytes.as_slice())
    }

    /// Whether each side is a text or is not there.
    pub fn is_text(&self) -> bool {
        let fits =
            |content: &Option<FileContent>| content.is_none() || text(content.as_ref()).is_some();
        fits(&self.old) && fits(&self.new)
    }

    /// The lines of both sides; none if one of them is not a text.
    pub fn lines(&self) -> (Vec<&str>, Vec<&str>) {
        match self.is_text() {
            true => (
                lines::split(self.old_text().unwrap_or_default()),
                lines::split(self.new_text().unwrap_or_default()),
            ),
            false => (Vec::new(), Vec::new()),
        }
    }

    pub fn blocks(&self) -> &[Block] {
        self.blocks.get_or_init(|| {
            let (old, new) = self.lines();
            lines::blocks(&old, &new, false)
        })
    }

    /// The blocks that are shown.
    pub fn shown_blocks(&self, ignore_space: bool) -> &[Block] {
        if !ignore_space {
            return self.blocks();
        }
        self.blocks_without_space.get_or_init(|| {
            let (old, new) = self.lines();
            lines::blocks(&old, &new, true)
        })
    }

    fn size(&self) -> usize {
        let bytes =
            |content: &Option<FileContent>| content.as_ref().map_or(0, |one| one.bytes.len());
        bytes(&self.old) + bytes(&self.new)
    }
}

fn text(content: Option<&FileContent>) -> Option<&str> {
    let bytes = &content?.bytes;
    let near_start = &bytes[..bytes.len().min(8000)];
    match near_start.contains(&0) {
        true => None,
        false => std::str::from_utf8(bytes).ok(),
    }
}

/// The contents that were used last, the newest last.
#[derive(Debug, Default)]
pub struct Recent {
    all: VecDeque<Arc<Contents>>,
    size: usize,
}

impl Recent {
    /// In bytes. The newest contents stay, however large they are.
    const MOST: usize = 32 << 20;

    pub fn find(&mut self, path: &str, version: &str) -> Option<Arc<Contents>> {
        let fits = |one: &Arc<Contents>| one.version == version && one.path.to_string() == path;
        let at = self.all.iter().position(fits)?;
        let found = self.all.remove(at)?;
        self.all.push_back(found.clone());
        Some(found)
    }

    pub fn add(&mut self, contents: Arc<Contents>) {
        self.size += contents.size();
        self.all.push_back(contents);
        while self.size > Self::MOST && self.all.len() > 1 {
            if let Some(oldest) = self.all.pop_front() {
                self.size -= oldest.size();
            }
        }
    }
}
