//! Who answers: the built-in agents and what each may do.

use lathe_protocol::{Action, ModelRef, Ruleset};

use crate::permission::rule;

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub description: String,
    pub mode: Mode,
    /// On top of the defaults.
    pub rules: Ruleset,
    /// Its own instructions, after the general ones.
    pub prompt: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// How many steps a turn may take; on the last one it must sum up.
    pub steps: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A person talks to it.
    Primary,
    /// Another agent hands it work.
    Subagent,
    /// Both.
    All,
    /// The program uses it by itself.
    Hidden,
}

pub const DEFAULT: &str = "build";

/// In the order in which they are offered.
pub fn built_in() -> Vec<Agent> {
    use Action::{Allow, Deny};
    let nothing = vec![rule("*", "*", Deny)];
    vec![
        agent(
            "build",
            Mode::Primary,
            "Reads, changes and runs your project",
            allow(&["question", "plan_enter"]),
        ),
        agent(
            "plan",
            Mode::Primary,
            "Looks and plans; changes nothing but its plan file",
            plan_rules(),
        ),
        agent(
            "general",
            Mode::Subagent,
            "Works through a task of several steps by itself",
            vec![rule("todoread", "*", Deny), rule("todowrite", "*", Deny)],
        ),
        agent(
            "explore",
            Mode::Subagent,
            "Finds its way around a codebase quickly, without changing it",
            {
                let allowed = ["grep", "glob", "list", "bash", "webfetch", "read"];
                let allowed = allowed.map(|name| rule(name, "*", Allow));
                nothing.iter().cloned().chain(allowed).collect()
            },
        ),
        agent("title", Mode::Hidden, "Names sessions", nothing.clone()),
        agent(
            "summary",
            Mode::Hidden,
            "Sums up what a session changed",
            nothing.clone(),
        ),
        agent(
            "compaction",
            Mode::Hidden,
            "Sums up a session that grew too long",
            nothing,
        ),
    ]
}

/// What is left when there is no agent at all: one that may nothing but talk.
pub fn plainest() -> Agent {
    agent(
        DEFAULT,
        Mode::Primary,
        "",
        vec![rule("*", "*", Action::Deny)],
    )
}

fn plan_rules() -> Ruleset {
    let mut rules = allow(&["question", "plan_exit"]);
    rules.push(rule("edit", "*", Action::Deny));
    rules.push(rule("edit", ".opencode/plans/*.md", Action::Allow));
    rules
}

fn allow(permissions: &[&str]) -> Ruleset {
    permissions
        .iter()
        .map(|permission| rule(permission, "*", Action::Allow))
        .collect()
}

fn agent(name: &str, mode: Mode, description: &str, rules: Ruleset) -> Agent {
    Agent {
        name: name.to_owned(),
        description: description.to_owned(),
        mode,
        rules,
        prompt: None,
        model: None,
        variant: None,
        temperature: None,
        top_p: None,
        steps: None,
    }
}
