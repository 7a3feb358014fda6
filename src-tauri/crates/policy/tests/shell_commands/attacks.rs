//! Commands that do more than they say, against everything a person may have allowed.

use lathe_policy::Verdict;
use lathe_policy::decision::Mode;

use super::{allow, analysed, builder, project, table, verdict};

/// Besides what reads and is never asked about.
const ALLOWED: &[&str] = &[
    "awk *",
    "cargo metadata *",
    "cargo test *",
    "cat *",
    "diff *",
    "find *",
    "git add *",
    "git apply *",
    "git branch *",
    "git checkout *",
    "git config *",
    "git diff *",
    "git fetch *",
    "git for-each-ref *",
    "git log *",
    "cp *",
    "git mv *",
    "mkdir *",
    "git push *",
    "git reflog *",
    "git restore *",
    "git rm *",
    "git show *",
    "git stash *",
    "git stash push *",
    "git tag *",
    "git update-index *",
    "gcc *",
    "jq *",
    "ln *",
    "ls *",
    "make *",
    "mv *",
    "npm run build *",
    "printf *",
    "ps *",
    "rg *",
    "rm *",
    "rm -rf *",
    "sed -n *",
    "sort *",
    "strings *",
    "tar *",
    "test *",
    "wc *",
    "xargs *",
];

#[test]
fn git_is_asked_about_where_looking_runs_a_hook() {
    let project = project();
    let (rules, approved) = (builder(), allow(ALLOWED));
    let asked = |command: &str| {
        let analysis = analysed(&project, command);
        verdict(&analysis, &rules, &approved, Mode::Ask) != Verdict::Allow
    };
    let commands = ["git status", "git diff", "git describe --tags", "git log"];
    assert_eq!(commands.map(asked), [false; 4]);
    let hook = project.path(".git/hooks/post-index-change");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(hook, "#!/bin/sh\n./evil").unwrap();
    assert_eq!(commands.map(asked), [true; 4]);
}

#[test]
fn what_does_more_than_it_says_is_asked_about() {
    let project = project();
    for (file, text) in [
        (".env", "KEY=1"),
        ("-r", ""),
        (".husky/pre-commit", ""),
        ("cfg/lathe.json", "{}"),
        (".git/config", ""),
    ] {
        let path = project.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let texts = [
        include_str!("attacks.txt"),
        include_str!("secrets_and_settings.txt"),
    ];
    let commands = texts.map(table).concat();
    let (rules, approved) = (builder(), allow(ALLOWED));
    let allowed: Vec<String> = commands
        .iter()
        .filter(|command| !command.is_empty() && !command.starts_with('#'))
        .map(|command| (command, analysed(&project, command)))
        .filter(|(_, analysis)| verdict(analysis, &rules, &approved, Mode::Ask) == Verdict::Allow)
        .map(|(command, analysis)| format!("{command:?}: {analysis:?}"))
        .collect();
    assert_eq!(allowed, Vec::<String>::new());
}
