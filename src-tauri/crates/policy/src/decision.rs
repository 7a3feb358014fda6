//! One decision for one tool call: who asks, in which mode, under which rules, for what.
//!
//! Work that was handed on is decided for everyone who handed it on: the call is allowed only if
//! each of them would be allowed it without a question, and denied if any of them is.

mod need;
mod standing;

use lathe_protocol::Rule;

use crate::rules::{Verdict, covers};
pub use need::{CommandNeed, Need};
use standing::{Standing, stand};

/// How much happens without a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Rules decide, and what they do not allow is asked.
    #[default]
    Ask,
    /// Commands run unasked where a sandbox holds them, and edits inside the project are made.
    Auto { sandboxed: bool },
    /// Everything that no rule denies.
    FullAccess,
}

/// A session and the rules in force for it.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// Its agent, for people.
    pub name: &'a str,
    pub rules: &'a [Rule],
}

/// All that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The session that makes the call, then the one that started it, up to the first.
    pub askers: &'a [Asker<'a>],
    pub mode: Mode,
    /// What the person answered with "always".
    pub approved: &'a [Rule],
    /// What the person allowed before anything was asked.
    pub granted: &'a [Rule],
    pub needs: &'a [Need],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// Why it is asked or denied, in words; empty if it is allowed.
    pub reasons: Vec<String>,
    /// In the order of the needs.
    pub needs: Vec<Judged>,
}

/// What became of one need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    /// The rule that decided, and whose it is.
    pub rule: Option<Rule>,
    pub asker: Option<String>,
    pub reasons: Vec<String>,
    /// The patterns that "always" may add, because they would allow it to everyone who asks.
    pub always: Vec<String>,
}

pub fn decide(call: &Call) -> Decision {
    let needs: Vec<Judged> = call.needs.iter().map(|need| judge(call, need)).collect();
    let mut verdict = Verdict::Allow;
    for judged in &needs {
        match (&judged.verdict, &verdict) {
            (Verdict::Deny(_), Verdict::Allow | Verdict::Ask) | (Verdict::Ask, Verdict::Allow) => {
                verdict = judged.verdict.clone();
            }
            _ => {}
        }
    }
    let counts = |judged: &&Judged| match verdict {
        Verdict::Allow => false,
        Verdict::Ask => judged.verdict == Verdict::Ask,
        Verdict::Deny(_) => matches!(judged.verdict, Verdict::Deny(_)),
    };
    let mut reasons: Vec<String> = Vec::new();
    for reason in needs.iter().filter(counts).flat_map(|one| &one.reasons) {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    Decision {
        verdict,
        reasons,
        needs,
    }
}

fn judge(call: &Call, need: &Need) -> Judged {
    let mut judged = in_chain(call, need, call.approved);
    if judged.verdict != Verdict::Ask {
        return judged;
    }
    let offered: Vec<Rule> = need
        .always
        .iter()
        .map(|pattern| crate::rules::rule(&need.permission, pattern, lathe_protocol::Action::Allow))
        .collect();
    let with_always = [call.approved, &offered].concat();
    let would_pass = in_chain(call, need, &with_always).verdict == Verdict::Allow;
    if would_pass && !offered.is_empty() {
        judged.always.clone_from(&need.always);
    }
    judged
}

/// The strictest of what each of them gets.
fn in_chain(call: &Call, need: &Need, approved: &[Rule]) -> Judged {
    let mut judged = Judged {
        verdict: Verdict::Allow,
        rule: None,
        asker: None,
        reasons: Vec::new(),
        always: Vec::new(),
    };
    for (at, asker) in call.askers.iter().enumerate() {
        let standing = stand(asker, need, approved, call.mode);
        let by = match at {
            0 => String::new(),
            _ => format!(" for “{}”, which handed this on", asker.name),
        };
        let stricter = match (&standing.verdict, &judged.verdict) {
            (Verdict::Deny(_), Verdict::Allow | Verdict::Ask) => true,
            (Verdict::Ask, Verdict::Allow) => true,
            (Verdict::Allow, Verdict::Allow) => judged.rule.is_none(),
            _ => false,
        };
        if stricter {
            let Standing {
                verdict,
                rule,
                reasons,
            } = standing;
            judged.verdict = verdict;
            judged.rule = rule;
            judged.asker = Some(asker.name.to_owned());
            judged.reasons = reasons
                .into_iter()
                .map(|reason| format!("{reason}{by}."))
                .collect();
        }
    }
    if call.askers.is_empty() {
        judged.verdict = Verdict::Ask;
    }
    if judged.verdict == Verdict::Ask && need.protected.is_empty() && granted(call, need) {
        judged.verdict = Verdict::Allow;
        judged.reasons.clear();
    }
    judged
}

/// What was said before is a yes to whatever would be asked, but for protected paths.
fn granted(call: &Call, need: &Need) -> bool {
    let opaque = !need.opaque.is_empty();
    match &need.command {
        None => {
            covers(call.granted, &need.permission, &need.patterns, opaque)
                && !need.patterns.is_empty()
        }
        Some(command) => command.is_covered(call.granted, &need.permission, opaque),
    }
}
