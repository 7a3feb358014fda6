//! Commands that a person allowed with "always", really run under `strace`: none of them writes,
//! starts or sends more than its words say.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "support/disk.rs"]
mod disk;
#[path = "support/generator.rs"]
#[allow(dead_code)]
mod generator;
#[path = "support/traced.rs"]
#[allow(dead_code)]
mod traced;
#[path = "support/written.rs"]
mod written;

use std::collections::BTreeMap;

use generator::{Dice, Generator};
use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::{Freedom, Verdict, agents, defaults, rule};
use lathe_protocol::{Action, Rule};
use traced::{Scene, is_there};

/// They change files, and need nothing that a test machine may lack.
const CHANGING: [&str; 44] = [
    "bzip2",
    "chmod",
    "cp",
    "find",
    "git add",
    "git apply",
    "git archive",
    "git branch",
    "git checkout",
    "git cherry-pick",
    "git clean",
    "git commit",
    "git format-patch",
    "git grep",
    "git hash-object",
    "git merge",
    "git mv",
    "git rebase",
    "git reset",
    "git restore",
    "git revert",
    "git rm",
    "git stash",
    "git switch",
    "git tag",
    "git update-index",
    "gunzip",
    "gzip",
    "install",
    "ln",
    "mkdir",
    "mv",
    "rm",
    "rmdir",
    "sed",
    "sort",
    "split",
    "tar",
    "tee",
    "touch",
    "truncate",
    "unlink",
    "unxz",
    "xz",
];

/// A number of one's own can be asked for, to look for a fault.
fn count() -> usize {
    let wanted = std::env::var("LATHE_COMMANDS").ok();
    let wanted = wanted.and_then(|number| number.parse().ok());
    wanted.unwrap_or(match std::env::var_os("LATHE_SOAK") {
        Some(_) => 20_000,
        None => 1_000,
    })
}

fn builder() -> Vec<Rule> {
    let mut rules = defaults(Freedom::default());
    rules.extend(agents::rules("build").unwrap());
    rules
}

#[test]
fn what_is_allowed_does_no_more_than_it_says() {
    let scene = Scene::new();
    let generator = Generator::new(|name| is_there(name.split(' ').next().unwrap_or(name)));
    let rules = builder();
    let approved: Vec<Rule> = CHANGING
        .iter()
        .map(|name| rule("bash", &format!("{name} *"), Action::Allow))
        .collect();
    let is_allowed = |command: &str| {
        let askers = [Asker {
            name: "build",
            rules: &rules,
        }];
        let needs = Need::of_command(&scene.analyse(command));
        let decision = decide(&Call {
            askers: &askers,
            mode: Mode::Ask,
            approved: &approved,
            granted: &[],
            needs: &needs,
        });
        decision.verdict == Verdict::Allow
    };
    let mut dice = Dice::new(22);
    let (mut ran, mut made) = (0, 0);
    let mut wrong = Vec::new();
    let mut by_program: BTreeMap<String, usize> = BTreeMap::new();
    while ran < count() {
        made += 1;
        assert!(made < count() * 400, "only {ran} of {made} were allowed");
        let command = generator.one_of(&CHANGING, &mut dice);
        if !is_allowed(&command) || scene.is_known_to_read(&command) {
            continue;
        }
        ran += 1;
        *by_program.entry(written::program(&command)).or_default() += 1;
        let found = written::run_and_restore(&scene, &command);
        wrong.extend(found.into_iter().map(|what| format!("{command:?}: {what}")));
    }
    println!("{ran} of {made} commands were allowed and run: {by_program:?}");
    assert!(
        wrong.is_empty(),
        "{} did more:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_trace_tells_what_was_meant_from_what_was_not() {
    let scene = Scene::new();
    for command in [
        "touch a.txt",
        "mkdir -p src/new",
        "mv a.txt src",
        "git add -A",
        "cp *.txt src",
    ] {
        let found = written::run_and_restore(&scene, command);
        assert!(found.is_empty(), "{command}: {found:?}");
    }
    for command in [
        "cp a.txt ../secret/x",
        "./evil",
        "cp a.txt .git/hooks/pre-commit",
        "cat .env",
        "touch .husky",
    ] {
        let found = written::run_and_restore(&scene, command);
        assert!(!found.is_empty(), "{command}");
    }
}
