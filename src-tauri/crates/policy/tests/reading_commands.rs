//! Commands that the tables call harmless, really run: under `strace`, with every file they
//! open, every program they start and every connection they make.
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

use generator::{Dice, Generator};
use traced::{Scene, is_there};

/// So many are run by one shell.
const BATCH: usize = 40;

fn count() -> usize {
    match std::env::var_os("LATHE_SOAK") {
        Some(_) => 20_000,
        None => 1_000,
    }
}

#[test]
fn what_is_known_to_read_writes_runs_and_sends_nothing() {
    let scene = Scene::new();
    let generator = Generator::new(is_there);
    let mut dice = Dice::new(20);
    let mut reading = Vec::new();
    let mut made = 0;
    while reading.len() < count() {
        made += 1;
        let command = generator.command(&mut dice);
        if scene.is_known_to_read(&command) {
            reading.push(command);
        }
        assert!(made < count() * 60, "only {} of {made} read", reading.len());
    }
    let mut wrong = Vec::new();
    for batch in reading.chunks(BATCH) {
        if scene.run(batch).is_empty() {
            continue;
        }
        for command in batch {
            let found = scene.run(std::slice::from_ref(command));
            wrong.extend(found.into_iter().map(|what| format!("{command:?}: {what}")));
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} did more:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_trace_sees_what_a_command_does() {
    let scene = Scene::new();
    for command in [
        "touch p",
        "echo x > p",
        "rm b.txt",
        "mv b.txt p",
        "mkdir p",
        "ln a.txt p",
        "chmod +x a.txt",
        "./evil",
        "cat .env",
        "cat ../secret/key.txt",
        "truncate -s 0 b.txt",
    ] {
        let found = scene.run(&[command.to_owned()]);
        assert!(!found.is_empty(), "{command}");
    }
    for command in [
        "cat a.txt",
        "ls -la",
        "git status",
        "git log -p",
        "wc -l a.txt | sort",
    ] {
        let found = scene.run(&[command.to_owned()]);
        assert!(found.is_empty(), "{command}: {found:?}");
    }
}
