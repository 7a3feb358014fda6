//! What is decided, row by row: the specification of permissions.
//!
//! A section is who asks, in which mode, under which rules; a row is a call and what it comes
//! to. Rules are written `permission:pattern=action` and come after those of the agent, in the
//! order of a merge: defaults, agent, then these.

mod files;
mod properties;
mod rows;

use lathe_protocol::{Action, Ruleset};

use crate::agents;
use crate::decision::{Asker, Call, Mode, Need, decide};
use crate::protected;
use crate::rules::{Freedom, Verdict, defaults, freed, hides_tool, rule};
use files::HOME;
pub(crate) use files::needs_of;
use rows::TABLE;

/// `agent` is one of the built-in ones, or nothing for bare rules.
struct Section {
    agent: Option<&'static str>,
    rules: &'static str,
    /// What the person answered with "always".
    approved: &'static str,
    /// `permission | pattern && pattern | allow, ask, deny`, with `opaque` before a permission
    /// whose patterns do not tell all; `bash | command | …`; or `tool | name | offered, hidden`.
    rows: &'static str,
}

#[test]
fn every_row_of_the_table_is_decided_as_it_says() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for section in TABLE {
        let rules = with_agent(section.agent, section.rules);
        let askers = [("agent".to_owned(), rules)];
        let scene = Scene {
            askers: askers.to_vec(),
            mode: Mode::Ask,
            approved: parse(section.approved),
            granted: Vec::new(),
        };
        let place = format!("as {:?}, with {:?}", section.agent, section.rules);
        for row in rows_of(section.rows) {
            count += 1;
            wrong.extend(check(&scene, row, &place));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count >= 200, "only {count} rows");
}

/// Sections with ancestors and modes, in a text of their own:
///
/// `asked by` one agent or several, the caller first, each with its rules in parentheses;
/// `mode`, `always` and `granted` for what follows them until the next `asked by`.
#[test]
fn every_row_with_ancestors_and_modes_is_decided_as_it_says() {
    let mut scene = Scene::default();
    let mut place = String::new();
    let mut count = 0;
    let mut wrong = Vec::new();
    let texts = [
        include_str!("table/modes.txt"),
        include_str!("table/chains.txt"),
        include_str!("table/commands.txt"),
    ];
    for row in texts.into_iter().flat_map(rows_of) {
        if let Some(who) = row.strip_prefix("asked by ") {
            scene = Scene::asked_by(who);
            place = row.to_owned();
        } else if let Some(mode) = row.strip_prefix("mode ") {
            scene.mode = match mode {
                "ask" => Mode::Ask,
                "auto" => Mode::Auto { sandboxed: true },
                "auto without a sandbox" => Mode::Auto { sandboxed: false },
                "full access" => Mode::FullAccess,
                other => panic!("no mode: {other}"),
            };
            place = format!("{}, mode {mode}", place.split(", mode").next().unwrap());
        } else if let Some(rules) = row.strip_prefix("always ") {
            scene.approved = parse(rules);
        } else if let Some(rules) = row.strip_prefix("granted ") {
            scene.granted = parse(rules);
        } else {
            count += 1;
            wrong.extend(check(&scene, row, &place));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count >= 450, "only {count} rows");
}

#[test]
fn full_freedom_leaves_an_agent_that_only_looks_with_looking() {
    let verdict = |freedom, permission: &str, subject: &str| {
        let mut rules = defaults(freedom);
        let own = agents::rules("explore").expect("a built-in agent");
        rules.extend(freed(&own, freedom));
        let scene = Scene {
            askers: vec![("explore".to_owned(), rules)],
            ..Scene::default()
        };
        scene.decide(&needs(permission, subject))
    };
    let all = Freedom {
        all: true,
        ..Freedom::default()
    };
    let careful = Freedom::default();
    assert_eq!(verdict(careful, "read", ".env"), Verdict::Ask);
    assert_eq!(verdict(all, "read", ".env"), Verdict::Allow);
    assert_eq!(verdict(all, "bash", "ls"), Verdict::Allow);
    for freedom in [careful, all] {
        let made = verdict(freedom, "bash", "ls > x");
        assert!(matches!(made, Verdict::Deny(_)), "{made:?}");
    }
}

#[derive(Clone, Default)]
struct Scene {
    askers: Vec<(String, Ruleset)>,
    mode: Mode,
    approved: Ruleset,
    granted: Ruleset,
}

impl Scene {
    /// `explore, build (edit:*=allow)`
    fn asked_by(who: &str) -> Self {
        let one = |text: &str| {
            let (name, rules) = text.trim().split_once('(').unwrap_or((text.trim(), ""));
            let name = name.trim();
            let agent = Some(name).filter(|name| *name != "rules");
            let rules = with_agent(agent, rules.trim_end_matches(')'));
            (name.to_owned(), rules)
        };
        let mut parts = Vec::new();
        let mut depth = 0;
        let mut start = 0;
        for (at, c) in who.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(&who[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(&who[start..]);
        Scene {
            askers: parts.into_iter().map(one).collect(),
            ..Scene::default()
        }
    }

    fn decide(&self, needs: &[Need]) -> Verdict {
        let askers: Vec<Asker> = self
            .askers
            .iter()
            .map(|(name, rules)| Asker { name, rules })
            .collect();
        let decision = decide(&Call {
            askers: &askers,
            mode: self.mode,
            approved: &self.approved,
            granted: &self.granted,
            needs,
        });
        let explained = decision.verdict == Verdict::Allow || !decision.reasons.is_empty();
        assert!(explained, "{decision:?}");
        decision.verdict
    }
}

fn rows_of(text: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Says what is wrong with a row.
fn check(scene: &Scene, row: &str, place: &str) -> Option<String> {
    let fields: Vec<_> = row.split(" | ").collect();
    let (what, expected) = (fields[0], fields[fields.len() - 1]);
    assert!(fields.len() >= 3, "not a row: {row}");
    let subject = fields[1..fields.len() - 1].join(" | ");
    let came_to = match what {
        "tool" if hides_tool(&scene.askers[0].1, &subject) => "hidden",
        "tool" => "offered",
        _ => match scene.decide(&needs(what, &subject)) {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny(_) => "deny",
        },
    };
    (came_to != expected).then(|| format!("{row}, not {came_to}  ({place})"))
}

fn needs(what: &str, subject: &str) -> Vec<Need> {
    if what == "bash" {
        return needs_of(subject);
    }
    let (permission, opaque) = match what.strip_prefix("opaque ") {
        Some(permission) => (permission, vec!["it does more".to_owned()]),
        None => (what, Vec::new()),
    };
    let patterns: Vec<_> = subject.split(" && ").map(at_home).collect();
    let home = Some(std::path::Path::new(HOME));
    let protected = patterns
        .iter()
        .filter(|_| permission == "edit")
        .filter_map(|path| protected::find(path, home));
    vec![Need {
        protected: protected.collect(),
        host: (permission == "webfetch").then(|| subject.to_owned()),
        permission: permission.to_owned(),
        opaque,
        patterns,
        ..Need::default()
    }]
}

fn with_agent(agent: Option<&str>, rules: &str) -> Ruleset {
    let mut all = Vec::new();
    if let Some(name) = agent {
        all.extend(defaults(Freedom::default()));
        all.extend(agents::rules(name).expect("a built-in agent"));
    }
    all.extend(parse(rules));
    all
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
