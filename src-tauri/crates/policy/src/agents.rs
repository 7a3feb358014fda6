//! The rules of the built-in agents, on top of the defaults.

use lathe_protocol::{Action, Ruleset};

use crate::rules::{looking, rule};

/// The agent that plans, and the one that carries plans out.
pub const PLANNER: &str = "plan";
pub const BUILDER: &str = "build";

/// None where there is no such built-in agent.
pub fn rules(agent: &str) -> Option<Ruleset> {
    Some(match agent {
        BUILDER => allow(&["question", "plan_enter"]),
        PLANNER => {
            let mut rules = allow(&["question", "plan_exit"]);
            // The plan file, which has another name in every session, comes on top.
            rules.push(rule("edit", "*", Action::Deny));
            rules
        }
        "general" => ["todoread", "todowrite"]
            .map(|tool| rule(tool, "*", Action::Deny))
            .to_vec(),
        "explore" => nothing().into_iter().chain(looking()).collect(),
        "title" | "summary" | "compaction" => nothing(),
        _ => return None,
    })
}

/// For an agent that may only talk.
pub fn nothing() -> Ruleset {
    vec![rule("*", "*", Action::Deny)]
}

/// While a plan is made, its file is the only one that may be changed.
pub fn while_planning(plan_file: &str) -> Ruleset {
    vec![
        rule("edit", "*", Action::Deny),
        rule("edit", plan_file, Action::Allow),
    ]
}

fn allow(permissions: &[&str]) -> Ruleset {
    let allow = |permission: &&str| rule(permission, "*", Action::Allow);
    permissions.iter().map(allow).collect()
}
