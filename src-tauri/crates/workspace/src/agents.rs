//! Agents: built-in ones, those of the person and those of the project.

mod custom;

use lathe_protocol::{ModelRef, Ruleset};

use lathe_policy::agents as policy;

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub description: String,
    pub mode: Mode,
    /// Applied after the default rules.
    pub rules: Ruleset,
    /// Rules from config for this agent. They override the rules for all agents.
    pub overrides: Ruleset,
    /// Rules for this agent from a project that is not trusted. They can only restrict.
    pub restrictions: Ruleset,
    /// The agent's own system prompt, after the general one.
    pub prompt: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// Limit of steps in a turn. On the last step the agent must summarise.
    pub steps: Option<u32>,
    pub color: Option<String>,
    pub is_built_in: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A person talks to it.
    Primary,
    /// Another agent delegates tasks to it.
    Subagent,
    /// Both.
    All,
    /// Used by the program only.
    Hidden,
}

pub const DEFAULT: &str = "build";

/// The agents of a project, in display order.
#[derive(Debug, Clone, PartialEq)]
pub struct Agents {
    agents: Vec<Agent>,
    /// The configured default, which need not exist.
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

    /// An agent that can be given a task by another agent, or by a person with `@`.
    pub fn callable(&self, name: &str) -> Option<&Agent> {
        let takes_work = |agent: &&Agent| matches!(agent.mode, Mode::Subagent | Mode::All);
        self.find(name).filter(takes_work)
    }

    pub fn set_default(&mut self, name: Option<String>) {
        self.default = name;
    }

    /// The default agent: always one that a person can talk to.
    pub fn default_name(&self) -> &str {
        let talks = |agent: &&Agent| matches!(agent.mode, Mode::Primary | Mode::All);
        let wanted = self.default.as_deref().and_then(|name| self.find(name));
        let found = wanted
            .filter(talks)
            .or_else(|| self.find(DEFAULT).filter(talks))
            .or_else(|| self.agents.iter().find(talks));
        found.map_or(DEFAULT, |agent| &agent.name)
    }

    /// An agent that no longer exists is replaced with the default one, so that old sessions stay
    /// usable.
    pub fn get(&self, name: Option<&str>) -> Agent {
        let found = name.and_then(|name| self.find(name));
        let found = found.or_else(|| self.find(self.default_name()));
        found.cloned().unwrap_or_else(fallback_agent)
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

/// For the case that config has disabled every agent. It has no permissions.
fn fallback_agent() -> Agent {
    agent(DEFAULT, Mode::Primary, "", policy::nothing())
}

fn agent(name: &str, mode: Mode, description: &str, rules: Ruleset) -> Agent {
    Agent {
        name: name.to_owned(),
        description: description.to_owned(),
        mode,
        rules,
        overrides: Ruleset::new(),
        restrictions: Ruleset::new(),
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
