//! Files that git prints without their names in the command.

use super::super::options::{Understanding, UseKind};
use super::super::{Findings, Reason, SearchPattern};

/// They print the content of files that match their last words, or of all files.
const PRINT: [&str; 9] = [
    "git grep",
    "git show",
    "git log",
    "git whatchanged",
    "git diff",
    "git diff-files",
    "git diff-index",
    "git diff-tree",
    "git stash list",
];

impl Findings<'_> {
    /// A search reads everything that is tracked. The others show what was changed: they are looked
    /// at where they are told by a pattern of which files.
    pub(super) fn look_at_tracked(&mut self, read: &Understanding) {
        if !PRINT.contains(&read.name.as_str()) {
            return;
        }
        let words = read.uses.iter();
        let words = words.filter(|one| one.kind == UseKind::Revision);
        let words: Vec<&str> = words.map(|one| one.word.value.as_str()).collect();
        let excludes = |word: &str| word.starts_with(":!") || word.starts_with(":^");
        let is_pattern = |word: &str| word.contains(['*', '?', '[', '\\']) || word.starts_with(':');
        let chosen: Vec<&str> = words
            .into_iter()
            .filter(|word| !excludes(word) && (is_pattern(word) || self.exists(word)))
            .collect();
        let is_search = read.name == "git grep";
        if !is_search && !chosen.iter().any(|word| is_pattern(word)) {
            return;
        }
        // Options can make a pattern match letters of either case.
        let patterns: Option<Vec<SearchPattern>> = chosen
            .iter()
            .map(|word| SearchPattern::parse(word))
            .collect();
        let is_odd =
            |word: &&str| *word == "." || ["..", "./", "//"].iter().any(|odd| word.contains(odd));
        let patterns = patterns.filter(|_| !chosen.iter().any(is_odd));
        let may_be_meant = |path: &str| match &patterns {
            Some(patterns) if !patterns.is_empty() => {
                // A pattern also stands for everything below what it matches.
                let mut above = std::path::Path::new(path).ancestors();
                above.any(|one| {
                    let one = one.to_string_lossy();
                    patterns.iter().any(|pattern| pattern.may_match(&one))
                })
            }
            _ => true,
        };
        for from in self.directories.clone() {
            match self.surroundings.paths.tracked_notable(&from) {
                Some(notable) => {
                    let read = notable.into_iter().filter(|path| may_be_meant(path));
                    self.analysis.reads.extend(read);
                }
                None => self.because(Reason::TooMany),
            }
        }
    }
}
