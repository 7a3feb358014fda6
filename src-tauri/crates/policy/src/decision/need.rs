//! What a call must be allowed, item by item.

use std::path::{Path, PathBuf};

use lathe_protocol::{Action, Rule};

use crate::protected::Protected;
use crate::rules::{is_for_all, wildcard};
use crate::shell::{Analysis, SimpleCommand};

/// One thing that a call must be allowed. A call has one or more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    pub permission: String,
    /// All must be allowed.
    pub patterns: Vec<String>,
    /// For `bash`: the command in parts; the patterns are then only for people.
    pub command: Option<CommandNeed>,
    /// Only a rule that denies it or names it counts: another need of the same call allows it.
    pub only_denies: bool,
    /// A sandbox takes care of it: it lets a command look at the rest of the system, and nothing
    /// else. A mode that uses one allows it, unless a rule is about it.
    pub left_to_sandbox: bool,
    /// Why the patterns do not tell everything: then nothing less than a rule for everything
    /// allows it.
    pub opaque: Vec<String>,
    /// Asked about every time.
    pub protected: Vec<Protected>,
    /// A directory outside the project.
    pub outside: Option<PathBuf>,
    /// A host in the network.
    pub host: Option<String>,
    /// What "always" would add; empty if it must not be offered.
    pub always: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandNeed {
    pub commands: Vec<SimpleCommand>,
    /// Every spelling of everything that may run, for rules that deny.
    pub spellings: Vec<String>,
    /// What may run if a program turns out to be a wrapper.
    pub possible: Vec<String>,
    /// It may run any program.
    pub hides_program: bool,
    /// What it runs besides itself is not known, although its own programs are.
    pub runs_unknown: bool,
}

impl Need {
    pub fn new(permission: &str, pattern: impl Into<String>) -> Self {
        Self {
            permission: permission.to_owned(),
            patterns: vec![pattern.into()],
            ..Self::default()
        }
    }

    /// Everything that a shell command must be allowed: the folders outside the project, the
    /// files it reads and looks at, what it writes, and the command itself.
    pub fn of_command(analysis: &Analysis) -> Vec<Need> {
        let mut needs: Vec<Need> = analysis.outside.iter().map(|one| outside(one)).collect();
        let plain = |permission: &str, paths: &std::collections::BTreeSet<String>| Need {
            permission: permission.to_owned(),
            patterns: paths.iter().cloned().collect(),
            ..Need::default()
        };
        for (permission, paths) in [("read", &analysis.reads), ("list", &analysis.lists)] {
            if !paths.is_empty() {
                needs.push(plain(permission, paths));
            }
        }
        if !analysis.writes.is_empty() || !analysis.protected.is_empty() {
            needs.push(Need {
                only_denies: true,
                protected: analysis.protected.clone(),
                ..plain("edit", &analysis.writes)
            });
        }
        if !analysis.patterns.is_empty() {
            needs.push(bash(analysis));
        }
        needs
    }

    #[must_use]
    pub fn always(mut self, pattern: impl Into<String>) -> Self {
        self.always.push(pattern.into());
        self
    }
}

fn bash(analysis: &Analysis) -> Need {
    let spellings = analysis.patterns.iter().chain(&analysis.spellings);
    let opaque = analysis.line_reasons.iter();
    Need {
        permission: "bash".to_owned(),
        patterns: analysis.patterns.clone(),
        command: Some(CommandNeed {
            commands: analysis.commands.clone(),
            spellings: spellings.cloned().collect(),
            possible: analysis.possible.clone(),
            hides_program: analysis.hides_program,
            runs_unknown: analysis.runs_unknown,
        }),
        opaque: opaque.map(ToString::to_string).collect(),
        always: analysis.always.clone(),
        ..Need::default()
    }
}

fn outside(directory: &Path) -> Need {
    let shown = directory.to_string_lossy();
    let shown = match cfg!(windows) {
        true => shown.trim_start_matches(r"\\?\").replace('\\', "/"),
        false => shown.into_owned(),
    };
    let pattern = format!("{}/*", shown.trim_end_matches('/'));
    let need = Need {
        outside: Some(directory.to_owned()),
        left_to_sandbox: true,
        ..Need::new("external_directory", &pattern)
    };
    // In a rule these would match more than this directory.
    match shown.contains(['*', '?']) {
        true => need,
        false => need.always(pattern),
    }
}

impl CommandNeed {
    /// Whether rules that allow cover every part; an opaque line needs one for everything.
    pub(super) fn is_covered(&self, rules: &[Rule], permission: &str, opaque: bool) -> bool {
        let opaque = opaque || self.hides_program;
        let covered = |command: &SimpleCommand| {
            rules.iter().any(|rule| {
                rule.action == Action::Allow
                    && wildcard(&rule.permission, permission)
                    && match opaque {
                        true => is_for_all(rule),
                        false => command.is_covered_by(&rule.pattern),
                    }
            })
        };
        let everything = rules.iter().any(|rule| {
            rule.action == Action::Allow
                && is_for_all(rule)
                && wildcard(&rule.permission, permission)
        });
        everything || (!self.commands.is_empty() && self.commands.iter().all(covered))
    }
}
