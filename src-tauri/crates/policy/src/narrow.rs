//! What a project that is not trusted may still say about permissions: less, never more.

use lathe_protocol::{Action, Rule, Ruleset};

use crate::rules::{READ_ONLY, is_for_all, wildcard};

/// The same rules with the project's wishes on top. Whatever is asked afterwards gets an
/// answer at least as strict as before; a wish that cannot be met exactly is met less.
pub fn narrow(mut rules: Ruleset, wishes: &[Rule]) -> Ruleset {
    for wish in wishes {
        match wish.action {
            Action::Allow => {}
            Action::Deny => rules.push(wish.clone()),
            Action::Ask => ask(&mut rules, wish),
        }
    }
    rules
}

/// Allow becomes ask, and what was denied stays denied.
fn ask(rules: &mut Ruleset, wish: &Rule) {
    if wish.permission == "*" && wish.pattern == "*" {
        allow_becomes_ask(&mut rules[..]);
        return;
    }
    // Which permissions such a wish would meet cannot be told from the rules.
    if wish.permission.contains(['*', '?']) {
        return;
    }
    let mut known: Vec<Rule> = rules
        .iter()
        .filter(|rule| wildcard(&rule.permission, &wish.permission))
        .map(|rule| Rule {
            permission: wish.permission.clone(),
            ..rule.clone()
        })
        .collect();
    // What comes before a rule for everything never decides.
    if let Some(last) = known.iter().rposition(is_for_all) {
        known.drain(..last);
    }
    if wish.pattern == "*" {
        rules.push(wish.clone());
        allow_becomes_ask(&mut known);
        rules.extend(known);
        return;
    }
    let is_denied = known
        .first()
        .is_some_and(|rule| is_for_all(rule) && rule.action == Action::Deny);
    if is_denied {
        return;
    }
    rules.push(wish.clone());
    let denied = known.iter().position(|rule| rule.action == Action::Deny);
    if let Some(from) = denied {
        rules.extend(
            known
                .drain(from..)
                .filter(|rule| rule.action == Action::Deny),
        );
    }
}

/// Allow becomes ask. A command that cannot be read is left by an allow of certain commands to
/// the rule before it, and met by a question about them. Behind a deny, such an allow stays.
fn allow_becomes_ask(rules: &mut [Rule]) {
    for at in 0..rules.len() {
        let (before, rule) = rules.split_at_mut(at);
        let rule = &mut rule[0];
        let exact = is_for_all(rule) || rule.pattern == READ_ONLY;
        let is_denied = |earlier: &Rule| {
            earlier.action == Action::Deny && may_meet(&earlier.permission, &rule.permission)
        };
        if rule.action == Action::Allow && (exact || !before.iter().any(is_denied)) {
            rule.action = Action::Ask;
        }
    }
}

/// Whether two patterns of permissions may mean the same one.
fn may_meet(one: &str, other: &str) -> bool {
    let both_open = [one, other].iter().all(|name| name.contains(['*', '?']));
    both_open || wildcard(one, other) || wildcard(other, one)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decision::{Asker, Call, Mode, Need, decide};
    use crate::rules::{READ_ONLY, Verdict, rule};
    use crate::table::needs_of;

    fn strictness(rules: &[Rule], permission: &str, pattern: &str) -> u8 {
        let needs = match permission {
            "bash" => needs_of(pattern),
            _ => vec![Need::new(permission, pattern)],
        };
        let askers = [Asker { name: "x", rules }];
        let decision = decide(&Call {
            askers: &askers,
            mode: Mode::Ask,
            approved: &[],
            granted: &[],
            needs: &needs,
        });
        match decision.verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Deny(_) => 2,
        }
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let permission = prop::sample::select(vec!["*", "bash", "edit", "b*"]);
        let pattern = prop::sample::select(vec![
            "*",
            "**",
            "git *",
            "git push *",
            "rm *",
            "g*",
            "rm x",
            READ_ONLY,
        ]);
        let action = prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]);
        (permission, pattern, action)
            .prop_map(|(permission, pattern, action)| rule(permission, pattern, action))
    }

    proptest! {
        #[test]
        fn no_wish_ever_widens(
            rules in prop::collection::vec(any_rule(), 0..6),
            wishes in prop::collection::vec(any_rule(), 0..4),
        ) {
            let narrowed = narrow(rules.clone(), &wishes);
            for permission in ["bash", "edit"] {
                for pattern in [
                    "git log", "git push x", "rm x", "rm y", "ls", "ls > x", "git log > x", "git $x",
                    "$(rm x)", "git push x > y",
                ] {
                    let before = strictness(&rules, permission, pattern);
                    let after = strictness(&narrowed, permission, pattern);
                    prop_assert!(after >= before, "{permission} {pattern}: {before} then {after}");
                }
            }
        }
    }

    #[test]
    fn a_question_about_all_leaves_unreadable_commands_denied() {
        let rules = vec![
            rule("bash", "*", Action::Deny),
            rule("*", "git *", Action::Allow),
        ];
        for permission in ["*", "bash"] {
            let narrowed = narrow(rules.clone(), &[rule(permission, "*", Action::Ask)]);
            let found = strictness(&narrowed, "bash", "git log > x");
            assert_eq!(found, 2, "{permission}");
        }
    }

    #[test]
    fn a_question_about_all_leaves_an_agent_that_only_reads_what_was_denied_it() {
        let reads = vec![
            rule("bash", "*", Action::Deny),
            rule("*", READ_ONLY, Action::Allow),
        ];
        let narrowed = narrow(reads, &[rule("*", "*", Action::Ask)]);
        let found = ["ls", "ls > x"].map(|pattern| strictness(&narrowed, "bash", pattern));
        assert_eq!(found, [1, 2]);
    }

    #[test]
    fn a_question_about_all_does_not_open_what_a_rule_for_everything_says_in_other_letters() {
        for pattern in ["*", "**"] {
            let rules = vec![
                rule("bash", "*", Action::Deny),
                rule("*", pattern, Action::Allow),
            ];
            let narrowed = narrow(rules.clone(), &[rule("*", "*", Action::Ask)]);
            let found = [&rules, &narrowed].map(|rules| strictness(rules, "bash", "ls > x"));
            assert_eq!(found, [0, 1], "{pattern}");
        }
    }

    #[test]
    fn plain_wishes_are_met_exactly() {
        let allowed = vec![
            rule("bash", "*", Action::Allow),
            rule("bash", "rm *", Action::Deny),
        ];
        let cases = [
            (rule("bash", "*", Action::Ask), [1, 2]),
            (rule("bash", "git *", Action::Ask), [1, 2]),
            (rule("*", "*", Action::Ask), [1, 2]),
            (rule("bash", "git *", Action::Deny), [2, 2]),
            (rule("bash", "*", Action::Allow), [0, 2]),
        ];
        for (wish, expected) in cases {
            let narrowed = narrow(allowed.clone(), std::slice::from_ref(&wish));
            let found = ["git log", "rm x"].map(|pattern| strictness(&narrowed, "bash", pattern));
            assert_eq!(found, expected, "{wish:?}");
        }
    }
}
