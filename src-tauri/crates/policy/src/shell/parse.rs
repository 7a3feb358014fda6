//! From the text of a script to its parts.
//!
//! This is the grammar of bash without the rare parts. What is not known here is an error,
//! never a guess: an error makes the command opaque. Words are read in [`super::lex`].

mod compound;

use std::collections::BTreeSet;

use super::Reason;
use super::syntax::{
    Assignment, HereDocument, Joint, Node, RawWord, Redirect, RedirectOperator, Script, Simple,
};

/// Scripts and blocks inside each other; deeper ones are not looked at.
const DEEPEST: usize = 24;

pub(super) type Parsed<T> = Result<T, Reason>;

pub(super) struct Parser {
    pub chars: Vec<char>,
    pub at: usize,
    pub depth: usize,
    /// Doubts about texts that could be read all the same.
    pub doubts: BTreeSet<Reason>,
    pub here_documents: Vec<HereDocument>,
    /// Delimiters whose bodies follow after the line, and whether they were quoted.
    pub pending: Vec<PendingDocument>,
}

pub(super) struct PendingDocument {
    pub delimiter: String,
    pub quoted: bool,
    /// `<<-`: tabs at the start of a line do not count.
    pub strips_tabs: bool,
}

pub(super) struct Outcome {
    /// All statements before the error, if there was one.
    pub script: Script,
    pub error: Option<Reason>,
    pub doubts: BTreeSet<Reason>,
    pub here_documents: Vec<HereDocument>,
}

pub(super) fn parse(source: &str) -> Outcome {
    let mut parser = Parser::new(source, 0);
    let mut script = Vec::new();
    let error = parser.statements(&[], &mut script).err();
    Outcome {
        script,
        error: error.or((!parser.pending.is_empty()).then_some(Reason::ParseError)),
        doubts: parser.doubts,
        here_documents: parser.here_documents,
    }
}

/// Words with a meaning of their own where a command may begin.
const CLOSING: [&str; 9] = [
    "then", "elif", "else", "fi", "do", "done", "esac", "}", "in",
];

impl Parser {
    pub fn new(source: &str, depth: usize) -> Self {
        Self {
            chars: source.chars().collect(),
            at: 0,
            depth,
            doubts: BTreeSet::new(),
            here_documents: Vec::new(),
            pending: Vec::new(),
        }
    }

    pub fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    pub fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Blanks, escaped line breaks and comments, up to the next token.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek(0) != Some('\n') {
                return Ok(());
            }
            self.line_break()?;
        }
    }

    /// The bodies of here-documents begin on the next line.
    fn line_break(&mut self) -> Parsed<()> {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.here_document(&document)?;
        }
        Ok(())
    }

    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(Reason::Unclear);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Statements up to one of the closing words or to the end of the text; returns the word.
    pub fn statements(&mut self, closing: &[&str], script: &mut Script) -> Parsed<String> {
        loop {
            self.skip_lines()?;
            if let Some(end) = self.closed_by(closing)? {
                return Ok(end);
            }
            let node = self.chain()?;
            self.skip_blanks();
            let background = self.peek(0) == Some('&') && !self.starts_with("&&");
            if background {
                script.push(Node::Background(Box::new(node)));
            } else {
                script.push(node);
            }
            match self.peek(0) {
                _ if background => self.at += 1,
                Some(';') if !self.starts_with(";;") && !self.starts_with(";&") => self.at += 1,
                Some('\n' | ')' | ';') | None => {}
                // A closing word needs a separator before it.
                Some(_) => return Err(Reason::ParseError),
            }
        }
    }

    fn closed_by(&mut self, closing: &[&str]) -> Parsed<Option<String>> {
        let Some(next) = self.peek(0) else {
            let complete = closing.is_empty();
            return complete
                .then(|| Some(String::new()))
                .ok_or(Reason::ParseError);
        };
        for symbol in [")", ";;&", ";;", ";&"] {
            if self.starts_with(symbol) {
                let wanted = if symbol == ")" { ")" } else { ";;" };
                if !closing.contains(&wanted) {
                    return Err(Reason::ParseError);
                }
                self.take(symbol);
                return Ok(Some(wanted.to_owned()));
            }
        }
        if matches!(next, ';' | '&' | '|') && !self.starts_with("&>") {
            return Err(Reason::ParseError);
        }
        let start = self.at;
        match self.keyword()? {
            Some(word) if closing.contains(&word.as_str()) => Ok(Some(word)),
            Some(word) if CLOSING.contains(&word.as_str()) && word != "in" => {
                Err(Reason::ParseError)
            }
            _ => {
                self.at = start;
                Ok(None)
            }
        }
    }

    /// The next word, if it is a bare one that could be a keyword.
    fn keyword(&mut self) -> Parsed<Option<String>> {
        let start = self.at;
        let mut word = String::new();
        while let Some(c) = self.peek(0) {
            let part = c.is_ascii_alphabetic() || "{}[]!".contains(c);
            if !part {
                break;
            }
            word.push(c);
            self.at += 1;
        }
        let ends = match self.peek(0) {
            None => true,
            Some(c) => " \t\n;&|()<>".contains(c),
        };
        // An escaped line break may go on with the word.
        if word.is_empty() || !ends {
            self.at = start;
            return Ok(None);
        }
        Ok(Some(word))
    }

    fn chain(&mut self) -> Parsed<Node> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = match () {
                () if self.take("&&") => Joint::And,
                () if self.take("||") => Joint::Or,
                () => break,
            };
            self.skip_lines()?;
            rest.push((joint, self.pipeline()?));
        }
        Ok(match rest.is_empty() {
            true => first,
            false => Node::Chain(Box::new(first), rest),
        })
    }

    fn pipeline(&mut self) -> Parsed<Node> {
        loop {
            let start = self.at;
            match self.keyword()?.as_deref() {
                Some("!") => self.skip_blanks(),
                Some("time") => {
                    self.skip_blanks();
                    if self.starts_with("-p ") {
                        self.at += 2;
                        self.skip_blanks();
                    }
                    // Of the keyword this is no option, but of the program of the same name.
                    if self.peek(0) == Some('-') {
                        return Err(Reason::Unclear);
                    }
                }
                _ => {
                    self.at = start;
                    break;
                }
            }
        }
        let mut parts = vec![self.nested(Self::command)?];
        loop {
            self.skip_blanks();
            if self.starts_with("||") || !self.take("|") {
                break;
            }
            self.take("&");
            self.skip_lines()?;
            parts.push(self.nested(Self::command)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Node::Pipeline(parts),
        })
    }

    fn command(&mut self) -> Parsed<Node> {
        self.skip_blanks();
        if self.starts_with("((") {
            return Err(Reason::Unclear);
        }
        if self.take("(") {
            return self.group(")", true);
        }
        let start = self.at;
        match self.keyword()?.as_deref() {
            Some("{") => self.group("}", false),
            Some("if") => self.branches(),
            Some("while" | "until") => self.repeated(),
            Some("for") => self.counted(),
            Some("case") => self.cases(),
            Some("function") => self.function_keyword(),
            Some("[[") => self.condition(),
            Some("coproc" | "select") => Err(Reason::Unclear),
            _ => {
                self.at = start;
                self.simple()
            }
        }
    }

    fn group(&mut self, close: &str, subshell: bool) -> Parsed<Node> {
        let mut body = Vec::new();
        self.statements(&[close], &mut body)?;
        Ok(Node::Group {
            body,
            redirects: self.redirects()?,
            subshell,
        })
    }

    fn simple(&mut self) -> Parsed<Node> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            let Some(word) = self.word()? else { break };
            // A keyword that was split over two lines.
            let starts = simple.words.is_empty() && simple.assignments.is_empty();
            if starts && word.literal().is_some_and(|word| is_keyword(&word)) {
                return Err(Reason::Unclear);
            }
            if simple.words.is_empty()
                && let Some(assignment) = assignment(&word)
            {
                simple.assignments.push(assignment);
            } else {
                simple.words.push(word);
            }
            if self.peek(0) == Some('(') || self.function_follows(&simple) {
                return self.definition(&simple);
            }
        }
        let empty =
            simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        match empty {
            true => Err(Reason::ParseError),
            false => Ok(Node::Simple(simple)),
        }
    }

    fn function_follows(&self, simple: &Simple) -> bool {
        let mut ahead = 0;
        while matches!(self.peek(ahead), Some(' ' | '\t')) {
            ahead += 1;
        }
        simple.words.len() == 1 && self.peek(ahead) == Some('(')
    }

    fn definition(&mut self, simple: &Simple) -> Parsed<Node> {
        let named =
            simple.words.len() == 1 && simple.assignments.is_empty() && simple.redirects.is_empty();
        self.skip_blanks();
        if !named || !self.take("(") {
            return Err(Reason::ParseError);
        }
        self.skip_blanks();
        match self.take(")") {
            true => self.function_body(),
            false => Err(Reason::ParseError),
        }
    }

    fn redirects(&mut self) -> Parsed<Vec<Redirect>> {
        let mut found = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => found.push(redirect),
                None => return Ok(found),
            }
        }
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        use RedirectOperator::{Both, Duplicate, HereDocument, HereString, Read, Write};
        let mut digits = 0;
        while self.peek(digits).is_some_and(|c| c.is_ascii_digit()) {
            digits += 1;
        }
        let is_angle = |c: Option<char>| matches!(c, Some('<' | '>'));
        if digits > 0 && !is_angle(self.peek(digits)) {
            return Ok(None);
        }
        let start = self.at;
        self.at += digits;
        let operators = [
            ("<<<", HereString),
            ("<<-", HereDocument),
            ("<<", HereDocument),
            ("<&", Duplicate),
            ("<>", Both),
            ("<", Read),
            (">>", Write),
            (">|", Write),
            (">&", Duplicate),
            (">", Write),
            ("&>>", Write),
            ("&>", Write),
        ];
        let process = is_angle(self.peek(0)) && self.peek(1) == Some('(');
        let found = operators.iter().find(|(text, _)| self.starts_with(text));
        let Some((text, operator)) = found.filter(|_| !process) else {
            self.at = start;
            return Ok(None);
        };
        self.take(text);
        // In zsh `>!` writes the file behind it.
        if matches!(operator, Write | Duplicate) && self.peek(0) == Some('!') {
            return Err(Reason::Unclear);
        }
        self.skip_blanks();
        let target = self.word()?.ok_or(Reason::ParseError)?;
        if *operator == HereDocument {
            let document = Self::pending(&target, *text == "<<-");
            self.pending.push(document);
        }
        Ok(Some(Redirect {
            operator: *operator,
            target,
        }))
    }
}

fn is_keyword(word: &str) -> bool {
    const OPENING: [&str; 11] = [
        "if", "while", "until", "for", "case", "function", "select", "coproc", "[[", "{", "!",
    ];
    OPENING.contains(&word) || (CLOSING.contains(&word) && word != "in")
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `name=value`, with a name that is not quoted.
fn assignment(word: &RawWord) -> Option<Assignment> {
    use super::syntax::Unit;
    let equals = word.units.iter().position(|unit| {
        matches!(
            unit,
            Unit::Char {
                c: '=',
                quoted: false
            }
        )
    })?;
    let plain = |unit: &Unit| match unit {
        Unit::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    let target = word.units[..equals].iter();
    // A subscript may hold anything.
    let bracket = word.units[..equals].iter().position(|unit| {
        matches!(
            unit,
            Unit::Char {
                c: '[',
                quoted: false
            }
        )
    });
    let name: Option<String> = match bracket {
        Some(at) => word.units[..at].iter().map(plain).collect(),
        None => target.map(plain).collect(),
    };
    let name = name?;
    let added = name.ends_with('+');
    let name = name.trim_end_matches('+').to_owned();
    let subscript = bracket.map(|at| RawWord {
        units: word.units[at + 1..equals].to_vec(),
    });
    is_name(&name).then(|| Assignment {
        name,
        complex: added || subscript.is_some(),
        subscript,
        value: RawWord {
            units: word.units[equals + 1..].to_vec(),
        },
    })
}
