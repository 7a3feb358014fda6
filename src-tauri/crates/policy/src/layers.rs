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
    /// What the session says. It can only restrict: a client or an import may have brought it.
    pub session: &'a [Rule],
    /// What a project that is not trusted asks for, for all agents and for this one. It can
    /// only restrict.
    pub restrictions: [&'a [Rule]; 2],
}

impl Layers<'_> {
    pub fn merge(&self) -> Ruleset {
        let mut rules = defaults(self.freedom);
        rules.extend(freed(self.agent, self.freedom));
        for layer in [self.settings, self.config, self.mode, self.overrides] {
            rules.extend_from_slice(layer);
        }
        let [all, own] = self.restrictions;
        [self.session, all, own].into_iter().fold(rules, narrow)
    }
}

#[cfg(test)]
mod tests {
    use lathe_protocol::Action;

    use super::*;
    use crate::decision::{Asker, Call, Mode, decide};
    use crate::rules::{Verdict, rule};
    use crate::table::needs_of;

    fn verdict(config: &[Rule], session: &[Rule], mode: Mode, command: &str) -> Verdict {
        let layers = Layers {
            freedom: Freedom::default(),
            agent: &[],
            settings: &[],
            config,
            mode: &[],
            overrides: &[],
            session,
            restrictions: [&[], &[]],
        };
        let rules = layers.merge();
        let askers = [Asker {
            name: "x",
            rules: &rules,
        }];
        let decision = decide(&Call {
            askers: &askers,
            mode,
            approved: &[],
            granted: &[],
            needs: &needs_of(command),
        });
        decision.verdict
    }

    #[test]
    fn what_a_session_says_takes_no_deny_away() {
        let config = [rule("bash", "git push *", Action::Deny)];
        let mine = Verdict::Deny(config[0].clone());
        for action in [Action::Ask, Action::Allow] {
            for pattern in ["git push *", "git *", "*"] {
                for permission in ["bash", "*"] {
                    let session = [rule(permission, pattern, action)];
                    for mode in [Mode::Ask, Mode::FullAccess] {
                        let found = verdict(&config, &session, mode, "git push origin");
                        assert_eq!(found, mine, "{session:?} {mode:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_session_may_ask_or_deny_more() {
        let config = [rule("bash", "*", Action::Allow)];
        let ask = [rule("bash", "git push *", Action::Ask)];
        let asked = verdict(&config, &ask, Mode::Ask, "git push origin");
        assert_eq!(asked, Verdict::Ask);
        let deny = [rule("bash", "git push *", Action::Deny)];
        let denied = verdict(&config, &deny, Mode::FullAccess, "git push origin");
        assert_eq!(denied, Verdict::Deny(deny[0].clone()));
    }
}
