//! What one session's rules say to one need.

use lathe_protocol::{Action, Rule};

use super::{Asker, CommandNeed, Mode, Need};
use crate::deny::denies;
use crate::rules::{READ_ONLY, Verdict, is_for_all, last_match, wildcard};
use crate::shell::{Knowledge, SimpleCommand};

pub(super) struct Standing {
    pub verdict: Verdict,
    pub rule: Option<Rule>,
    /// In words, without a full stop.
    pub reasons: Vec<String>,
}

impl Standing {
    fn allowed(rule: Option<&Rule>) -> Self {
        Self {
            verdict: Verdict::Allow,
            rule: rule.cloned(),
            reasons: Vec::new(),
        }
    }

    fn denied(Denied { rule, what }: Denied) -> Self {
        let reason = format!(
            "`{what}` is denied by a rule ({} \"{}\")",
            rule.permission, rule.pattern
        );
        Self {
            verdict: Verdict::Deny(rule.clone()),
            rule: Some(rule),
            reasons: vec![reason],
        }
    }
}

/// A rule, and what of the need it denies.
struct Denied {
    rule: Rule,
    what: String,
}

impl Denied {
    fn new(rule: &Rule, what: &str) -> Self {
        Self {
            rule: rule.clone(),
            what: what.to_owned(),
        }
    }
}

/// A question that rules leave open.
struct Open {
    rule: Option<Rule>,
    reason: String,
    firm: Firmness,
}

/// Which modes may answer in the person's place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Firmness {
    /// No rule allows it.
    Default,
    /// A rule asks about it.
    Rule,
    /// It may be what a rule denies, or it is protected.
    Always,
}

impl Firmness {
    fn of(rule: Option<&Rule>) -> Self {
        match rule {
            Some(rule) if !is_for_all(rule) => Firmness::Rule,
            _ => Firmness::Default,
        }
    }
}

pub(super) fn stand(asker: &Asker, need: &Need, approved: &[Rule], mode: Mode) -> Standing {
    let rules: Vec<&Rule> = asker
        .rules
        .iter()
        .filter(|rule| wildcard(&rule.permission, &need.permission))
        .collect();
    let mut open = Vec::new();
    let mut allowed_by = None;
    let judged = match &need.command {
        Some(command) => commands(&rules, command, need, approved, &mut open, &mut allowed_by),
        None => patterns(&rules, need, approved, &mut open, &mut allowed_by),
    };
    if let Err(denied) = judged {
        return Standing::denied(denied);
    }
    for protected in &need.protected {
        if !is_named_exactly(&rules, &protected.path) {
            open.push(Open {
                rule: None,
                reason: format!("`{}` is protected: {}", protected.path, protected.why),
                firm: Firmness::Always,
            });
        }
    }
    open.retain(|open| !answers(mode, need, open.firm));
    if open.is_empty() {
        return Standing::allowed(allowed_by.as_ref());
    }
    let mut reasons: Vec<String> = Vec::new();
    for one in &open {
        if !reasons.contains(&one.reason) {
            reasons.push(one.reason.clone());
        }
    }
    Standing {
        verdict: Verdict::Ask,
        rule: open.into_iter().find_map(|open| open.rule),
        reasons,
    }
}

/// Whether the mode answers in the person's place.
fn answers(mode: Mode, need: &Need, firm: Firmness) -> bool {
    match (mode, firm) {
        (_, Firmness::Always) => false,
        (Mode::FullAccess, _) => true,
        (Mode::Ask, _) | (Mode::Auto { .. }, Firmness::Rule) => false,
        (Mode::Auto { sandboxed }, Firmness::Default) => {
            let here = need.outside.is_none() && need.host.is_none();
            match need.permission.as_str() {
                "bash" => sandboxed && here,
                _ if need.left_to_sandbox => sandboxed,
                "edit" => here && !need.patterns.iter().any(|path| leads_out(path)),
                _ => false,
            }
        }
    }
}

fn leads_out(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\', '~']) || drive || path.split(['/', '\\']).any(|part| part == "..")
}

/// A rule that names this very path was meant for it; one with a wildcard was not.
fn is_named_exactly(rules: &[&Rule], path: &str) -> bool {
    let last = rules
        .iter()
        .rev()
        .find(|rule| wildcard(&crate::rules::expand(&rule.pattern), path));
    last.is_some_and(|rule| {
        rule.action == Action::Allow
            && !rule.pattern.contains(['*', '?'])
            && rule.permission == "edit"
    })
}

fn patterns(
    rules: &[&Rule],
    need: &Need,
    approved: &[Rule],
    open: &mut Vec<Open>,
    allowed_by: &mut Option<Rule>,
) -> Result<(), Denied> {
    let opaque = !need.opaque.is_empty();
    for pattern in &need.patterns {
        let matches = |rule: &&&Rule| {
            let covers = rule.action != Action::Allow || !opaque || is_for_all(rule);
            covers && wildcard(&crate::rules::expand(&rule.pattern), pattern)
        };
        let found = rules.iter().rev().find(matches).copied();
        match found {
            Some(rule) if rule.action == Action::Deny => return Err(Denied::new(rule, pattern)),
            Some(rule) if rule.action == Action::Allow => {
                allowed_by.get_or_insert_with(|| rule.clone());
            }
            found => {
                let firm = Firmness::of(found);
                let left_out = need.only_denies && firm == Firmness::Default;
                if left_out || (!opaque && is_approved(approved, need, pattern)) {
                    continue;
                }
                open.push(Open {
                    rule: found.cloned(),
                    reason: asked(need, pattern, found),
                    firm,
                });
            }
        }
    }
    Ok(())
}

fn is_approved(approved: &[Rule], need: &Need, pattern: &str) -> bool {
    last_match(approved, &need.permission, pattern).is_some_and(|rule| rule.action == Action::Allow)
}

fn asked(need: &Need, pattern: &str, rule: Option<&Rule>) -> String {
    if let Some(reason) = need.opaque.first() {
        return format!("`{pattern}` {reason}");
    }
    match (need.permission.as_str(), rule) {
        ("external_directory", _) => format!(
            "It uses a folder outside the project: `{}`",
            pattern.trim_end_matches("/*")
        ),
        (permission, Some(rule)) if !is_for_all(rule) => {
            format!(
                "A rule asks about `{pattern}` ({permission} \"{}\")",
                rule.pattern
            )
        }
        (permission, _) => format!("No rule allows `{pattern}` ({permission})"),
    }
}

fn commands(
    rules: &[&Rule],
    command: &CommandNeed,
    need: &Need,
    approved: &[Rule],
    open: &mut Vec<Open>,
    allowed_by: &mut Option<Rule>,
) -> Result<(), Denied> {
    for text in &command.spellings {
        let Some(rule) = particular(rules, text) else {
            continue;
        };
        if rule.action == Action::Deny {
            return Err(Denied::new(rule, text));
        }
        let own = command.commands.iter().any(|simple| simple.text == *text);
        if !own && !is_approved(approved, need, text) {
            open.push(Open {
                rule: Some(rule.clone()),
                reason: format!("A rule asks about `{text}` (bash \"{}\")", rule.pattern),
                firm: Firmness::Rule,
            });
        }
    }
    doubts_about_denies(rules, command, open);
    let opaque = !need.opaque.is_empty() || command.hides_program;
    let approved: Vec<&Rule> = approved
        .iter()
        .filter(|rule| wildcard(&rule.permission, &need.permission))
        .filter(|rule| rule.action == Action::Allow)
        .collect();
    for simple in &command.commands {
        let found = rules
            .iter()
            .rev()
            .find(|rule| decides(rule, simple, opaque))
            .copied();
        match found {
            Some(rule) if rule.action == Action::Deny => {
                return Err(Denied::new(rule, &simple.text));
            }
            Some(rule) if rule.action == Action::Allow => {
                allowed_by.get_or_insert_with(|| rule.clone());
            }
            found => {
                let covered = |rule: &&Rule| simple.is_covered_by(&rule.pattern);
                if !opaque && simple.is_understood() && approved.iter().any(covered) {
                    continue;
                }
                if !opaque && !simple.is_understood() {
                    // Only a rule that names the words itself.
                    let named = |rule: &&Rule| !is_for_all(rule) && covered(rule);
                    if approved.iter().any(named) {
                        continue;
                    }
                }
                open.push(Open {
                    rule: found.cloned(),
                    reason: asked_command(simple, need, found),
                    firm: Firmness::of(found),
                });
            }
        }
    }
    if command.commands.is_empty() {
        // Nothing of it could be read.
        let everything = rules.iter().rev().find(|rule| is_for_all(rule));
        match everything.map(|rule| rule.action) {
            Some(Action::Allow) => {}
            _ => open.push(Open {
                rule: everything.map(|rule| (*rule).clone()),
                reason: need.opaque.first().map_or_else(
                    || "No rule allows this command".to_owned(),
                    |reason| format!("The command {reason}"),
                ),
                firm: Firmness::Default,
            }),
        }
    }
    Ok(())
}

/// Whether this rule has the last word on a command: one that allows must cover it.
fn decides(rule: &Rule, simple: &SimpleCommand, opaque: bool) -> bool {
    match rule.action {
        Action::Allow if opaque => is_for_all(rule),
        Action::Allow => simple.is_covered_by(&rule.pattern),
        Action::Ask => {
            let reading = rule.pattern == READ_ONLY && simple.only_reads() && !opaque;
            reading || denies(rule, &simple.text)
        }
        Action::Deny => denies(rule, &simple.text),
    }
}

/// The rule that denies this spelling, or asks about it in particular. A rule for everything
/// says nothing about one spelling: the command itself is judged.
fn particular<'r>(rules: &[&'r Rule], text: &str) -> Option<&'r Rule> {
    let matches = |rule: &&&Rule| match rule.action {
        Action::Deny | Action::Ask => denies(rule, text),
        Action::Allow => wildcard(&rule.pattern, text),
    };
    let found = rules.iter().rev().find(matches)?;
    (found.action != Action::Allow && !is_for_all(found)).then_some(*found)
}

/// Where a program is hidden, a rule that denies some program may mean it.
fn doubts_about_denies(rules: &[&Rule], command: &CommandNeed, open: &mut Vec<Open>) {
    let from = rules.iter().rposition(|rule| is_for_all(rule));
    let later = &rules[from.map_or(0, |at| at + 1)..];
    let denied: Vec<&Rule> = later
        .iter()
        .copied()
        .filter(|rule| rule.action == Action::Deny && rule.pattern != READ_ONLY)
        .collect();
    let mut doubt = |rule: &Rule, reason: String| {
        open.push(Open {
            rule: Some(rule.clone()),
            reason,
            firm: Firmness::Always,
        });
    };
    if (command.hides_program || command.runs_unknown)
        && let Some(rule) = denied.first()
    {
        let reason = format!(
            "Which programs it runs is not known, and a rule denies `{}`",
            rule.pattern
        );
        doubt(rule, reason);
    }
    for text in &command.possible {
        if let Some(rule) = denied.iter().find(|rule| denies(rule, text)) {
            let reason = format!("It may run `{text}`, and a rule denies `{}`", rule.pattern);
            doubt(rule, reason);
            break;
        }
    }
}

fn asked_command(simple: &SimpleCommand, need: &Need, rule: Option<&Rule>) -> String {
    let text = &simple.text;
    if let Some(rule) = rule.filter(|rule| !is_for_all(rule)) {
        return format!("A rule asks about `{text}` (bash \"{}\")", rule.pattern);
    }
    match (&simple.knowledge, need.opaque.first()) {
        (Knowledge::Opaque(reason), _) => format!("`{text}` {reason}"),
        (_, Some(reason)) => format!("The command {reason}"),
        _ => format!("No rule allows `{text}`"),
    }
}
