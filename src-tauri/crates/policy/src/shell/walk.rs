//! The way through a parsed script, down to its simple commands.

use std::collections::BTreeSet;

use super::commands::Place;
use super::parse::{self, is_name};
use super::syntax::{Assignment, Joint, Node, RawWord, Redirect, RedirectOperator, Script, Simple};
use super::word::{self, Word};
use super::{Danger, Findings, Reason, parameter, raw};

/// Scripts inside scripts; deeper ones are not looked at.
const DEEPEST: usize = 3;
/// More ways to read one command are not looked at.
const MOST_READINGS: usize = 24;

impl Findings<'_> {
    pub(super) fn script(&mut self, source: &str, depth: usize) {
        if raw::is_deceptive(source) {
            self.because(Reason::Deceptive);
        }
        if depth > DEEPEST {
            self.hides(Reason::ParseError);
            return self.pattern(source.trim().to_owned());
        }
        let parsed = parse::parse(source);
        for doubt in parsed.doubts {
            self.because(doubt);
        }
        for document in &parsed.here_documents {
            self.because(Reason::Heredoc);
            for inner in &document.inner {
                self.because(Reason::Substitution);
                self.statements(
                    inner,
                    Place {
                        depth,
                        ..Place::default()
                    },
                );
            }
        }
        self.here_documents.extend(parsed.here_documents);
        self.statements(
            &parsed.script,
            Place {
                depth,
                ..Place::default()
            },
        );
        if let Some(error) = parsed.error {
            self.hides(error);
            self.pattern(source.trim().to_owned());
        }
    }

    fn statements(&mut self, script: &Script, place: Place) {
        for node in script {
            self.visit(node, place);
        }
    }

    fn visit(&mut self, node: &Node, place: Place) {
        match node {
            Node::Simple(simple) => self.simple(simple, place),
            Node::Pipeline(parts) => self.pipeline(parts, place),
            Node::Chain(first, rest) => self.chain(first, rest, place),
            Node::Background(node) => self.apart(|findings| findings.visit(node, place)),
            Node::Group {
                body,
                redirects,
                subshell,
            } => {
                self.redirects(redirects, place);
                match subshell {
                    true => self.apart(|findings| findings.statements(body, place)),
                    false => self.statements(body, place),
                }
            }
            Node::Branches {
                parts,
                redirects,
                repeats,
            } => {
                self.redirects(redirects, place);
                self.uncertain(parts, *repeats, place);
            }
            Node::For {
                name,
                words,
                body,
                redirects,
            } => {
                self.redirects(redirects, place);
                self.for_each(name, words.as_deref(), body, place);
            }
            Node::Case {
                words,
                parts,
                redirects,
            } => {
                self.redirects(redirects, place);
                for word in words {
                    self.expanded(word, place);
                }
                self.uncertain(parts, false, place);
            }
            Node::Function { body } => {
                self.because(Reason::Definition);
                self.visit(body, place);
            }
            Node::Condition { words, redirects } => {
                self.redirects(redirects, place);
                self.condition(words, place);
            }
        }
    }

    fn pipeline(&mut self, parts: &[Node], place: Place) {
        let before = self.analysis.patterns.len();
        for (at, part) in parts.iter().enumerate() {
            let place = Place {
                piped: place.piped || at > 0,
                ..place
            };
            self.apart(|findings| findings.visit(part, place));
        }
        let patterns = &self.analysis.patterns[before..];
        if let Some(danger) = Danger::of_pipeline(patterns) {
            self.analysis.dangers.push(danger);
        }
    }

    /// What is set in a shell of its own is not set behind it.
    fn apart(&mut self, visit: impl FnOnce(&mut Self)) {
        let variables = self.variables.set.clone();
        visit(self);
        self.variables.set = variables;
    }

    fn chain(&mut self, first: &Node, rest: &[(Joint, Node)], place: Place) {
        self.visit(first, place);
        let certain = self.variables.set.clone();
        let mut assigned = BTreeSet::new();
        for (joint, node) in rest {
            if *joint == Joint::Or {
                self.forget(&assigned);
            }
            names_set(node, &mut assigned);
            self.visit(node, place);
        }
        self.variables.set = certain;
        self.forget(&assigned);
    }

    fn forget(&mut self, names: &BTreeSet<String>) {
        for name in names {
            self.variables.set.insert(name.clone(), None);
        }
    }

    /// Each part may run or not.
    fn uncertain(&mut self, parts: &[Script], repeats: bool, place: Place) {
        let mut assigned = BTreeSet::new();
        for node in parts.iter().flatten() {
            names_set(node, &mut assigned);
        }
        if repeats {
            self.forget(&assigned);
        }
        let before = self.variables.set.clone();
        for part in parts {
            self.statements(part, place);
            if repeats {
                self.forget(&assigned);
            }
        }
        self.variables.set = before;
        self.forget(&assigned);
    }

    fn for_each(&mut self, name: &str, words: Option<&[RawWord]>, body: &Script, place: Place) {
        let before = self.analysis.reasons.len();
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            values.extend(self.expanded(word, place).into_iter().flatten().flatten());
        }
        let known = self.analysis.reasons.len() == before
            && words.is_some()
            && !values.is_empty()
            && values.len() <= MOST_READINGS
            && values.iter().all(|value| value.unknown.is_none())
            && is_ordinary(name);
        let mut assigned = BTreeSet::new();
        for node in body {
            names_set(node, &mut assigned);
        }
        let set_again = assigned.contains(name);
        self.forget(&assigned);
        if !is_ordinary(name) {
            self.because(Reason::Assignment);
        }
        let values = Some(values).filter(|_| known && !set_again);
        self.variables.set.insert(name.to_owned(), values);
        self.statements(body, place);
        self.forget(&assigned);
        self.variables.set.insert(name.to_owned(), None);
    }

    fn simple(&mut self, simple: &Simple, place: Place) {
        self.redirects(&simple.redirects, place);
        for assignment in &simple.assignments {
            self.assignment(assignment, simple.words.is_empty(), place);
        }
        let mut readings: Vec<Vec<Word>> = vec![Vec::new()];
        for raw in &simple.words {
            let Some(alternatives) = self.expanded(raw, place) else {
                continue;
            };
            if readings.len() * alternatives.len() > MOST_READINGS {
                self.because(Reason::Unclear);
            }
            let joined = readings.iter().flat_map(|words| {
                alternatives
                    .iter()
                    .map(move |more| [words.as_slice(), more].concat())
            });
            readings = joined.take(MOST_READINGS).collect();
        }
        for words in readings {
            // In zsh it is the path of a program.
            let is_path = |word: &Word| {
                let named = word.value.strip_prefix('=').unwrap_or_default();
                word.bare && !named.is_empty() && !named.starts_with(['=', '~'])
            };
            if words.iter().skip(1).any(is_path) {
                self.because(Reason::Variable);
            }
            self.command(words, place);
        }
    }

    /// The words it becomes, one list for each way to read it.
    fn expanded(&mut self, raw: &RawWord, place: Place) -> Option<Vec<Vec<Word>>> {
        for inner in raw.inner() {
            self.apart(|findings| {
                let place = Place {
                    depth: place.depth,
                    ..Place::default()
                };
                findings.statements(inner, place);
            });
        }
        let mut doubts = Vec::new();
        let alternatives = word::expand(raw, &self.variables, &mut |doubt| doubts.push(doubt));
        for doubt in doubts {
            self.because(doubt);
        }
        Some(alternatives)
    }

    fn assignment(&mut self, assignment: &Assignment, for_shell: bool, place: Place) {
        let before = self.analysis.reasons.len();
        let raw = &assignment.value;
        for inner in raw.inner() {
            self.statements(inner, place);
        }
        if let Some(subscript) = &assignment.subscript {
            self.subscript(subscript, place);
        }
        let mut doubts = Vec::new();
        let values = word::assemble(&raw.units, &self.variables, &mut |doubt| doubts.push(doubt));
        for doubt in doubts {
            self.because(doubt);
        }
        if !for_shell {
            let value = values.first().map_or("", |value| value.value.as_str());
            let text = format!("{}={value}", assignment.name);
            match assignment.complex || values.len() != 1 {
                true => self.because(Reason::Assignment),
                false => self.assignment_for_command(&text),
            }
            return;
        }
        let known = self.analysis.reasons.len() == before
            && !assignment.complex
            && is_ordinary(&assignment.name)
            && values.iter().all(Word::is_known);
        self.because(Reason::Assignment);
        let values = Some(values).filter(|_| known);
        self.variables.set.insert(assignment.name.clone(), values);
    }

    /// It is evaluated, which can run commands, unless it is a number.
    fn subscript(&mut self, subscript: &RawWord, place: Place) {
        for inner in subscript.inner() {
            self.statements(inner, place);
        }
        let text = subscript.literal().unwrap_or_default();
        let number = text.trim_end_matches('+').strip_suffix(']');
        if !number.is_some_and(parameter::is_digits) {
            self.because(Reason::Hidden);
        }
    }

    /// `[[ … ]]` with tests of files and texts. Numbers are evaluated, which can run commands.
    fn condition(&mut self, words: &[RawWord], place: Place) {
        const PLAIN: [&str; 15] = [
            "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-n", "-z", "!", "==", "=", "!=",
        ];
        const EVALUATES_NOTHING: [&str; 15] = [
            "=~", "-nt", "-ot", "-ef", "-t", "-p", "-S", "-b", "-c", "-g", "-u", "-k", "-O", "-G",
            "-N",
        ];
        let mut text = vec!["[[".to_owned()];
        for word in words {
            let shown = match word.literal() {
                Some(literal) => {
                    if EVALUATES_NOTHING.contains(&literal.as_str()) {
                        self.because(Reason::Unclear);
                    } else if literal.starts_with('-') && !PLAIN.contains(&literal.as_str()) {
                        self.hides(Reason::Unclear);
                    }
                    literal
                }
                None => {
                    let words = self.expanded(word, place).unwrap_or_default();
                    let words = words.into_iter().flatten();
                    words.map(|word| word.canonical()).collect()
                }
            };
            if !PLAIN.contains(&shown.as_str()) && shown.contains('/') {
                self.look_at_path(&shown);
            }
            text.push(shown);
        }
        text.push("]]".to_owned());
        let words = text.iter().map(|word| Word::plain(word)).collect();
        self.condition_found(words);
    }

    fn redirects(&mut self, redirects: &[Redirect], place: Place) {
        for redirect in redirects {
            self.redirect(redirect, place);
        }
    }

    /// Joining the two outputs and throwing output away touch no file.
    fn redirect(&mut self, redirect: &Redirect, place: Place) {
        use RedirectOperator::{Duplicate, HereDocument, HereString, Read};
        if redirect.operator == HereDocument {
            return self.because(Reason::Heredoc);
        }
        let readings = self.expanded(&redirect.target, place).unwrap_or_default();
        if redirect.operator == HereString {
            return self.because(Reason::Heredoc);
        }
        for target in readings.into_iter().flatten() {
            let digits =
                !target.value.is_empty() && target.value.chars().all(|c| c.is_ascii_digit());
            let closes = target.value == "-";
            if redirect.operator == Duplicate && target.is_known() && (digits || closes) {
                continue;
            }
            if target.is_known() && target.value == "/dev/null" {
                continue;
            }
            self.because(Reason::Redirect);
            match redirect.operator {
                Read => self.look_at_read(&target),
                _ => self.look_at_write(&target),
            }
        }
    }
}

/// No variable that the shell or programs give a meaning to.
fn is_ordinary(name: &str) -> bool {
    let reserved = name.ends_with("_proxy") || matches!(name, "histchars" | "path" | "fpath");
    let lower = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_name(name) && !reserved && lower && name != "_"
}

/// The variables that a statement may set.
fn names_set(node: &Node, names: &mut BTreeSet<String>) {
    let mut all = |script: &Script| script.iter().for_each(|node| names_set(node, names));
    match node {
        Node::Simple(simple) => {
            let set = simple.assignments.iter().map(|one| one.name.clone());
            names.extend(set.filter(|_| simple.words.is_empty()));
        }
        Node::Pipeline(parts) => parts.iter().for_each(|node| names_set(node, names)),
        Node::Chain(first, rest) => {
            names_set(first, names);
            rest.iter().for_each(|(_, node)| names_set(node, names));
        }
        Node::Background(node) | Node::Function { body: node } => names_set(node, names),
        Node::Group { body, .. } => all(body),
        Node::Branches { parts, .. } | Node::Case { parts, .. } => parts.iter().for_each(all),
        Node::For { name, body, .. } => {
            all(body);
            names.insert(name.clone());
        }
        Node::Condition { .. } => {}
    }
}
