//! The parts of a shell script, as the parser finds them.

use super::Reason;

/// Statements in the order in which they are written.
pub(super) type Script = Vec<Node>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Simple(Simple),
    /// Joined by `|`; each part runs in a shell of its own.
    Pipeline(Vec<Node>),
    /// Joined by `&&` and `||`: all but the first may not run.
    Chain(Box<Node>, Vec<(Joint, Node)>),
    /// Runs beside what follows.
    Background(Box<Node>),
    Group {
        body: Script,
        redirects: Vec<Redirect>,
        /// Parentheses: what it sets is lost at its end.
        subshell: bool,
    },
    /// `if`, `while` and `until`: each part may run never or often.
    Branches {
        parts: Vec<Script>,
        redirects: Vec<Redirect>,
        repeats: bool,
    },
    For {
        name: String,
        /// None: the arguments of the script.
        words: Option<Vec<RawWord>>,
        body: Script,
        redirects: Vec<Redirect>,
    },
    Case {
        /// The word that is compared, and the patterns.
        words: Vec<RawWord>,
        parts: Vec<Script>,
        redirects: Vec<Redirect>,
    },
    Function {
        body: Box<Node>,
    },
    /// `[[ … ]]`
    Condition {
        words: Vec<RawWord>,
        redirects: Vec<Redirect>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<RawWord>,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment {
    pub name: String,
    /// Not only a name: `a[1]=`, `a+=`.
    pub complex: bool,
    /// What is between its brackets.
    pub subscript: Option<RawWord>,
    pub value: RawWord,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Redirect {
    pub operator: RedirectOperator,
    pub target: RawWord,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct HereDocument {
    /// What it says, without expansion.
    pub text: String,
    /// The scripts that run for it.
    pub inner: Vec<Script>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectOperator {
    Read,
    Write,
    /// `<>`
    Both,
    /// `>&` and `<&`: of a descriptor.
    Duplicate,
    HereDocument,
    HereString,
}

/// A word before the shell expands it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RawWord {
    pub units: Vec<Unit>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Unit {
    /// Quoted: the shell takes it for nothing but itself.
    Char {
        c: char,
        quoted: bool,
    },
    /// A pair of quotes, which makes a word even with nothing in it.
    Quotes,
    Variable {
        name: String,
        quoted: bool,
    },
    /// What is known only when it runs, with the scripts that run for it.
    Unknown {
        reason: Reason,
        inner: Vec<Script>,
        quoted: bool,
        text: String,
    },
}

impl RawWord {
    /// The word, if it is nothing but unquoted plain characters.
    pub fn literal(&self) -> Option<String> {
        let plain = |unit: &Unit| match unit {
            Unit::Char { c, quoted: false } => Some(*c),
            _ => None,
        };
        self.units.iter().map(plain).collect()
    }

    pub fn inner(&self) -> impl Iterator<Item = &Script> {
        self.units.iter().flat_map(|unit| match unit {
            Unit::Unknown { inner, .. } => inner.as_slice(),
            _ => &[],
        })
    }
}
