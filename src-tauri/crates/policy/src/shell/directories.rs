//! The directory that relative paths start from.

use std::path::PathBuf;

use super::word::Word;
use super::{Findings, Reason};

impl Findings<'_> {
    /// Staying in the project needs no permission of its own; later paths may start there.
    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let mut targets = words[1..]
            .iter()
            .filter(|word| !matches!(word.value.as_str(), "-P" | "-L" | "--"));
        let target = targets.next();
        if targets.next().is_some() {
            // In some shells, it replaces one name by another in the path.
            self.because(Reason::Unclear);
        }
        match target {
            None if words[0].value == "popd" => {}
            None => self.enter(&Word::plain("~")),
            Some(word) if !word.is_known() || word.value.starts_with(['-', '+']) => {
                self.because(Reason::Unclear);
            }
            Some(word) => self.enter(&word.clone()),
        }
    }

    pub(super) fn enter(&mut self, directory: &Word) {
        if !directory.is_known() {
            return self.because(Reason::Unclear);
        }
        self.look_at_path(&directory.value);
        let paths = self.surroundings.paths;
        // A shell takes `..` for the folder before it, although that may be a link.
        let resolved = without_parents(&directory.value);
        let spellings = [directory.value.as_str(), resolved.as_str()];
        let ways = self.directories.iter();
        let ways = ways.flat_map(|from| spellings.map(|written| (from, written)));
        let reached: Vec<PathBuf> = ways
            .filter_map(|(from, written)| paths.locate(written, from))
            .map(|found| found.path)
            .filter(|path| !self.directories.contains(path))
            .collect();
        self.directories.extend(reached);
    }
}

/// `a/b/../c` as `a/c`, by the text alone.
fn without_parents(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("..", Some(last)) if !matches!(*last, ".." | "" | "." | "~") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join("/"),
    }
}
