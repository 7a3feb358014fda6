//! Statements with statements in them: conditions, loops, cases and functions.

use super::super::Reason;
use super::super::syntax::Node;
use super::{Parsed, Parser, is_name};

impl Parser {
    pub(super) fn branches(&mut self) -> Parsed<Node> {
        let mut parts = Vec::new();
        let mut part = Vec::new();
        self.statements(&["then"], &mut part)?;
        parts.push(std::mem::take(&mut part));
        loop {
            let end = self.statements(&["elif", "else", "fi"], &mut part)?;
            parts.push(std::mem::take(&mut part));
            let close: &[&str] = match end.as_str() {
                "elif" => &["then"],
                "else" => &["fi"],
                _ => break,
            };
            let end = self.statements(close, &mut part)?;
            parts.push(std::mem::take(&mut part));
            if end == "fi" {
                break;
            }
        }
        Ok(Node::Branches {
            parts,
            redirects: self.redirects()?,
            repeats: false,
        })
    }

    pub(super) fn repeated(&mut self) -> Parsed<Node> {
        let (mut condition, mut body) = (Vec::new(), Vec::new());
        self.statements(&["do"], &mut condition)?;
        self.statements(&["done"], &mut body)?;
        Ok(Node::Branches {
            parts: vec![condition, body],
            redirects: self.redirects()?,
            repeats: true,
        })
    }

    pub(super) fn counted(&mut self) -> Parsed<Node> {
        self.skip_blanks();
        let name = self.word()?.and_then(|word| word.literal());
        let name = name
            .filter(|name| is_name(name))
            .ok_or(Reason::ParseError)?;
        self.skip_lines()?;
        let mut words = None;
        let start = self.at;
        if self.keyword()?.as_deref() == Some("in") {
            let mut list = Vec::new();
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => list.push(word),
                    None => break,
                }
            }
            words = Some(list);
        } else {
            self.at = start;
        }
        self.skip_blanks();
        let separated = self.take(";");
        if !separated && words.is_some() && self.peek(0) != Some('\n') {
            return Err(Reason::ParseError);
        }
        self.skip_lines()?;
        if self.keyword()?.as_deref() != Some("do") {
            return Err(Reason::ParseError);
        }
        let mut body = Vec::new();
        self.statements(&["done"], &mut body)?;
        Ok(Node::For {
            name,
            words,
            body,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn cases(&mut self) -> Parsed<Node> {
        self.skip_blanks();
        let mut words = vec![self.word()?.ok_or(Reason::ParseError)?];
        self.skip_lines()?;
        if self.keyword()?.as_deref() != Some("in") {
            return Err(Reason::ParseError);
        }
        let mut parts = Vec::new();
        loop {
            self.skip_lines()?;
            let start = self.at;
            if self.keyword()?.as_deref() == Some("esac") {
                break;
            }
            self.at = start;
            self.take("(");
            loop {
                self.skip_blanks();
                words.push(self.word()?.ok_or(Reason::ParseError)?);
                self.skip_blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return Err(Reason::ParseError);
                }
            }
            let mut part = Vec::new();
            let end = self.statements(&[";;", "esac"], &mut part)?;
            parts.push(part);
            if end == "esac" {
                break;
            }
        }
        Ok(Node::Case {
            words,
            parts,
            redirects: self.redirects()?,
        })
    }

    pub(super) fn function_keyword(&mut self) -> Parsed<Node> {
        self.skip_blanks();
        self.word()?.ok_or(Reason::ParseError)?;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if !self.take(")") {
                return Err(Reason::ParseError);
            }
        }
        self.function_body()
    }

    pub(super) fn function_body(&mut self) -> Parsed<Node> {
        self.skip_lines()?;
        let body = self.nested(Self::command)?;
        Ok(Node::Function {
            body: Box::new(body),
        })
    }

    /// Only words and `&&` and `||` between them: the rest has rules of its own.
    pub(super) fn condition(&mut self) -> Parsed<Node> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take("&&") || self.take("||") {
                continue;
            }
            let word = self.word()?.ok_or(Reason::Unclear)?;
            if word.literal().as_deref() == Some("]]") {
                break;
            }
            words.push(word);
        }
        Ok(Node::Condition {
            words,
            redirects: self.redirects()?,
        })
    }
}
