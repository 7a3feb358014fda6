//! Which words are paths, and where they lead.

mod names;
mod tracked;

use std::path::Path;

use super::knowledge::{Knowledge, SimpleCommand, joined};
use super::options::{Understanding, UseKind};
use super::word::Word;
use super::{Danger, Effects, Findings, Located, Reason, SearchPattern};
use crate::protected;

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
    /// The directories that an option of it enters.
    pub(super) fn enter_of(&mut self, read: &Understanding) {
        for one in read.uses.iter().filter(|one| one.kind == UseKind::Enter) {
            self.enter(&one.word);
        }
    }

    /// Notes all paths of an understood command; returns the commands that it runs itself.
    pub(super) fn look_at_uses(
        &mut self,
        read: &Understanding,
        effects: Effects,
    ) -> Vec<Vec<Word>> {
        let follows = follows_links(read);
        // What is not understood may choose any hidden file.
        let chosen: Option<Vec<SearchPattern>> = read
            .uses
            .iter()
            .filter(|one| one.kind == UseKind::Glob && !one.word.value.starts_with('!'))
            .map(|one| SearchPattern::parse(&one.word.value))
            .collect();
        for one in &read.uses {
            let word = &one.word;
            match one.kind {
                UseKind::Text => self.look_at_text(word),
                UseKind::List => self.look_at_word(word, Access::List),
                UseKind::Read => self.look_at_word(word, Access::Read),
                UseKind::Tree { hidden } => {
                    let hidden = hidden || chosen.is_none();
                    self.look_at_word(word, Access::Tree { hidden, follows });
                    if let Some(chosen) = chosen.as_ref().filter(|_| !hidden) {
                        self.look_at_chosen(word, chosen);
                    }
                }
                UseKind::Write => self.look_at_word(word, Access::Write),
                UseKind::Remove => {
                    self.look_at_word(word, Access::Write);
                    self.protect_project(word);
                }
                UseKind::Any if effects.only_reads() => self.look_at_word(word, Access::Read),
                UseKind::Any => self.look_at_any(word),
                UseKind::Revision => self.look_at_revision(word, effects),
                UseKind::Enter | UseKind::Glob => {}
            }
        }
        self.look_at_tracked(read);
        self.look_at_landing(read);
        if !effects.only_reads() {
            self.look_at_directories();
        }
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
    fn look_at_revision(&mut self, word: &Word, effects: Effects) {
        let value = word.value.as_str();
        if value.contains(':') {
            // There are colons in dates and before numbers too.
            let paths = value.match_indices(':').map(|(at, _)| &value[at + 1..]);
            for path in paths.filter(|path| !path.is_empty()) {
                self.look_at(path.trim_start_matches('/'), Access::Read);
            }
            return;
        }
        if effects.writes && word.is_known() && self.exists(value) {
            self.look_at(value, Access::Any);
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
                if let Some(protected) = protected::find_below(&found.shown) {
                    self.note_protected(protected);
                }
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
        if let Some(protected) = protected::find(&found.shown, home) {
            self.note_protected(protected);
        }
    }

    fn note_protected(&mut self, protected: protected::Protected) {
        if !self.analysis.protected.contains(&protected) {
            self.analysis.protected.push(protected);
        }
    }

    /// With the project or a folder around it, git's own files would go too.
    pub(super) fn protect_project(&mut self, word: &Word) {
        let paths = self.surroundings.paths;
        let own = self.surroundings.directory;
        for from in self.directories.clone() {
            let found = paths.locate(word.certain(), &from);
            if let Some(found) = found.filter(|found| own.starts_with(&found.path)) {
                self.note_protected(protected::whole_project(&found.shown));
            }
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
}

/// Whether it reads what links below a directory lead to. Only these are known not to.
fn follows_links(read: &Understanding) -> bool {
    const STAY: [&str; 10] = [
        "grep", "egrep", "fgrep", "ggrep", "rg", "ripgrep", "ag", "cp", "mv", "ln",
    ];
    let follows = |option: &String| {
        matches!(
            option.as_str(),
            "-R" | "--dereference-recursive" | "-L" | "--dereference"
        )
    };
    let stays = STAY.contains(&read.name.as_str()) && !read.options.iter().any(follows);
    !stays || !read.inner.is_empty()
}
