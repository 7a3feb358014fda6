//! Where the rules in force come from, and in which order they count.

use lathe_protocol::{Rule, Ruleset};

use crate::narrow::narrow;
use crate::rules::{Freedom, defaults, freed};

/// All sources of rules for one agent in one session, the least important first.
pub struct Layers<'a> {
    pub freedom: Freedom,
    pub agent: &'a [Rule],
    /// The person's settings, for every agent.
    pub settings: &'a [Rule],
    /// The person's config, and the project's if it is trusted.
    pub config: &'a [Rule],
    /// The mode that the agent works in, such as planning.
    pub mode: &'a [Rule],
    /// What config says for this agent alone.
    pub overrides: &'a [Rule],
    pub session: &'a [Rule],
    /// What a project that is not trusted asks for, for all agents and for this one. It can
    /// only restrict.
    pub restrictions: [&'a [Rule]; 2],
}

impl Layers<'_> {
    pub fn merge(&self) -> Ruleset {
        let mut rules = defaults(self.freedom);
        rules.extend(freed(self.agent, self.freedom));
        for layer in [
            self.settings,
            self.config,
            self.mode,
            self.overrides,
            self.session,
        ] {
            rules.extend_from_slice(layer);
        }
        let restrict = |rules, restrictions: &&[Rule]| narrow(rules, restrictions);
        self.restrictions.iter().fold(rules, restrict)
    }
}
