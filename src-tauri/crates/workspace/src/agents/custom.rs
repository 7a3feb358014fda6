//! Agents from config and Markdown files: new ones, and changes to existing ones.

use lathe_protocol::Ruleset;

use super::{Agent, Agents, Mode, agent};
use crate::config::{AgentBlock, AgentModeName};

impl Agents {
    /// Applies the block of one file. Later files win, field by field.
    pub fn apply(&mut self, name: &str, block: AgentBlock) {
        if let Some(agent) = self.find_or_create(name, &block) {
            agent.overrides.extend(block.rules.clone());
            agent.model = block.model.clone().or(agent.model.take());
            agent.apply_fields(block);
        }
    }

    /// Like [`Agents::apply`], for a project that is not trusted: it cannot set a model, and its
    /// rules only restrict. For agents that the project did not define, only the rules apply.
    pub fn apply_untrusted(&mut self, name: &str, block: AgentBlock, is_own: bool) {
        if !is_own {
            let known = self.agents.iter_mut().find(|agent| agent.name == name);
            if let Some(agent) = known {
                agent.restrictions.extend(block.rules);
            }
        } else if let Some(agent) = self.find_or_create(name, &block) {
            agent.restrictions.extend(block.rules.clone());
            agent.apply_fields(block);
        }
    }

    /// The agent with this name, created if it is new; `None` if the block disables it.
    fn find_or_create(&mut self, name: &str, block: &AgentBlock) -> Option<&mut Agent> {
        let known = self.agents.iter().position(|agent| agent.name == name);
        if block.disable == Some(true) {
            // The program itself needs the hidden agents.
            let removed = known.filter(|at| self.agents[*at].mode != Mode::Hidden);
            removed.map(|at| self.agents.remove(at));
            return None;
        }
        let at = known.unwrap_or_else(|| {
            let new = Agent {
                is_built_in: false,
                ..agent(name, Mode::All, "", Ruleset::new())
            };
            self.agents.push(new);
            self.agents.len() - 1
        });
        self.agents.get_mut(at)
    }
}

impl Agent {
    fn apply_fields(&mut self, block: AgentBlock) {
        self.description = block
            .description
            .unwrap_or(std::mem::take(&mut self.description));
        self.prompt = block.prompt.or(self.prompt.take());
        self.variant = block.variant.or(self.variant.take());
        self.temperature = block.temperature.or(self.temperature);
        self.top_p = block.top_p.or(self.top_p);
        self.steps = block.steps.or(self.steps);
        self.color = block.color.or(self.color.take());
        self.mode = match block.mode {
            Some(_) | None if self.mode == Mode::Hidden => Mode::Hidden,
            Some(AgentModeName::Primary) => Mode::Primary,
            Some(AgentModeName::Subagent) => Mode::Subagent,
            Some(AgentModeName::All) => Mode::All,
            None => self.mode,
        };
    }
}
