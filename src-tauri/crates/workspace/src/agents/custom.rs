//! What config and Markdown files say about agents: new ones, and changes to those there are.

use lathe_protocol::Ruleset;

use super::{Agent, Agents, Mode, agent};
use crate::config::{AgentBlock, AgentModeName};

impl Agents {
    /// Later files win, field by field.
    pub fn apply(&mut self, name: &str, block: AgentBlock) {
        if let Some(agent) = self.changed(name, &block) {
            agent.overrides.extend(block.rules.clone());
            agent.model = block.model.clone().or(agent.model.take());
            agent.describe(block);
        }
    }

    /// The same from a project that is not trusted: no model, and rules that only take away.
    /// Of agents that are not its own it changes nothing else.
    pub fn apply_untrusted(&mut self, name: &str, block: AgentBlock, is_its_own: bool) {
        if !is_its_own {
            let known = self.agents.iter_mut().find(|agent| agent.name == name);
            if let Some(agent) = known {
                agent.wishes.extend(block.rules);
            }
        } else if let Some(agent) = self.changed(name, &block) {
            agent.wishes.extend(block.rules.clone());
            agent.describe(block);
        }
    }

    /// The agent that is meant, made if it is new; nothing when it is switched off.
    fn changed(&mut self, name: &str, block: &AgentBlock) -> Option<&mut Agent> {
        let known = self.agents.iter().position(|agent| agent.name == name);
        if block.disable == Some(true) {
            // The program cannot do without those it uses itself.
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
    fn describe(&mut self, block: AgentBlock) {
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
