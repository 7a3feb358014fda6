//! Words: quotes, escapes, variables and substitutions, and the bodies of here-documents.

use super::Reason;
use super::parameter;
use super::parse::{Parsed, Parser, PendingDocument, is_name};
use super::syntax::{HereDocument, RawWord, Script, Unit};

impl Parser {
    /// The next word, if there is one before the next operator.
    pub fn word(&mut self) -> Parsed<Option<RawWord>> {
        let mut units = Vec::new();
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' if self.peek(1) == Some('(') => self.process(&mut units)?,
                '<' | '>' => {
                    // `{name}>file` opens a descriptor into a variable.
                    let word = RawWord { units };
                    let literal = word.literal().unwrap_or_default();
                    if literal.starts_with('{') && literal.ends_with('}') && literal.len() > 2 {
                        return Err(Reason::Unclear);
                    }
                    units = word.units;
                    break;
                }
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\\' => {
                    let Some(escaped) = self.peek(1) else {
                        self.doubts.insert(Reason::Deceptive);
                        self.at += 1;
                        break;
                    };
                    self.at += 2;
                    units.push(Unit::Char {
                        c: escaped,
                        quoted: true,
                    });
                }
                '\'' => self.single(&mut units)?,
                '"' => self.double(&mut units)?,
                '`' => self.backticks(false, &mut units)?,
                '$' => self.dollar(false, &mut units)?,
                c => {
                    self.at += 1;
                    units.push(Unit::Char { c, quoted: false });
                }
            }
        }
        Ok((!units.is_empty()).then_some(RawWord { units }))
    }

    fn single(&mut self, units: &mut Vec<Unit>) -> Parsed<()> {
        self.at += 1;
        units.push(Unit::Quotes);
        loop {
            let c = self.peek(0).ok_or(Reason::ParseError)?;
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            units.push(Unit::Char { c, quoted: true });
        }
    }

    fn double(&mut self, units: &mut Vec<Unit>) -> Parsed<()> {
        self.at += 1;
        units.push(Unit::Quotes);
        loop {
            match self.peek(0).ok_or(Reason::ParseError)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                c => self.expanded(c, "\"\\$`", units)?,
            }
        }
    }

    /// One character where expansion happens but nothing else: in double quotes, in a
    /// here-document.
    fn expanded(&mut self, c: char, escapable: &str, units: &mut Vec<Unit>) -> Parsed<()> {
        match (c, self.peek(1)) {
            ('\\', Some('\n')) => self.at += 2,
            ('\\', Some(next)) if escapable.contains(next) => {
                self.at += 2;
                units.push(Unit::Char {
                    c: next,
                    quoted: true,
                });
            }
            ('`', _) => self.backticks(true, units)?,
            ('$', _) => self.dollar(true, units)?,
            _ => {
                self.at += 1;
                units.push(Unit::Char { c, quoted: true });
            }
        }
        Ok(())
    }

    fn dollar(&mut self, quoted: bool, units: &mut Vec<Unit>) -> Parsed<()> {
        let start = self.at;
        match self.peek(1) {
            Some('(') if self.peek(2) == Some('(') => self.arithmetic(units),
            Some('(') => {
                self.at += 2;
                let script = self.substituted()?;
                self.unknown(start, Reason::Substitution, vec![script], quoted, units);
                Ok(())
            }
            Some('{') => self.parameter(quoted, units),
            Some('[') => Err(Reason::Unclear),
            // In zsh these expand the variable behind them, and can evaluate what it holds.
            Some('=' | '~' | '^' | '+') if self.peek(2).is_some_and(may_be_name) => {
                self.at += 2;
                self.unknown(start, Reason::Hidden, Vec::new(), quoted, units);
                Ok(())
            }
            Some('\'') if !quoted => self.ansi(units),
            Some('"') if !quoted => {
                self.doubts.insert(Reason::Unclear);
                self.at += 1;
                self.double(units)
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.at += 1;
                let mut name = String::new();
                while let Some(c) = self
                    .peek(0)
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                    self.at += 1;
                }
                // An escaped line break does not end the name.
                if self.starts_with("\\\n") {
                    self.doubts.insert(Reason::Deceptive);
                }
                self.variable(start, name, quoted, units);
                Ok(())
            }
            // In zsh `$#name` is a length, and a subscript behind it is evaluated.
            Some('#')
                if self
                    .peek(2)
                    .is_some_and(|c| c.is_ascii_alphabetic() || c == '_') =>
            {
                self.at += 2;
                self.unknown(start, Reason::Hidden, Vec::new(), quoted, units);
                Ok(())
            }
            Some(c) if "@*?$!#-".contains(c) || c.is_ascii_digit() => {
                self.at += 2;
                self.variable(start, c.to_string(), quoted, units);
                Ok(())
            }
            Some('\\') if self.peek(2) == Some('\n') => {
                self.doubts.insert(Reason::Deceptive);
                self.at += 1;
                units.push(Unit::Char { c: '$', quoted });
                Ok(())
            }
            _ => {
                self.at += 1;
                units.push(Unit::Char { c: '$', quoted });
                Ok(())
            }
        }
    }

    /// In zsh what follows a name can be part of it: `$PWD:h` is the folder around, and in `$x[y]`
    /// the subscript is evaluated, which can run commands.
    fn variable(&self, start: usize, name: String, quoted: bool, units: &mut Vec<Unit>) {
        let modified = match (self.peek(0), self.peek(1)) {
            (Some('['), _) => true,
            (Some(':'), Some(c)) => c.is_ascii_alphabetic() || c == '&' || c == '\\',
            _ => false,
        };
        match modified {
            true => self.unknown(start, Reason::Hidden, Vec::new(), quoted, units),
            false => units.push(Unit::Variable { name, quoted }),
        }
    }

    /// Up to the parenthesis that closes it.
    fn substituted(&mut self) -> Parsed<Script> {
        self.nested(|parser| {
            let mut script = Vec::new();
            parser.statements(&[")"], &mut script)?;
            Ok(script)
        })
    }

    fn unknown(
        &self,
        start: usize,
        reason: Reason,
        inner: Vec<Script>,
        quoted: bool,
        units: &mut Vec<Unit>,
    ) {
        units.push(Unit::Unknown {
            reason,
            inner,
            quoted,
            text: self.chars[start..self.at].iter().collect(),
        });
    }

    fn process(&mut self, units: &mut Vec<Unit>) -> Parsed<()> {
        let start = self.at;
        self.at += 2;
        let script = self.substituted()?;
        self.unknown(start, Reason::Substitution, vec![script], false, units);
        Ok(())
    }

    /// Numbers only: a name would be evaluated, and what it holds can run commands.
    fn arithmetic(&mut self, units: &mut Vec<Unit>) -> Parsed<()> {
        self.at += 3;
        let mut open = 0;
        loop {
            let c = self.peek(0).ok_or(Reason::ParseError)?;
            self.at += 1;
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.take(")") => break,
                c if c.is_ascii_digit() || " +-*/%".contains(c) => {}
                _ => return Err(Reason::Unclear),
            }
        }
        units.push(Unit::Char {
            c: '0',
            quoted: true,
        });
        Ok(())
    }

    fn backticks(&mut self, quoted: bool, units: &mut Vec<Unit>) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        let mut source = String::new();
        loop {
            let c = self.peek(0).ok_or(Reason::ParseError)?;
            self.at += 1;
            match c {
                '`' => break,
                '\\' => {
                    let next = self.peek(0).ok_or(Reason::ParseError)?;
                    self.at += 1;
                    if !("`\\$".contains(next) || (quoted && next == '"')) {
                        source.push('\\');
                    }
                    source.push(next);
                }
                c => source.push(c),
            }
        }
        let mut inner = Parser::new(&source, self.depth);
        let script = inner.nested(|parser| {
            let mut script = Vec::new();
            parser.statements(&[], &mut script)?;
            Ok(script)
        })?;
        self.doubts.extend(inner.doubts);
        self.here_documents.extend(inner.here_documents);
        self.unknown(start, Reason::Substitution, vec![script], quoted, units);
        Ok(())
    }

    /// `${name}` is a variable; anything longer is only searched for what it runs.
    fn parameter(&mut self, quoted: bool, units: &mut Vec<Unit>) -> Parsed<()> {
        let start = self.at;
        self.at += 2;
        let mut inside = Vec::new();
        loop {
            match self.peek(0).ok_or(Reason::ParseError)? {
                '}' => {
                    self.at += 1;
                    break;
                }
                '\'' if !quoted => self.single(&mut inside)?,
                '"' => self.double(&mut inside)?,
                '`' => self.backticks(quoted, &mut inside)?,
                '$' => self.nested(|parser| parser.dollar(quoted, &mut inside))?,
                '<' | '>' if self.peek(1) == Some('(') => self.process(&mut inside)?,
                '\\' => {
                    self.at += 2;
                    inside.push(Unit::Quotes);
                }
                c => {
                    self.at += 1;
                    inside.push(Unit::Char { c, quoted: false });
                }
            }
        }
        self.at = self.at.min(self.chars.len());
        let word = RawWord { units: inside };
        if let Some(name) = word.literal().filter(|name| is_name(name)) {
            units.push(Unit::Variable { name, quoted });
            return Ok(());
        }
        let reason = match parameter::only_gives_text(&word) {
            true => Reason::Variable,
            false => Reason::Hidden,
        };
        let inner = word.inner().cloned().collect();
        self.unknown(start, reason, inner, quoted, units);
        Ok(())
    }

    /// `$'…'`: its escapes can spell anything, so it is read and still doubted.
    fn ansi(&mut self, units: &mut Vec<Unit>) -> Parsed<()> {
        self.doubts.insert(Reason::Unclear);
        self.at += 2;
        units.push(Unit::Quotes);
        loop {
            let mut c = self.peek(0).ok_or(Reason::ParseError)?;
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            if c == '\\' {
                c = self.ansi_escape()?;
            }
            units.push(Unit::Char { c, quoted: true });
        }
    }

    fn ansi_escape(&mut self) -> Parsed<char> {
        let kind = self.peek(0).ok_or(Reason::ParseError)?;
        self.at += 1;
        let (base, most) = match kind {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            'a' => return Ok('\u{7}'),
            'b' => return Ok('\u{8}'),
            'e' | 'E' => return Ok('\u{1b}'),
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            other => return Ok(other),
        };
        let mut code = 0;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(base)) else {
                break;
            };
            code = code * base + digit;
            self.at += 1;
        }
        char::from_u32(code).ok_or(Reason::Unclear)
    }

    pub fn pending(target: &RawWord, strips_tabs: bool) -> PendingDocument {
        let mut delimiter = String::new();
        let mut quoted = false;
        for unit in &target.units {
            match unit {
                Unit::Char { c, quoted: q } => {
                    delimiter.push(*c);
                    quoted |= q;
                }
                Unit::Quotes => quoted = true,
                Unit::Variable { name, .. } => {
                    delimiter.push('$');
                    delimiter.push_str(name);
                }
                Unit::Unknown { text, .. } => delimiter.push_str(text),
            }
        }
        PendingDocument {
            delimiter,
            quoted,
            strips_tabs,
        }
    }

    pub fn here_document(&mut self, document: &PendingDocument) -> Parsed<()> {
        let mut text = String::new();
        loop {
            if self.peek(0).is_none() {
                return Err(Reason::ParseError);
            }
            let mut line = String::new();
            while let Some(c) = self.peek(0).filter(|c| *c != '\n') {
                line.push(c);
                self.at += 1;
            }
            self.at = (self.at + 1).min(self.chars.len());
            // It joins two lines, also to the one that ends the document.
            if !document.quoted && line.ends_with('\\') {
                return Err(Reason::Unclear);
            }
            let shown = match document.strips_tabs {
                true => line.trim_start_matches('\t'),
                false => &line,
            };
            if shown == document.delimiter {
                break;
            }
            text.push_str(shown);
            text.push('\n');
        }
        let mut inner = Vec::new();
        if !document.quoted {
            let mut body = Parser::new(&text, self.depth);
            let mut units = Vec::new();
            body.nested(|parser| {
                while let Some(c) = parser.peek(0) {
                    parser.expanded(c, "\\$`", &mut units)?;
                }
                Ok(())
            })?;
            inner = RawWord { units }.inner().cloned().collect();
        }
        self.here_documents.push(HereDocument { text, inner });
        Ok(())
    }
}

fn may_be_name(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '"' | '\'' | '/')
}
