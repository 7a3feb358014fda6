//! `sed`: only scripts whose every command is known to do nothing but edit what is printed.

use super::super::options::{UseKind, understand};
use super::super::word::Word;
use super::super::{Effects, Reason};
use super::Understood;

pub(super) fn judge(program: &str, words: &[Word]) -> Understood {
    let mut read = understand("sed", words, 0, false)?;
    read.name = program.to_owned();
    let in_place = read
        .options
        .iter()
        .any(|option| option == "-i" || option == "--in-place");
    for one in &mut read.uses {
        match one.kind {
            UseKind::Text if !is_plain(&one.word.value) => return Err(Reason::Script),
            UseKind::Read if in_place => one.kind = UseKind::Write,
            _ => {}
        }
    }
    if in_place {
        read.effects = read.effects.and(Effects::parse("w"));
    }
    Ok(read)
}

/// Whether every command of a script is known here.
fn is_plain(script: &str) -> bool {
    let mut script = Script {
        chars: script.chars().collect(),
        at: 0,
    };
    script.commands().is_some() && script.at == script.chars.len()
}

struct Script {
    chars: Vec<char>,
    at: usize,
}

impl Script {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip(&mut self, set: &str) {
        while self.peek().is_some_and(|c| set.contains(c)) {
            self.at += 1;
        }
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > start
    }

    fn commands(&mut self) -> Option<()> {
        let mut open = 0usize;
        loop {
            self.skip(" \t\n;");
            if self.peek().is_none() {
                return (open == 0).then_some(());
            }
            if self.address()? {
                self.skip(" \t");
                if self.peek() == Some(',') {
                    self.at += 1;
                    self.skip(" \t");
                    if matches!(self.peek(), Some('+' | '~')) {
                        self.at += 1;
                    }
                    if !self.address()? {
                        return None;
                    }
                }
            }
            self.skip(" \t!");
            let command = self.peek()?;
            self.at += 1;
            match command {
                '{' => {
                    open += 1;
                    continue;
                }
                '}' => open = open.checked_sub(1)?,
                'p' | 'P' | 'd' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | '=' | 'l' => {}
                'q' | 'Q' => {
                    self.skip(" ");
                    self.digits();
                }
                's' => self.substitute()?,
                'y' => {
                    let delimiter = self.peek()?;
                    self.at += 1;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                }
                _ => return None,
            }
            self.skip(" \t");
            match self.peek() {
                None | Some(';' | '\n' | '}') => {}
                Some(_) => return None,
            }
        }
    }

    /// A line number, `$`, `1~2` or an expression between slashes.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.until('/')?;
                self.skip("IM");
            }
            Some(c) if c.is_ascii_digit() => {
                self.digits();
                if self.peek() == Some('~') {
                    self.at += 1;
                    self.digits();
                }
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut open = false;
        loop {
            let c = self.peek()?;
            self.at += 1;
            match c {
                '\n' => return None,
                // Some take a delimiter in brackets for itself.
                c if open && c == delimiter => return None,
                '[' if !open => open = true,
                ']' => open = false,
                '\\' => {
                    self.peek()?;
                    self.at += 1;
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self
            .peek()
            .filter(|c| !c.is_alphanumeric() && !"\\\n; ".contains(*c))?;
        self.at += 1;
        self.until(delimiter)?;
        self.until(delimiter)?;
        while self
            .peek()
            .is_some_and(|c| "gpiIM".contains(c) || c.is_ascii_digit())
        {
            self.at += 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_scripts_that_print_are_plain() {
        for script in [
            "p",
            "1,20p",
            "$p",
            "/a/,/b/p",
            "s/a/b/g",
            "1!d",
            "5q",
            "/x/{p;q}",
            "s|a/b|c|",
            "10,$d",
            "s/a/b/;s/c/d/",
            "0~2p",
            "$=",
            "1,+3p",
            "s/\\//x/",
            "y/abc/xyz/",
            "/a/I p",
            "",
        ] {
            assert!(is_plain(script), "{script}");
        }
        for script in [
            "w x",
            "1w x",
            "s/a/b/w x",
            "s/a/b/e",
            "e",
            "1e ls",
            "r x",
            "R x",
            "W x",
            "a text",
            "s/a/b/gw x",
            "p;w x",
            "{p",
            "p}",
            "s/a/b",
            "s/a",
            "\\cxcw y",
            "v",
            "F w",
            "b x",
            "s/a/b/pe",
            "s/a/b/\nw x",
            "/a/w x",
            "y/a/b/w x",
            "1,2!w x",
            "pw x",
            "q5w x",
            "s,[,a,;/],/s,w x,y,",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
