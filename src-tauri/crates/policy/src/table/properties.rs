//! What holds for all rules, not only for those in the table.

use lathe_protocol::{Action, Rule};
use proptest::prelude::*;

use super::files::needs_of;
use crate::decision::{Asker, Call, Mode, Need, decide};
use crate::protected;
use crate::rules::{READ_ONLY, Verdict, rule};

fn verdict(askers: &[&[Rule]], mode: Mode, needs: &[Need]) -> Verdict {
    let askers: Vec<Asker> = askers
        .iter()
        .map(|rules| Asker { name: "x", rules })
        .collect();
    decide(&Call {
        askers: &askers,
        mode,
        approved: &[],
        granted: &[],
        needs,
    })
    .verdict
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny(_) => 2,
    }
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let permission = prop::sample::select(vec!["*", "bash", "edit", "read", "b*", "webfetch"]);
    let pattern = prop::sample::select(vec![
        "*",
        "**",
        "git *",
        "git push *",
        "git push --force *",
        "rm *",
        "rm -rf *",
        "g*",
        "rm x",
        "cat *",
        "src/*",
        ".env",
        "make *",
        READ_ONLY,
    ]);
    let action = prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]);
    (permission, pattern, action)
        .prop_map(|(permission, pattern, action)| rule(permission, pattern, action))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(any_rule(), 0..7)
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![
        Mode::Ask,
        Mode::Auto { sandboxed: true },
        Mode::Auto { sandboxed: false },
        Mode::FullAccess,
    ])
}

fn needs() -> impl Strategy<Value = Vec<Need>> {
    let commands = prop::sample::select(vec![
        "ls",
        "git status",
        "git push",
        "git push -f",
        "rm x",
        "rm -rf x",
        "env rm x",
        "cat .env",
        "make",
        "echo $(rm x)",
        "$x y",
        "ls > x",
        "touch .git/hooks/x",
        "cat /etc/hosts",
        "sh -c 'rm x'",
        "mytool rm x",
    ])
    .prop_map(needs_of);
    let edits = prop::sample::select(vec!["src/a.rs", ".env", "rm x"])
        .prop_map(|path| vec![Need::new("edit", path)]);
    let protected =
        prop::sample::select(vec![".git/config", ".vscode/tasks.json"]).prop_map(|path| {
            vec![Need {
                protected: protected::find(path, None).into_iter().collect(),
                ..Need::new("edit", path)
            }]
        });
    let hosts = prop::sample::select(vec!["example.org", "10.0.0.1"]).prop_map(|host| {
        vec![Need {
            host: Some(host.to_owned()),
            ..Need::new("webfetch", host)
        }]
    });
    let others = prop::sample::select(vec!["read", "webfetch"])
        .prop_map(|permission| vec![Need::new(permission, ".env")]);
    prop_oneof![3 => commands, 1 => edits, 1 => protected, 1 => hosts, 1 => others]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_child_never_gets_more_than_its_parent(
        child in rules(),
        parent in rules(),
        first in rules(),
        mode in mode(),
        needs in needs(),
    ) {
        let alone = [&child, &parent, &first].map(|rules| verdict(&[rules], mode, &needs));
        let strictest = alone.iter().map(strictness).max();
        let chain = verdict(&[&child, &parent, &first], mode, &needs);
        prop_assert_eq!(Some(strictness(&chain)), strictest, "{:?} of {:?}", chain, alone);
    }

    #[test]
    fn a_rule_put_before_the_one_that_denies_changes_nothing(
        rules in rules(),
        added in any_rule(),
        at in 0usize..8,
        mode in mode(),
        needs in needs(),
    ) {
        let before = verdict(&[&rules], mode, &needs);
        let Verdict::Deny(denying) = &before else { return Ok(()) };
        let decided = rules.iter().position(|rule| rule == denying).unwrap_or(0);
        let at = at.min(decided);
        let mut more = rules.clone();
        more.insert(at, added.clone());
        let after = verdict(&[&more], mode, &needs);
        prop_assert_eq!(strictness(&after), 2, "{:?} and {:?} at {}", rules, added, at);
    }

    #[test]
    fn one_more_deny_never_lets_more_pass(
        rules in rules(),
        added in any_rule(),
        at in 0usize..8,
        mode in mode(),
        needs in needs(),
    ) {
        let added = Rule { action: Action::Deny, ..added };
        let mut more = rules.clone();
        more.insert(at.min(rules.len()), added.clone());
        let before = strictness(&verdict(&[&rules], mode, &needs));
        let after = strictness(&verdict(&[&more], mode, &needs));
        prop_assert!(after >= before, "{rules:?} and {added:?} at {at}");
    }

    #[test]
    fn a_wider_mode_never_overrules_a_deny(rules in rules(), mode in mode(), needs in needs()) {
        let asked = verdict(&[&rules], Mode::Ask, &needs);
        let wider = verdict(&[&rules], mode, &needs);
        prop_assert_eq!(strictness(&asked) == 2, strictness(&wider) == 2);
        prop_assert!(strictness(&wider) <= strictness(&asked));
    }

    #[test]
    fn what_always_offers_would_be_enough(rules in rules(), needs in needs()) {
        let asker = [Asker { name: "x", rules: &rules }];
        let call = Call {
            askers: &asker,
            mode: Mode::Ask,
            approved: &[],
            granted: &[],
            needs: &needs,
        };
        for (judged, need) in decide(&call).needs.iter().zip(&needs) {
            if judged.always.is_empty() {
                continue;
            }
            let approved: Vec<Rule> = judged
                .always
                .iter()
                .map(|pattern| rule(&need.permission, pattern, Action::Allow))
                .collect();
            let again = decide(&Call { approved: &approved, needs: std::slice::from_ref(need), ..call });
            prop_assert_eq!(&again.verdict, &Verdict::Allow);
            prop_assert!(need.protected.is_empty());
        }
    }

    #[test]
    fn always_never_overrides_a_deny_or_what_is_protected(
        rules in rules(),
        approved in prop::collection::vec(any_rule(), 0..5),
        mode in mode(),
        needs in needs(),
    ) {
        let asker = [Asker { name: "x", rules: &rules }];
        let call = Call { askers: &asker, mode, approved: &[], granted: &[], needs: &needs };
        let approved: Vec<Rule> = approved
            .into_iter()
            .chain([rule("*", "*", Action::Allow)])
            .collect();
        let without = decide(&call);
        let with = decide(&Call { approved: &approved, ..call });
        let denied = |verdict: &Verdict| strictness(verdict) == 2;
        prop_assert_eq!(denied(&without.verdict), denied(&with.verdict));
        for (judged, need) in with.needs.iter().zip(&needs) {
            prop_assert!(need.protected.is_empty() || strictness(&judged.verdict) > 0);
        }
    }

    #[test]
    fn auto_answers_nothing_that_is_protected_a_host_or_outside_of_the_sandbox(
        rules in rules(),
        sandboxed in prop::bool::ANY,
        needs in needs(),
    ) {
        let asker = [Asker { name: "x", rules: &rules }];
        let mode = Mode::Auto { sandboxed };
        let call = Call { askers: &asker, mode, approved: &[], granted: &[], needs: &needs };
        let asked = decide(&Call { mode: Mode::Ask, ..call });
        for ((auto, asked), need) in decide(&call).needs.iter().zip(&asked.needs).zip(&needs) {
            let held = sandboxed && need.left_to_sandbox;
            let leaves = (need.outside.is_some() && !held) || need.host.is_some();
            if leaves || !need.protected.is_empty() {
                prop_assert_eq!(&auto.verdict, &asked.verdict, "{:?}", need);
            }
        }
    }

    #[test]
    fn a_child_gets_nothing_unasked_that_an_ancestor_is_asked_about(
        child in rules(),
        ancestors in prop::collection::vec(rules(), 1..4),
        approved in prop::collection::vec(any_rule(), 0..4),
        mode in mode(),
        needs in needs(),
    ) {
        let decided = |chain: &[Vec<Rule>]| {
            let askers: Vec<Asker> = chain
                .iter()
                .map(|rules| Asker { name: "x", rules })
                .collect();
            decide(&Call { askers: &askers, mode, approved: &approved, granted: &[], needs: &needs })
                .verdict
        };
        let chain: Vec<Vec<Rule>> = [vec![child], ancestors].concat();
        let whole = strictness(&decided(&chain));
        for one in &chain {
            prop_assert!(strictness(&decided(std::slice::from_ref(one))) <= whole);
        }
    }
}
