//! Which arguments are paths, and where they lead.

use std::path::{Path, PathBuf};

use super::word::Word;
use super::{Findings, Reason};
use crate::paths;

/// More names than this in one directory are not looked through for links.
const LOOKED_AT: usize = 2_000;

/// Print their arguments, or take a pattern or program text first.
const NO_PATHS: [&str; 4] = ["echo", "printf", "true", "false"];
const TEXT_FIRST: [&str; 14] = [
    "grep", "egrep", "fgrep", "rg", "ag", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "perl",
    "seq",
];

impl Findings<'_> {
    pub(super) fn look_at_arguments(&mut self, name: &str, arguments: &[Word]) {
        if NO_PATHS.contains(&name) {
            return;
        }
        let mut text_first = TEXT_FIRST.contains(&name);
        let mut message_next = false;
        for word in arguments {
            let value = word.value.as_str();
            if std::mem::take(&mut message_next) {
                continue;
            }
            if name == "git" && matches!(value, "-m" | "--message") {
                message_next = true;
            } else if value.starts_with('-') && value != "-" {
                self.look_at_option(word);
            } else if !std::mem::take(&mut text_first) {
                self.look_at_value(value, word.glob);
            }
        }
    }

    /// `--file=/x`, `-C../x`, `-I/usr/include`.
    fn look_at_option(&mut self, word: &Word) {
        let value = match word.value.split_once('=') {
            Some((_, value)) => Some(value),
            None if word.value.starts_with("--") => None,
            None => word
                .value
                .get(2..)
                .filter(|v| v.starts_with(['/', '~', '.'])),
        };
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.look_at_value(value, word.glob);
        }
    }

    fn look_at_value(&mut self, value: &str, glob: bool) {
        let value = value.strip_prefix('@').unwrap_or(value);
        if value.contains("://") || value.is_empty() {
            return;
        }
        if glob {
            return self.look_at_glob(value);
        }
        self.look_at_path(value);
        // `of=/dev/sda`, `KEY=../x`
        if let Some((_, value)) = value.split_once('=').filter(|(_, v)| !v.is_empty()) {
            self.look_at_path(value);
        }
    }

    /// Only the part before the first wildcard is known.
    fn look_at_glob(&mut self, value: &str) {
        let known = value.find(['*', '?', '[']).map_or(value, |at| &value[..at]);
        let directory = known.rfind('/').map_or("", |at| &known[..=at]);
        if value[directory.len()..].split('/').any(|part| part == "..") {
            self.because(Reason::Unclear);
        }
        let directory = if directory.is_empty() { "." } else { directory };
        self.look_at_path(directory);
        for from in self.directories.clone() {
            self.look_at_links(&from.join(directory));
        }
    }

    /// A wildcard may choose a link that leads out.
    fn look_at_links(&mut self, directory: &Path) {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let links: Vec<PathBuf> = entries
            .take(LOOKED_AT)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
            .map(|entry| entry.path())
            .collect();
        for link in links {
            self.look_at_path(&link.to_string_lossy());
        }
    }

    pub(super) fn look_at_path(&mut self, value: &str) {
        if matches!(value, "/dev/null" | "-") {
            return;
        }
        if value.starts_with('~') && value != "~" && !value.starts_with("~/") {
            return self.because(Reason::Unclear);
        }
        for from in self.directories.clone() {
            let s = self.surroundings;
            match paths::resolve(value, &from, s.root, s.home) {
                Ok(place) if !place.is_inside() => {
                    let path = place.path();
                    let directory = if path.is_dir() {
                        path
                    } else {
                        path.parent().unwrap_or(path)
                    };
                    self.analysis.outside.insert(directory.to_owned());
                }
                Ok(_) => {}
                Err(_) => self.because(Reason::Unclear),
            }
        }
    }

    /// Staying in the project needs no permission of its own; later paths may start there.
    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let target = words[1..]
            .iter()
            .find(|word| !matches!(word.value.as_str(), "-P" | "-L" | "--"));
        let value = match target {
            None if words[0].value == "popd" => return,
            None => "~",
            Some(word) if word.glob || word.value.starts_with(['-', '+']) => {
                return self.because(Reason::Unclear);
            }
            Some(word) => word.value.as_str(),
        };
        self.look_at_path(value);
        let s = self.surroundings;
        let reached: Vec<PathBuf> = self
            .directories
            .iter()
            .filter_map(|from| paths::resolve(value, from, s.root, s.home).ok())
            .map(|place| place.path().to_owned())
            .filter(|path| !self.directories.contains(path))
            .collect();
        self.directories.extend(reached);
    }
}
