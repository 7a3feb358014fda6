//! Which words are paths, and where they lead.

use std::path::{Path, PathBuf};

use super::knowledge::{Knowledge, SimpleCommand, joined};
use super::options::{Understanding, UseKind};
use super::word::Word;
use super::{Danger, Effects, Findings, Located, Reason};
use crate::protected;
use crate::rules::wildcard;

/// What a path is looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Only whether it leads out.
    Look,
    List,
    Read,
    /// Everything below it, hidden files too or not.
    Tree {
        hidden: bool,
        follows: bool,
    },
    Write,
    /// By a program that may do anything with it.
    Any,
}

impl Findings<'_> {
    /// Notes all paths of an understood command; returns the commands that it runs itself.
    pub(super) fn look_at_uses(
        &mut self,
        read: &Understanding,
        effects: Effects,
    ) -> Vec<Vec<Word>> {
        let start = self.directories.len();
        for one in read.uses.iter().filter(|one| one.kind == UseKind::Enter) {
            self.enter(&one.word);
        }
        let follows = !read.inner.is_empty()
            || read
                .options
                .iter()
                .any(|option| matches!(option.as_str(), "-R" | "--dereference-recursive" | "-L"));
        for one in &read.uses {
            let word = &one.word;
            match one.kind {
                UseKind::Text => self.look_at_text(word),
                UseKind::List => self.look_at_word(word, Access::List),
                UseKind::Read => self.look_at_word(word, Access::Read),
                UseKind::Tree { hidden } => {
                    self.look_at_word(word, Access::Tree { hidden, follows });
                }
                UseKind::Write => self.look_at_word(word, Access::Write),
                UseKind::Any if effects.only_reads() => self.look_at_word(word, Access::Read),
                UseKind::Any => self.look_at_any(word),
                UseKind::Revision => self.look_at_revision(word),
                UseKind::Enter => {}
            }
        }
        if !effects.only_reads() {
            self.look_at_directories();
        }
        self.directories.truncate(start);
        read.inner.clone()
    }

    /// A program that changes something where everything is protected.
    pub(super) fn look_at_directories(&mut self) {
        let reads = self.analysis.commands.iter().all(SimpleCommand::only_reads);
        if reads && !self.analysis.is_opaque() {
            return;
        }
        for directory in self.directories.clone() {
            if let Some(located) = self.surroundings.paths.locate(".", &directory) {
                self.protect(&located);
            }
        }
    }

    /// Nothing is known of the command: each of its words may be a path.
    pub(super) fn look_at_all(&mut self, words: &[Word]) {
        for word in words {
            self.look_at_any(word);
        }
    }

    fn look_at_any(&mut self, word: &Word) {
        let value = word.value.as_str();
        if let Some(option) = value.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            return self.look_at_option(word, option.starts_with('-'));
        }
        self.look_at_value(value, word.glob.is_some());
    }

    /// `--file=/x`, `-C../x`, `-I/usr/include`, `-rf/x`.
    fn look_at_option(&mut self, word: &Word, long: bool) {
        let glob = word.glob.is_some();
        if let Some((_, value)) = word.value.split_once('=') {
            if !value.is_empty() {
                self.look_at_value(value, glob);
            }
            return;
        }
        if long {
            return;
        }
        // Where the letters end and the value begins only the program knows.
        let bytes = word.value.bytes().skip(1);
        let letters = bytes.take_while(u8::is_ascii_alphabetic).count();
        let last = letters.max(1) + 1;
        let glued = (2..=last).filter_map(|at| word.value.get(at..));
        let is_path = |value: &&str| value.starts_with(['/', '~', '.']) || value.contains('/');
        let glued: Vec<String> = glued.filter(is_path).map(str::to_owned).collect();
        for value in glued {
            self.look_at_value(&value, glob);
        }
    }

    fn look_at_value(&mut self, value: &str, glob: bool) {
        let value = value.strip_prefix('@').unwrap_or(value);
        if value.contains("://") || value.is_empty() {
            return;
        }
        if glob {
            return self.look_at_glob(value, Access::Any);
        }
        self.look_at(value, Access::Any);
        // `of=/dev/sda`, `KEY=../x`
        if let Some((_, value)) = value.split_once('=').filter(|(_, v)| !v.is_empty()) {
            self.look_at(value, Access::Any);
        }
    }

    /// What should be a pattern or a program is a path after all if there is something at its
    /// end, and several words if the shell makes them of it.
    fn look_at_text(&mut self, word: &Word) {
        let value = word.value.as_str();
        let leads_out = ["/", "~/", "../"].iter().any(|way| value.starts_with(way));
        if word.glob.is_some() {
            self.look_at_glob(value, Access::Read);
        } else if leads_out && word.is_known() && self.exists(value) {
            self.look_at(value, Access::Look);
        }
    }

    fn exists(&self, value: &str) -> bool {
        let paths = self.surroundings.paths;
        self.directories
            .iter()
            .any(|from| paths.locate(value, from).is_some_and(|found| found.exists))
    }

    /// `HEAD:file`, a name that git knows, or a path.
    fn look_at_revision(&mut self, word: &Word) {
        let value = word.value.as_str();
        if let Some((_, path)) = value.split_once(':').filter(|(_, path)| !path.is_empty()) {
            return self.look_at(path.trim_start_matches('/'), Access::Read);
        }
        let is_path = value.starts_with(['/', '~', '.']) || self.exists(value);
        if word.glob.is_some() {
            self.look_at_glob(value, Access::Read);
        } else if is_path && !value.contains("..") || value.starts_with("../") || value == ".." {
            self.look_at(value, Access::Read);
        } else if value.contains("/..") {
            self.look_at(value, Access::Look);
        }
    }

    fn look_at_word(&mut self, word: &Word, access: Access) {
        if word.value == "-" && word.is_known() {
            return;
        }
        match word.glob.is_some() {
            true => self.look_at_glob(&word.value, access),
            false => self.look_at(&word.value, access),
        }
    }

    pub(super) fn look_at_read(&mut self, word: &Word) {
        self.look_at_word(word, Access::Read);
    }

    pub(super) fn look_at_write(&mut self, word: &Word) {
        if let Some(danger) = Danger::of_device(&word.value) {
            self.analysis.dangers.push(danger);
        }
        if !matches!(
            word.value.as_str(),
            "/dev/stdout" | "/dev/stderr" | "/dev/tty"
        ) {
            self.look_at_word(word, Access::Write);
        }
    }

    pub(super) fn look_at_path(&mut self, value: &str) {
        self.look_at(value, Access::Look);
    }

    /// Only the part before the first wildcard is known; the rest are names that are there.
    fn look_at_glob(&mut self, value: &str, access: Access) {
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

    fn look_at(&mut self, value: &str, access: Access) {
        if matches!(value, "/dev/null" | "-" | "/dev/stdin") {
            return;
        }
        if value.starts_with('~') && value != "~" && !value.starts_with("~/") {
            return self.because(Reason::Unclear);
        }
        for from in self.directories.clone() {
            match self.surroundings.paths.locate(value, &from) {
                Some(found) => self.found(&found, access),
                None => self.because(Reason::Unclear),
            }
        }
    }

    fn found(&mut self, found: &Located, access: Access) {
        if !found.inside {
            let path = found.path.as_path();
            let directory = match found.is_directory {
                true => path,
                false => path.parent().unwrap_or(path),
            };
            self.analysis.outside.insert(directory.to_owned());
        }
        match access {
            Access::Look => {}
            Access::List => {
                self.analysis.lists.insert(found.shown.clone());
            }
            Access::Tree { hidden, follows } if found.is_directory => {
                self.analysis.lists.insert(found.shown.clone());
                self.look_below(&found.path, hidden, follows);
            }
            Access::Read | Access::Tree { .. } => {
                self.analysis.reads.insert(found.shown.clone());
            }
            Access::Write => {
                self.analysis.writes.insert(found.shown.clone());
                self.protect(found);
            }
            Access::Any => {
                if found.exists && !found.is_directory {
                    self.analysis.reads.insert(found.shown.clone());
                }
                self.protect(found);
            }
        }
    }

    fn look_below(&mut self, directory: &Path, hidden: bool, follows: bool) {
        match self.surroundings.paths.notable_below(directory, hidden) {
            Some(notable) => {
                self.analysis.reads.extend(notable.asked_about);
                if follows {
                    self.analysis.outside.extend(notable.outside);
                }
            }
            None => self.because(Reason::TooMany),
        }
    }

    fn protect(&mut self, found: &Located) {
        let home = self.surroundings.home;
        if let Some(protected) = protected::find(&found.shown, home)
            && !self.analysis.protected.contains(&protected)
        {
            self.analysis.protected.push(protected);
        }
    }

    pub(super) fn is_configured_to_run(&self, program: &str) -> bool {
        let paths = self.surroundings.paths;
        let mut directories = self.directories.iter();
        directories.any(|from| paths.is_configured_to_run(program, from))
    }

    /// `[[ … ]]`: it runs nothing.
    pub(super) fn condition_found(&mut self, words: Vec<Word>) {
        self.pattern(joined(&words));
        let knowledge = Knowledge::Understood {
            name: "[[".to_owned(),
            effects: Effects::default(),
        };
        let command = SimpleCommand::new(words, knowledge, false);
        self.analysis.commands.push(command);
    }

    /// Staying in the project needs no permission of its own; later paths may start there.
    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let target = words[1..]
            .iter()
            .find(|word| !matches!(word.value.as_str(), "-P" | "-L" | "--"));
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
        let reached: Vec<PathBuf> = self
            .directories
            .iter()
            .filter_map(|from| paths.locate(&directory.value, from))
            .map(|found| found.path)
            .filter(|path| !self.directories.contains(path))
            .collect();
        self.directories.extend(reached);
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
            c => simple.push(c),
        }
    }
    simple
}
