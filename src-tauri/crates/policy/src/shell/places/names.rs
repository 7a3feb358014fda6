//! Names that a wildcard stands for.

use std::path::Path;

use super::super::options::{Understanding, UseKind};
use super::super::word::Word;
use super::super::{Findings, Reason, SearchPattern};
use super::Access;
use crate::rules::wildcard;

impl Findings<'_> {
    /// Only the part before the first wildcard is known; the rest are names that are there.
    pub(super) fn look_at_glob(&mut self, value: &str, access: Access) {
        let known = value.find(['*', '?', '[']).map_or(value, |at| &value[..at]);
        let directory = known.rfind('/').map_or("", |at| &known[..=at]);
        let rest = value[directory.len()..].to_owned();
        if rest.split('/').any(|part| part == "..") {
            self.because(Reason::Unclear);
        }
        // `.*` is also the folder above.
        if rest
            .split('/')
            .any(|part| part.starts_with('.') && part != ".")
        {
            self.because(Reason::Wildcard);
        }
        let directory = match directory {
            "" => ".".to_owned(),
            directory => directory.to_owned(),
        };
        let below = match access {
            Access::Write | Access::Any => access,
            _ => Access::Look,
        };
        self.look_at(&directory, below);
        for from in self.directories.clone() {
            self.look_at_links(&from.join(&directory), &rest);
        }
        if rest.is_empty() || matches!(access, Access::Look | Access::List) {
            return;
        }
        self.look_at_names(&directory, &rest, access);
    }

    fn look_at_names(&mut self, directory: &str, pattern: &str, access: Access) {
        let paths = self.surroundings.paths;
        let (first, deeper) = match pattern.split_once('/') {
            Some((first, _)) => (first, true),
            None => (pattern, false),
        };
        // A class such as `[ab]` matches at most what any character would.
        let plain: String = simplified(first);
        for from in self.directories.clone() {
            let Some(located) = paths.locate(directory, &from) else {
                continue;
            };
            let Some(names) = paths.names_in(&located.path) else {
                self.because(Reason::Wildcard);
                continue;
            };
            for name in names {
                if !wildcard(&plain, &name) || (name.starts_with('.') && !first.starts_with('.')) {
                    continue;
                }
                if name.starts_with('-') && directory == "." {
                    self.because(Reason::Wildcard);
                }
                let path = located.path.join(&name);
                let access = match deeper {
                    true => Access::Tree {
                        hidden: false,
                        follows: false,
                    },
                    false => access,
                };
                self.look_at(&path.to_string_lossy(), access);
            }
        }
    }

    /// Copies and links have the names of what a wildcard chose.
    pub(super) fn look_at_landing(&mut self, read: &Understanding) {
        if !["cp", "mv", "ln", "install"].contains(&read.name.as_str()) {
            return;
        }
        let words = |of: fn(UseKind) -> bool| -> Vec<Word> {
            let uses = read.uses.iter().filter(|one| of(one.kind));
            uses.map(|one| one.word.clone()).collect()
        };
        let targets = words(|kind| kind == UseKind::Write);
        let sources = words(|kind| matches!(kind, UseKind::Tree { .. } | UseKind::List));
        for source in sources.iter().filter(|source| source.glob.is_some()) {
            for name in self.chosen_names(&source.value) {
                for target in targets.iter().filter(|target| target.is_known()) {
                    let target = target.value.trim_end_matches('/');
                    self.look_at(&format!("{target}/{name}"), Access::Write);
                }
            }
        }
    }

    /// The last parts of the paths that a wildcard stands for.
    fn chosen_names(&mut self, value: &str) -> Vec<String> {
        let is_wild = |text: &str| text.contains(['*', '?', '[', '{']);
        let (folder, last) = value.rsplit_once('/').unwrap_or((".", value));
        if !is_wild(last) {
            return vec![last.to_owned()];
        }
        if is_wild(folder) {
            self.because(Reason::Wildcard);
            return Vec::new();
        }
        let folder = if folder.is_empty() { "/" } else { folder };
        let pattern = simplified(last);
        let paths = self.surroundings.paths;
        let mut chosen = Vec::new();
        for from in self.directories.clone() {
            let located = paths.locate(folder, &from);
            match located.and_then(|located| paths.names_in(&located.path)) {
                Some(names) => {
                    chosen.extend(names.into_iter().filter(|name| wildcard(&pattern, name)));
                }
                None => self.because(Reason::Wildcard),
            }
        }
        chosen
    }

    /// A wildcard may choose a link that leads out.
    fn look_at_links(&mut self, directory: &Path, pattern: &str) {
        let first = pattern.split('/').next().unwrap_or(pattern);
        let first = simplified(first);
        for link in self.surroundings.paths.links_in(directory) {
            let name = link.file_name().map(|name| name.to_string_lossy());
            if first.is_empty() || name.is_none_or(|name| wildcard(&first, &name)) {
                self.look_at_path(&link.to_string_lossy());
            }
        }
    }

    /// Hidden files that a search reads because their names are asked for.
    pub(super) fn look_at_chosen(&mut self, word: &Word, chosen: &[SearchPattern]) {
        if chosen.is_empty() {
            return;
        }
        let paths = self.surroundings.paths;
        for from in self.directories.clone() {
            let Some(found) = paths.locate(&word.value, &from) else {
                continue;
            };
            let Some(notable) = paths.notable_below(&found.path, true) else {
                self.because(Reason::TooMany);
                continue;
            };
            let is_chosen = |path: &String| chosen.iter().any(|one| one.may_match(path));
            let read = notable.asked_about.into_iter().filter(is_chosen);
            self.analysis.reads.extend(read);
        }
    }
}

/// A pattern of our rules that matches at least what a wildcard of the shell does.
fn simplified(pattern: &str) -> String {
    let mut simple = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '[' if chars.clone().any(|c| c == ']') => {
                let _ = chars.find(|c| *c == ']');
                simple.push('*');
            }
            '{' if chars.clone().any(|c| c == '}') => {
                let _ = chars.find(|c| *c == '}');
                simple.push('*');
            }
            c => simple.push(c),
        }
    }
    simple
}
