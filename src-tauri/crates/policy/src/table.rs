//! What rules decide, row by row: the specification of permissions.
//!
//! A section is a set of rules; a row is a request and what it comes to. Rules are written
//! `permission:pattern=action` and come after those of the agent, in the order of a merge:
//! defaults, agent, then these.

mod rows;

use lathe_protocol::{Action, Ruleset};

use crate::agents;
use crate::rules::{Freedom, Verdict, decide, defaults, hides_tool, rule};
use rows::TABLE;

/// `agent` is one of the built-in ones, or nothing for bare rules.
struct Section {
    agent: Option<&'static str>,
    rules: &'static str,
    /// What the person answered with "always".
    approved: &'static str,
    /// `permission | pattern && pattern | allow, ask, deny`, with `opaque` before a permission
    /// whose patterns do not tell all; or `tool | name | offered, hidden`.
    rows: &'static str,
}

#[test]
fn every_row_of_the_table_is_decided_as_it_says() {
    let mut rows = 0;
    for section in TABLE {
        let rules = section.all_rules();
        let approved = parse(section.approved);
        for row in section
            .rows
            .lines()
            .map(str::trim)
            .filter(|row| !row.is_empty())
        {
            rows += 1;
            let fields: Vec<_> = row.split(" | ").collect();
            let &[what, patterns, expected] = fields.as_slice() else {
                panic!("not a row: {row}")
            };
            let came_to = if what == "tool" {
                if hides_tool(&rules, patterns) {
                    "hidden"
                } else {
                    "offered"
                }
            } else {
                let (permission, opaque) = match what.strip_prefix("opaque ") {
                    Some(permission) => (permission, true),
                    None => (what, false),
                };
                let patterns: Vec<_> = patterns.split(" && ").map(at_home).collect();
                match decide(&rules, &approved, permission, &patterns, opaque) {
                    Verdict::Allow => "allow",
                    Verdict::Ask => "ask",
                    Verdict::Deny(_) => "deny",
                }
            };
            let who = section.agent.unwrap_or("nobody");
            assert_eq!(
                came_to, expected,
                "{row}  (as {who}, with {:?})",
                section.rules
            );
        }
    }
    assert!(rows >= 200, "only {rows} rows");
}

impl Section {
    fn all_rules(&self) -> Ruleset {
        let mut rules = Vec::new();
        if let Some(name) = self.agent {
            rules.extend(defaults(Freedom::default()));
            rules.extend(agents::rules(name).expect("a built-in agent"));
        }
        rules.extend(parse(self.rules));
        rules
    }
}

fn parse(rules: &str) -> Ruleset {
    let rules = rules
        .split(';')
        .map(str::trim)
        .filter(|one| !one.is_empty());
    rules
        .map(|one| {
            let (permission, rest) = one.split_once(':').expect("a permission");
            let (pattern, action) = rest.rsplit_once('=').expect("an action");
            let action = match action {
                "allow" => Action::Allow,
                "ask" => Action::Ask,
                "deny" => Action::Deny,
                other => panic!("no action: {other}"),
            };
            rule(permission, pattern, action)
        })
        .collect()
}

fn at_home(pattern: &str) -> String {
    let dirs = directories::BaseDirs::new().expect("a home");
    pattern.replace("{home}", &dirs.home_dir().display().to_string())
}
