//! Who answers: the built-in agents, those of the person and those of the project.

mod custom;

use lathe_protocol::{ModelRef, Ruleset};

use lathe_policy::agents as policy;

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub description: String,
    pub mode: Mode,
    /// On top of the defaults.
    pub rules: Ruleset,
    /// What config says for this agent alone: over what it says for all.
    pub overrides: Ruleset,
    /// What a project that is not trusted wishes for this agent: it can only take away.
    pub wishes: Ruleset,
    /// Its own instructions, after the general ones.
    pub prompt: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// How many steps a turn may take; on the last one it must sum up.
    pub steps: Option<u32>,
    pub color: Option<String>,
    pub is_built_in: bool,
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

/// The agents of a project, in the order in which they are offered.
#[derive(Debug, Clone, PartialEq)]
pub struct Agents {
    agents: Vec<Agent>,
    /// Who answers when nobody is named.
    default: Option<String>,
}

impl Agents {
    pub fn built_in() -> Self {
        Agents {
            agents: built_in(),
            default: None,
        }
    }

    pub fn all(&self) -> &[Agent] {
        &self.agents
    }

    pub fn find(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// Whom another agent, or a person with `@`, can hand work to.
    pub fn callable(&self, name: &str) -> Option<&Agent> {
        let takes_work = |agent: &&Agent| matches!(agent.mode, Mode::Subagent | Mode::All);
        self.find(name).filter(takes_work)
    }

    pub fn set_default(&mut self, name: Option<String>) {
        self.default = name;
    }

    /// Someone a person can talk to.
    pub fn default_name(&self) -> &str {
        let talks = |agent: &&Agent| matches!(agent.mode, Mode::Primary | Mode::All);
        let wanted = self.default.as_deref().and_then(|name| self.find(name));
        let found = wanted
            .filter(talks)
            .or_else(|| self.find(DEFAULT).filter(talks))
            .or_else(|| self.agents.iter().find(talks));
        found.map_or(DEFAULT, |agent| &agent.name)
    }

    /// An agent that is gone falls back to the default one: history must stay usable.
    pub fn get(&self, name: Option<&str>) -> Agent {
        let found = name.and_then(|name| self.find(name));
        let found = found.or_else(|| self.find(self.default_name()));
        found.cloned().unwrap_or_else(plainest)
    }
}

fn built_in() -> Vec<Agent> {
    let built_in = [
        (
            "build",
            Mode::Primary,
            "Reads, changes and runs your project",
        ),
        (
            "plan",
            Mode::Primary,
            "Looks and plans; changes nothing but its plan file",
        ),
        (
            "general",
            Mode::Subagent,
            "Works through a task of several steps by itself",
        ),
        (
            "explore",
            Mode::Subagent,
            "Finds its way around a codebase quickly, without changing it",
        ),
        ("title", Mode::Hidden, "Names sessions"),
        ("summary", Mode::Hidden, "Sums up what a session changed"),
        (
            "compaction",
            Mode::Hidden,
            "Sums up a session that grew too long",
        ),
    ];
    let with_rules = |(name, mode, description)| {
        let rules = policy::rules(name).unwrap_or_else(policy::nothing);
        agent(name, mode, description, rules)
    };
    built_in.map(with_rules).to_vec()
}

/// The fallback when there is no agent at all: one that may only talk.
fn plainest() -> Agent {
    agent(DEFAULT, Mode::Primary, "", policy::nothing())
}

fn agent(name: &str, mode: Mode, description: &str, rules: Ruleset) -> Agent {
    Agent {
        name: name.to_owned(),
        description: description.to_owned(),
        mode,
        rules,
        overrides: Ruleset::new(),
        wishes: Ruleset::new(),
        prompt: None,
        model: None,
        variant: None,
        temperature: None,
        top_p: None,
        steps: None,
        color: None,
        is_built_in: true,
    }
}
