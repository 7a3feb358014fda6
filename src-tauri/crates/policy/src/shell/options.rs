//! The words of a command, read as its program reads them.

use super::table::{Kind, Operand, Opt, Style, Table, Takes};
use super::word::Word;
use super::{Effects, Reason, git_format, table};

/// What a command does, as far as its program is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Understanding {
    /// The program and its subcommands.
    pub name: String,
    pub effects: Effects,
    pub uses: Vec<Use>,
    /// Commands that it runs itself.
    pub inner: Vec<Vec<Word>>,
    /// Files of the project can make it run other programs.
    pub config: bool,
    /// What "always" offers may stand for other words than these.
    pub wide: bool,
    /// Options in full, without values.
    pub options: Vec<String>,
    /// The words after `--`, where there is one.
    pub after_dashes: Option<Vec<String>>,
}

/// A word and what the program does with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    pub kind: UseKind,
    pub word: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseKind {
    Text,
    Any,
    Read,
    List,
    /// Everything below it; hidden files too, or not.
    Tree {
        hidden: bool,
    },
    Write,
    Remove,
    /// Names that are read in a tree although they are hidden.
    Glob,
    Enter,
    Revision,
}

/// Reads a command by the tables. The first `vouched` words are those of a rule that a person
/// wrote: their options are taken as given. `piped`: it reads another command's output.
pub(super) fn understand(
    program: &str,
    words: &[Word],
    vouched: usize,
    piped: bool,
) -> Result<Understanding, Reason> {
    let table = table::named(program).ok_or(Reason::UnknownProgram)?;
    let reader = Reader {
        words,
        vouched,
        at: 1,
        table,
        read: Understanding {
            name: program.to_owned(),
            effects: table.effects,
            config: table.config,
            wide: table.wide,
            ..Understanding::default()
        },
        operands: Vec::new(),
        replaces_first: false,
        recursive: false,
        piped,
        added: Effects::default(),
    };
    reader.run()
}

struct Reader<'w> {
    words: &'w [Word],
    vouched: usize,
    at: usize,
    table: &'static Table,
    read: Understanding,
    operands: Vec<&'w Word>,
    replaces_first: bool,
    recursive: bool,
    piped: bool,
    /// Of its options, without what the program does anyway.
    added: Effects,
}

impl<'w> Reader<'w> {
    fn run(mut self) -> Result<Understanding, Reason> {
        let mut ended = self.table.style == Style::Words;
        while let Some(word) = self.words.get(self.at) {
            let index = self.at;
            self.at += 1;
            let subcommand_expected = self.table.subcommands && self.operands.is_empty();
            ended |= self.table.style == Style::First && !self.operands.is_empty();
            if !ended && word.may_be_option() {
                if word.value == "--" && word.is_known() {
                    ended = true;
                    let rest = self.words[self.at..].iter();
                    self.read.after_dashes = Some(rest.map(|one| one.value.clone()).collect());
                    if let Some(after) = &self.table.after {
                        self.finish_operands()?;
                        return self.rest_by(after);
                    }
                } else {
                    self.option(word, index)?;
                }
            } else if subcommand_expected && !ended {
                self.subcommand(word)?;
            } else {
                self.operands.push(word);
            }
        }
        if self.table.subcommands && !self.table.alone && self.operands.is_empty() {
            // Only with an option that prints something instead.
            if !self.is_made_reading() {
                return Err(Reason::UnknownSubcommand);
            }
        }
        let lists = |option: &String| self.read.options.contains(option);
        let creates = !self.table.listing.is_empty()
            && !self.operands.is_empty()
            && !self.table.listing.iter().any(lists);
        if creates {
            self.add(Effects::parse("w"));
        }
        self.finish_operands()?;
        if self.is_made_reading() {
            self.read.effects = self.added;
        } else if self.table.opaque {
            return Err(Reason::DoesMore);
        }
        Ok(self.read)
    }

    fn is_made_reading(&self) -> bool {
        let given = |option: &String| self.read.options.contains(option);
        let mut sets = self.table.reads.iter();
        sets.any(|set| set.iter().all(given))
    }

    fn subcommand(&mut self, word: &'w Word) -> Result<(), Reason> {
        let name = format!("{} {}", self.read.name, word.value);
        match table::find(&name).filter(|_| word.is_known()) {
            Some(table) => {
                self.table = table;
                self.read.name = name;
                self.read.effects = table.effects.and(self.added);
                self.read.config |= table.config;
                self.read.wide = table.wide;
                self.read.options.clear();
                Ok(())
            }
            None if self.table.alone && !self.table.operands.is_empty() => {
                self.operands.push(word);
                Ok(())
            }
            None => Err(Reason::UnknownSubcommand),
        }
    }

    fn rest_by(mut self, after: &str) -> Result<Understanding, Reason> {
        let mut words = vec![Word::plain(after)];
        words.extend_from_slice(&self.words[self.at..]);
        let rest = understand(after, &words, self.vouched.saturating_sub(self.at), false)?;
        self.read.effects = self.read.effects.and(rest.effects);
        self.read.uses.extend(rest.uses);
        match self.table.opaque {
            true => Err(Reason::DoesMore),
            false => Ok(self.read),
        }
    }

    fn option(&mut self, word: &'w Word, index: usize) -> Result<(), Reason> {
        let certain = word.certain();
        if certain.is_empty() {
            // A wildcard that may become an option.
            if self.table.any {
                self.operands.push(word);
                return Ok(());
            }
            return Err(match word.unknown {
                Some(_) => Reason::Variable,
                None => Reason::Wildcard,
            });
        }
        let result = if certain.starts_with("--") || self.table.style == Style::Dash {
            self.long(word)
        } else {
            self.cluster(word)
        };
        match result {
            Err(_) if index < self.vouched => {
                self.add(Effects::ALL);
                Ok(())
            }
            result => result,
        }
    }

    fn long(&mut self, word: &'w Word) -> Result<(), Reason> {
        let (name, value) = match word.certain().split_once('=') {
            Some((name, _)) => (name, Some(name.len() + 1)),
            None if word.is_known() => (word.value.as_str(), None),
            None => return Err(Reason::Wildcard),
        };
        let (name, option) = self.lookup(name).ok_or(Reason::UnknownOption)?;
        let value = value.map(|from| Word {
            value: word.value[from..].to_owned(),
            glob: word.glob.map(|at| at - from),
            unknown: word.unknown.map(|at| at - from),
            ..Word::plain("")
        });
        match (&option.takes, value) {
            (Takes::Nothing, Some(_)) => return Err(Reason::UnknownOption),
            (Takes::Value(kind) | Takes::Perhaps(kind), Some(value)) => {
                self.value(kind, &value)?;
            }
            (Takes::Value(kind), None) => self.next_value(kind)?,
            (Takes::Nothing | Takes::Perhaps(_), None) => {}
        }
        self.accept(name, option)
    }

    fn lookup(&self, name: &str) -> Option<(String, &'static Opt)> {
        let name = match (self.table.style, name.strip_prefix("--")) {
            // Programs of this style take two dashes for one.
            (Style::Dash, Some(rest)) if !self.table.options.contains_key(name) => {
                format!("-{rest}")
            }
            _ => name.to_owned(),
        };
        if let Some(option) = self.table.options.get(&name) {
            return Some((name, option));
        }
        if !self.table.complete || !name.starts_with("--") || name.len() < 4 {
            return None;
        }
        let mut matching = self
            .table
            .options
            .iter()
            .filter(|(full, _)| full.starts_with(&name));
        match (matching.next(), matching.next()) {
            (Some((full, option)), None) => Some((full.clone(), option)),
            _ => None,
        }
    }

    fn cluster(&mut self, word: &'w Word) -> Result<(), Reason> {
        let text = word.value.as_str();
        let numeric = text.len() > 1 && text[1..].chars().all(|c| c.is_ascii_digit());
        if numeric && let Some(option) = self.table.options.get("-#") {
            return self.accept("-#".to_owned(), option);
        }
        // Some programs have long options with one dash beside others.
        if text.len() > 2
            && let Some(option) = self.table.options.get(text)
            && word.is_known()
        {
            if let Takes::Value(kind) = &option.takes {
                self.next_value(kind)?;
            }
            return self.accept(text.to_owned(), option);
        }
        for (at, letter) in text.char_indices().skip(1) {
            if at >= word.certain().len() {
                return Err(Reason::Wildcard);
            }
            let name = format!("-{letter}");
            let option = self.table.options.get(&name);
            let option = option.ok_or(Reason::UnknownOption)?;
            let from = at + letter.len_utf8();
            let glued = Word {
                value: text[from..].to_owned(),
                glob: word.glob.map(|at| at.saturating_sub(from)),
                unknown: word.unknown.map(|at| at.saturating_sub(from)),
                ..Word::plain("")
            };
            let digits = glued.value.chars().all(|c| c.is_ascii_digit());
            if self.table.style == Style::Apart && option.takes != Takes::Nothing && !digits {
                return Err(Reason::UnknownOption);
            }
            match &option.takes {
                Takes::Nothing => self.accept(name, option)?,
                Takes::Value(kind) | Takes::Perhaps(kind) if !glued.value.is_empty() => {
                    self.value(kind, &glued)?;
                    return self.accept(name, option);
                }
                Takes::Value(kind) => {
                    self.next_value(kind)?;
                    return self.accept(name, option);
                }
                Takes::Perhaps(_) => return self.accept(name, option),
            }
        }
        Ok(())
    }

    fn accept(&mut self, name: String, option: &Opt) -> Result<(), Reason> {
        self.replaces_first |= option.replaces_first;
        self.recursive |= option.recursive;
        self.add(option.effects);
        self.read.options.push(name);
        match option.refused {
            true if option.effects.executes => Err(Reason::Runs),
            true => Err(Reason::Flag),
            false => Ok(()),
        }
    }

    fn add(&mut self, effects: Effects) {
        self.added = self.added.and(effects);
        self.read.effects = self.read.effects.and(effects);
    }

    fn next_value(&mut self, kind: &Kind) -> Result<(), Reason> {
        let word = self.words.get(self.at).ok_or(Reason::Unclear)?;
        self.at += 1;
        // A wildcard may become several words, the others of which are no value any more.
        if !word.is_known() {
            return Err(Reason::Wildcard);
        }
        self.value(kind, word)
    }

    fn value(&mut self, kind: &Kind, word: &Word) -> Result<(), Reason> {
        if word.unknown.is_some() {
            return Err(Reason::Variable);
        }
        self.note(kind, word)
    }

    fn note(&mut self, kind: &Kind, word: &Word) -> Result<(), Reason> {
        let kind = match kind {
            Kind::Text => UseKind::Text,
            Kind::Name if word.value.contains('=') || word.value.starts_with(['+', ':', '@']) => {
                return Err(Reason::UnknownWord);
            }
            Kind::Name => UseKind::Text,
            // Many programs read more words from such a file.
            Kind::Any if word.value.starts_with('@') && self.table.style != Style::Words => {
                return Err(Reason::UnknownWord);
            }
            Kind::Any => UseKind::Any,
            Kind::Remote if word.value.contains(['/', ':', '\\', '@']) => {
                return Err(Reason::UnknownWord);
            }
            Kind::Format if !git_format::is_plain(&word.value) => return Err(Reason::Runs),
            Kind::Field if !git_format::is_field(&word.value) => return Err(Reason::UnknownWord),
            Kind::Remote | Kind::Format | Kind::Field => UseKind::Text,
            Kind::Glob => UseKind::Glob,
            Kind::FileType => {
                self.read.uses.push(Use {
                    kind: UseKind::Glob,
                    word: Word::plain(names_of(&word.value)),
                });
                return Ok(());
            }
            Kind::Read if self.recursive => UseKind::Tree { hidden: true },
            Kind::Read => UseKind::Read,
            Kind::List => UseKind::List,
            Kind::Tree => UseKind::Tree {
                hidden: self.recursive,
            },
            Kind::Write => {
                self.add(Effects::parse("w"));
                UseKind::Write
            }
            Kind::Replace => {
                self.add(Effects::parse("w"));
                let kind = match self.recursive {
                    true => UseKind::Tree { hidden: true },
                    false => UseKind::Read,
                };
                self.read.uses.push(Use {
                    kind,
                    word: word.clone(),
                });
                UseKind::Write
            }
            Kind::Remove => {
                self.add(Effects::parse("w"));
                UseKind::Remove
            }
            Kind::Enter => UseKind::Enter,
            Kind::Revision => UseKind::Revision,
            Kind::Choice(choices) => {
                return match word.is_known() && choices.contains(&word.value) {
                    true => Ok(()),
                    false => Err(Reason::UnknownOption),
                };
            }
        };
        self.read.uses.push(Use {
            kind,
            word: word.clone(),
        });
        Ok(())
    }

    fn finish_operands(&mut self) -> Result<(), Reason> {
        let slots: &[Operand] = &self.table.operands;
        let slots = &slots[usize::from(self.replaces_first && !slots.is_empty())..];
        let mut slot = 0;
        for word in std::mem::take(&mut self.operands) {
            let operand = slots.get(slot).ok_or(Reason::UnknownWord)?;
            if word.unknown.is_some() {
                // Printed, and nothing else.
                let printed = self.table.any && operand.kind == Kind::Text && operand.repeats;
                if !printed {
                    return Err(Reason::Variable);
                }
            }
            let kind = match operand.repeats || word.is_known() {
                true => &operand.kind,
                // It may become several words.
                false if self.table.any => &Kind::Read,
                false => return Err(Reason::Wildcard),
            };
            self.note(kind, word)?;
            if !operand.repeats {
                slot += 1;
            }
        }
        let reads_tree = |operand: &Operand| match operand.kind {
            Kind::Tree => true,
            Kind::Read => self.recursive,
            _ => false,
        };
        let missing = slots.get(slot..).unwrap_or_default();
        let last_given = self.read.uses.last().map(|one| one.kind);
        let given = matches!(last_given, Some(UseKind::Tree { .. }));
        if missing.iter().any(reads_tree) && !given && !self.piped {
            self.note(&Kind::Tree, &Word::plain("."))?;
        }
        Ok(())
    }
}

/// The names that a kind of files has for `rg`. Of one that is not listed, any name.
fn names_of(kind: &str) -> &'static str {
    match kind {
        "rust" => "*.rs",
        "py" | "python" => "*.py*",
        "js" => "*.*js*",
        "ts" | "typescript" => "*.*ts*",
        "go" => "*.go",
        "java" => "*.java",
        "c" => "*.{c,h}*",
        "cpp" => "*.{c,h,i}*",
        "css" => "*.*css",
        "html" => "*.*htm*",
        "md" | "markdown" => "*.m*d*",
        "toml" => "*.toml",
        "swift" => "*.swift",
        "kotlin" => "*.kt*",
        "svelte" => "*.svelte",
        "vue" => "*.vue",
        _ => "*",
    }
}
