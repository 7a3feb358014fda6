//! Which arguments are paths, and where they lead.

use std::path::{Path, PathBuf};

use super::word::Word;
use super::{Findings, Reason};

/// Print their arguments, or take a pattern or program text first.
const NO_PATHS: [&str; 4] = ["echo", "printf", "true", "false"];
const TEXT_FIRST: [&str; 14] = [
    "grep", "egrep", "fgrep", "rg", "ag", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "perl",
    "seq",
];

/// What the word after an option is.
enum Next {
    Anything,
    Message,
    /// A pattern or a program.
    Text,
}

/// An option that brings the pattern or the program, or does without: all other words are paths.
#[derive(PartialEq, Eq)]
enum TextOption {
    /// In the next word.
    Next,
    /// In itself, or in a file.
    Elsewhere,
}

impl TextOption {
    /// Long ones may be cut short, short ones stand behind others. Taken for one of these by
    /// mistake, an option costs a question at most.
    fn of(option: &str) -> Option<Self> {
        let Some(long) = option.strip_prefix("--") else {
            let letters = &option[1..=letters(option)];
            let ends_there = letters.len() + 1 == option.len();
            let brings_text = letters.contains(['e', 'f']);
            return brings_text.then(|| match ends_there && letters.ends_with('e') {
                true => TextOption::Next,
                false => TextOption::Elsewhere,
            });
        };
        let (name, value) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        let is = |full: &str| !name.is_empty() && full.starts_with(name);
        if is("regexp") || is("expression") {
            return Some(match value {
                true => TextOption::Elsewhere,
                false => TextOption::Next,
            });
        }
        (is("files") || is("from-file")).then_some(TextOption::Elsewhere)
    }
}

/// How many follow the dash of a short option.
fn letters(option: &str) -> usize {
    let bytes = option.bytes().skip(1);
    bytes.take_while(u8::is_ascii_alphabetic).count()
}

impl Findings<'_> {
    pub(super) fn look_at_arguments(&mut self, name: &str, arguments: &[Word]) {
        if NO_PATHS.contains(&name) {
            return;
        }
        let takes_text = TEXT_FIRST.contains(&name);
        let mut text_first = takes_text;
        let mut next = Next::Anything;
        for word in arguments {
            let value = word.value.as_str();
            match std::mem::replace(&mut next, Next::Anything) {
                Next::Message => continue,
                Next::Text => {
                    self.look_at_text(word);
                    continue;
                }
                Next::Anything => {}
            }
            if name == "git" && matches!(value, "-m" | "--message") {
                next = Next::Message;
            } else if value.starts_with('-') && value != "-" {
                if let Some(text) = TextOption::of(value).filter(|_| takes_text) {
                    text_first = false;
                    if text == TextOption::Next {
                        next = Next::Text;
                    }
                }
                self.look_at_option(word);
            } else if std::mem::take(&mut text_first) {
                self.look_at_text(word);
            } else {
                self.look_at_value(value, word.glob);
            }
        }
    }

    /// What should be a pattern or a program is a path after all if there is something at its
    /// end, and several words if the shell makes them of it.
    fn look_at_text(&mut self, word: &Word) {
        let value = word.value.as_str();
        let leads_out = ["/", "~/", "../"].iter().any(|way| value.starts_with(way));
        if word.glob {
            self.look_at_value(value, true);
        } else if leads_out && self.exists(value) {
            self.look_at_path(value);
        }
    }

    fn exists(&self, value: &str) -> bool {
        let paths = self.surroundings.paths;
        self.directories
            .iter()
            .any(|from| paths.locate(value, from).is_some_and(|found| found.exists))
    }

    /// `--file=/x`, `-C../x`, `-I/usr/include`, `-rf/x`.
    fn look_at_option(&mut self, word: &Word) {
        if let Some((_, value)) = word.value.split_once('=') {
            if !value.is_empty() {
                self.look_at_value(value, word.glob);
            }
            return;
        }
        if word.value.starts_with("--") {
            return;
        }
        // Where the letters end and the value begins only the program knows.
        let last = letters(&word.value).max(1) + 1;
        let glued = (2..=last).filter_map(|at| word.value.get(at..));
        let is_path = |value: &&str| value.starts_with(['/', '~', '.']) || value.contains('/');
        let glued: Vec<&str> = glued.filter(is_path).collect();
        for value in glued {
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
        for link in self.surroundings.paths.links_in(directory) {
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
            match self.surroundings.paths.locate(value, &from) {
                Some(found) if !found.inside => {
                    let path = found.path.as_path();
                    let directory = match found.is_directory {
                        true => path,
                        false => path.parent().unwrap_or(path),
                    };
                    self.analysis.outside.insert(directory.to_owned());
                }
                Some(_) => {}
                None => self.because(Reason::Unclear),
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
        let paths = self.surroundings.paths;
        let reached: Vec<PathBuf> = self
            .directories
            .iter()
            .filter_map(|from| paths.locate(value, from))
            .map(|found| found.path)
            .filter(|path| !self.directories.contains(path))
            .collect();
        self.directories.extend(reached);
    }
}
