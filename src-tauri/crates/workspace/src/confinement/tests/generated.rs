//! Commands made at random that Auto runs without a question, really run in the sandbox: what lies
//! around the project, what is protected in it and what is secret stay as they are.

use std::collections::BTreeMap;

use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Surroundings, analyse};
use lathe_policy::{Verdict, agents};
use lathe_protocol::{Rule, ShellDialect};

use super::*;
use crate::paths::DiskPaths;

#[path = "../../../../policy/tests/support/generator.rs"]
#[allow(dead_code)]
mod generator;

use generator::{Dice, Generator};

/// So many run in one sandbox, one after the other.
const BATCH: usize = 20;

fn count() -> usize {
    match std::env::var_os("LATHE_SOAK") {
        Some(_) => 20_000,
        None => 200,
    }
}

/// Every file below a folder, with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ => {
                    let content = std::fs::read(entry.path()).unwrap_or_default();
                    found.insert(entry.path(), content);
                }
            }
        }
    }
    found
}

/// What no command may change, wherever it is.
fn kept(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = ["home", "data", "config", "outside", "project/.git"];
    let mut kept: BTreeMap<_, _> = folders
        .iter()
        .flat_map(|name| contents(&place.path(name)))
        .collect();
    for name in ["project/.env", "project/packages/one/.vscode/settings.json"] {
        let path = place.path(name);
        kept.insert(path.clone(), std::fs::read(path).unwrap_or_default());
    }
    // Nothing is made beside them either.
    let beside = std::fs::read_dir(&place.base).unwrap().flatten();
    kept.extend(beside.map(|entry| (entry.path(), Vec::new())));
    kept
}

fn fill(place: &Place) {
    for (name, text) in [
        ("a.txt", "a,1\nb,2\n"),
        ("b.txt", "b\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("data.json", "{\"a\": 1}\n"),
        ("evil", "#!/bin/sh\ncat .env ../home/.ssh/*; touch ../p\n"),
    ] {
        let path = place.path("project").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::write(path, text);
    }
}

/// As the default agent in Auto, with nothing allowed before.
fn runs_unasked(place: &Place, rules: &[Rule], command: &str) -> bool {
    let (root, home) = (place.path("project"), place.path("home"));
    let may_read = lathe_policy::may_read(rules, &[]);
    let paths = DiskPaths {
        root: &root,
        home: Some(&home),
        may_read: &may_read,
    };
    let analysis = analyse(
        command,
        &Surroundings {
            directory: &root,
            home: Some(&home),
            dialect: ShellDialect::Posix,
            paths: &paths,
        },
    );
    let decision = decide(&Call {
        askers: &[Asker {
            name: "build",
            rules,
        }],
        mode: Mode::Auto { sandboxed: true },
        approved: &[],
        granted: &[],
        needs: &Need::of_command(&analysis),
    });
    decision.verdict == Verdict::Allow
}

#[tokio::test]
async fn what_auto_runs_unasked_changes_nothing_around_it_and_shows_no_secret() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    std::fs::write(place.path("project/.env"), "KEY=TOP-SECRET").unwrap();
    fill(&place);
    let before = kept(&place);
    let mut rules = defaults(Freedom::default());
    rules.extend(agents::rules("build").unwrap());
    let is_there = |name: &str| {
        let folders = ["/usr/bin", "/bin"];
        folders
            .iter()
            .any(|folder| Path::new(folder).join(name).exists())
    };
    let generator = Generator::new(is_there);
    let mut dice = Dice::new(46);
    let mut wrong = Vec::new();
    let mut ran = 0;
    while ran < count() {
        let made = std::iter::repeat_with(|| generator.command(&mut dice));
        let batch: Vec<String> = made
            .filter(|command| runs_unasked(&place, &rules, command))
            .take(BATCH)
            .collect();
        ran += batch.len();
        let script: Vec<String> = batch
            .iter()
            .map(|command| {
                let quoted = command.replace('\'', "'\\''");
                format!("timeout -k 1 2 bash -c '{quoted}' < /dev/null")
            })
            .collect();
        let (_, text, _) = place
            .run(&script.join("\n"), SandboxGrants::default())
            .await;
        let after = kept(&place);
        if text.contains("TOP-SECRET") || after != before {
            let changed: Vec<_> = before
                .iter()
                .filter(|(path, content)| after.get(*path) != Some(*content))
                .map(|(path, _)| path.clone())
                .chain(
                    after
                        .keys()
                        .filter(|path| !before.contains_key(*path))
                        .cloned(),
                )
                .collect();
            wrong.push(format!("{batch:#?} changed {changed:?}, or said {text:?}"));
            break;
        }
        fill(&place);
    }
    assert_eq!(wrong, Vec::<String>::new());
}
