//! PROMISES 16: commands built to look harmless, and ordinary ones, against narrow rules.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::os::unix::fs::symlink;

use std::path::{Path, PathBuf};

use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Analysis, Reason, SimpleCommand, Surroundings, analyse};
use lathe_policy::{Freedom, Verdict, agents, defaults, rule};
use lathe_protocol::{Action, Rule, ShellDialect};
use lathe_workspace::paths::DiskPaths;
use proptest::prelude::*;
use tempfile::TempDir;

/// A project folder, with a home and a secret beside it.
struct Project {
    _folder: TempDir,
    base: PathBuf,
}

impl Project {
    fn root(&self) -> PathBuf {
        self.base.join("project")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    fn analyse(&self, command: &str, home: Option<&Path>, dialect: ShellDialect) -> Analysis {
        let root = self.root();
        let paths = DiskPaths {
            root: &root,
            home,
            may_read: None,
        };
        let surroundings = Surroundings {
            directory: &root,
            home,
            dialect,
            paths: &paths,
        };
        analyse(command, &surroundings)
    }
}

/// What a careful user may have allowed with "always".
const NARROW: &[&str] = &[
    "git status *",
    "git diff *",
    "git log *",
    "git show *",
    "git grep *",
    "ls *",
    "cat *",
    "echo *",
    "grep *",
    "rg *",
    "find *",
    "npm run build *",
    "npm test *",
    "cargo build *",
    "cargo test *",
    "go test *",
    "sort *",
    "uniq *",
    "wc *",
    "head *",
    "tail *",
    "sed *",
    "awk *",
    "tar *",
    "make *",
    "true *",
    "xxd *",
    "env *",
    "time *",
    "timeout *",
    "nice *",
    "xargs *",
];

/// Everything that the ordinary table does, program by program.
const ORDINARY: &[&str] = &[
    "git *",
    "pwd *",
    "which *",
    "command *",
    "date *",
    "whoami *",
    "uname *",
    "cargo *",
    "npm *",
    "npx *",
    "yarn *",
    "pnpm *",
    "node *",
    "python3 *",
    "pytest *",
    "go *",
    "make *",
    "mkdir *",
    "touch *",
    "cp *",
    "mv *",
    "rm *",
    "docker *",
    "gh *",
    "tree *",
    "du *",
    "df *",
    "ps *",
    "curl *",
    "diff *",
    "file *",
    "stat *",
    "chmod *",
    "sleep *",
    "bash scripts/build.sh *",
    "./scripts/build.sh *",
    "scripts/build.sh *",
    "build.sh *",
    "jq *",
];

fn project() -> Project {
    let folder = tempfile::tempdir().unwrap();
    let project = Project {
        base: folder.path().canonicalize().unwrap(),
        _folder: folder,
    };
    for file in [
        "project/src/main.rs",
        "project/a.txt",
        "secret/key.txt",
        "home/.x",
    ] {
        let file = project.outside(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    symlink(project.outside("secret"), project.path("out")).unwrap();
    project
}

fn analysed(project: &Project, command: &str) -> Analysis {
    let home = project.outside("home");
    project.analyse(command, Some(&home), ShellDialect::Posix)
}

fn is_allowed(analysis: &Analysis, rules: &[&str]) -> bool {
    let covered = |command: &SimpleCommand| rules.iter().any(|rule| command.is_covered_by(rule));
    analysis.line_reasons.is_empty()
        && !analysis.hides_program
        && analysis.outside.is_empty()
        && analysis.protected.is_empty()
        && analysis.commands.iter().all(covered)
}

/// A line with `\n`, `\r` or `\u` in it is the inside of a JSON string: a text file would hide
/// what it holds.
fn table(text: &str) -> Vec<String> {
    let read = |line: &str| {
        if !["\\n", "\\r", "\\u"]
            .iter()
            .any(|escape| line.contains(escape))
        {
            return line.to_owned();
        }
        serde_json::from_str(&format!("\"{line}\"")).unwrap()
    };
    text.lines().map(read).collect()
}

#[test]
fn nothing_that_looks_harmless_passes_a_narrow_rule() {
    let project = project();
    let commands = table(include_str!("shell_commands/harmless_looking.txt"));
    assert!(commands.len() >= 150);
    let passed: Vec<String> = commands
        .iter()
        .map(|command| (command, analysed(&project, command)))
        .filter(|(_, analysis)| is_allowed(analysis, NARROW))
        .map(|(command, analysis)| format!("{command:?}: {analysis:?}"))
        .collect();
    assert_eq!(passed, Vec::<String>::new());
}

#[test]
fn ordinary_commands_are_hardly_ever_asked_about_once_allowed() {
    let project = project();
    let commands = table(include_str!("shell_commands/ordinary.txt"));
    assert!(commands.len() >= 100);
    let rules: Vec<&str> = NARROW.iter().chain(ORDINARY).copied().collect();
    let asked: Vec<String> = commands
        .iter()
        .map(|command| (command, analysed(&project, command)))
        .filter(|(_, analysis)| !is_allowed(analysis, &rules))
        .map(|(command, analysis)| format!("{command:?}: {analysis:?}"))
        .collect();
    assert!(asked.len() * 100 <= commands.len() * 5, "{asked:#?}");
}

/// What a person allows in the first hours of work, one "always" at a time.
const ALLOWED: &[&str] = &[
    "git add *",
    "git commit *",
    "git checkout *",
    "git switch *",
    "git stash *",
    "git stash pop *",
    "git fetch *",
    "git pull *",
    "cargo build *",
    "cargo check *",
    "cargo test *",
    "cargo clippy *",
    "cargo fmt *",
    "cargo run *",
    "cargo doc *",
    "npm install *",
    "npm ci *",
    "npm test *",
    "npm run *",
    "npx tsc *",
    "npx eslint *",
    "npx prettier *",
    "npx vitest *",
    "npx jest *",
    "yarn test *",
    "pnpm run build *",
    "pnpm install *",
    "node scripts/build.js *",
    "python3 scripts/gen.py *",
    "python3 -m pytest *",
    "pytest *",
    "pip install *",
    "pip list *",
    "ruff check *",
    "mypy *",
    "go build *",
    "go test *",
    "go vet *",
    "make *",
    "mkdir *",
    "touch *",
    "cp *",
    "mv *",
    "rm *",
    "chmod *",
    "docker ps *",
    "docker compose ps *",
    "docker compose logs *",
    "gh pr *",
    "gh run *",
];

#[test]
fn usual_commands_are_seldom_asked_about() {
    let project = project();
    for (file, text) in [("package.json", "{}"), ("Cargo.toml", "")] {
        std::fs::write(project.path(file), text).unwrap();
    }
    let commands = table(include_str!("shell_commands/usual.txt"));
    assert!(commands.len() >= 200, "only {}", commands.len());
    let mut rules = defaults(Freedom::default());
    rules.extend(agents::rules("build").unwrap());
    let allow = |pattern: &&str| rule("bash", pattern, Action::Allow);
    let approved: Vec<_> = ALLOWED.iter().map(allow).collect();
    let asked = |approved: &[Rule], mode| -> Vec<String> {
        let asks = |command: &&String| {
            let needs = Need::of_command(&analysed(&project, command));
            let askers = [Asker {
                name: "build",
                rules: &rules,
            }];
            let decision = decide(&Call {
                askers: &askers,
                mode,
                approved,
                granted: &[],
                needs: &needs,
            });
            decision.verdict != Verdict::Allow
        };
        commands.iter().filter(asks).cloned().collect()
    };
    let (untaught, taught) = (asked(&[], Mode::Ask), asked(&approved, Mode::Ask));
    let auto = asked(&approved, Mode::Auto { sandboxed: true });
    println!(
        "of {} usual commands {} are asked about at first, {} ({}%) once the person has allowed \
         what they use, {} in Auto",
        commands.len(),
        untaught.len(),
        taught.len(),
        taught.len() * 100 / commands.len(),
        auto.len()
    );
    assert!(taught.len() * 10 <= commands.len(), "{taught:#?}");
    assert_eq!(auto, Vec::<String>::new());
    let reading = commands.iter().filter(|command| {
        let analysis = analysed(&project, command);
        analysis.only_reads()
    });
    for command in reading {
        assert!(!untaught.contains(command), "{command} only reads");
    }
}

#[test]
fn always_offers_the_words_that_say_what_is_done() {
    let project = project();
    for (command, always) in [
        ("git status --short", vec!["git status *"]),
        ("npm run build -- --watch", vec!["npm run build *"]),
        ("npm test", vec!["npm test *"]),
        ("ls -la src", vec!["ls *"]),
        ("cargo test -p x | tail -5", vec!["cargo test *", "tail *"]),
        ("docker compose up -d", vec!["docker compose up *"]),
        ("python3 -m pytest -q", vec!["python3 -m pytest *"]),
        ("cd src && git status", vec!["git status *"]),
        // No prefix of these would say what is allowed.
        ("git --no-pager log", vec![]),
        ("find . -name x", vec![]),
        ("sudo ls", vec![]),
        ("timeout 5 ls", vec![]),
        ("/usr/bin/git status", vec![]),
        ("bash -c 'ls'", vec![]),
        ("git status > x", vec![]),
        ("ls $(pwd)", vec![]),
        ("A=1 ls", vec![]),
        ("cat <<< x", vec![]),
        ("eval ls", vec![]),
        ("ls 'unclosed", vec![]),
    ] {
        assert_eq!(analysed(&project, command).always, always, "{command}");
    }
}

#[test]
fn patterns_have_one_spelling_and_include_what_is_inside() {
    let project = project();
    for (command, patterns) in [
        ("'rm' -rf \"a b\"", vec!["rm -rf 'a b'"]),
        ("r\\m -rf x", vec!["rm -rf x"]),
        ("/bin/rm x", vec!["/bin/rm x", "rm x"]),
        ("git status && rm x", vec!["git status", "rm x"]),
        ("echo $(rm x)", vec!["rm x", "echo '$(rm x)'"]),
        ("timeout 5 rm x", vec!["timeout 5 rm x", "rm x"]),
        ("sh -c 'rm x; ls'", vec!["sh -c 'rm x; ls'", "rm x", "ls"]),
        ("ls *.rs", vec!["ls *.rs"]),
        ("cd src", vec![]),
    ] {
        assert_eq!(analysed(&project, command).patterns, patterns, "{command}");
    }
}

#[test]
fn each_kind_of_doubt_is_named() {
    let project = project();
    for (command, reason) in [
        ("ls > x", Reason::Redirect),
        ("ls $(x)", Reason::Substitution),
        ("cat << E\nx\nE", Reason::Heredoc),
        ("A=1 ls", Reason::Assignment),
        ("ls $A", Reason::Variable),
        ("f() { ls; }", Reason::Definition),
        ("eval ls", Reason::ShellBuiltin),
        ("sh -c ls", Reason::Script),
        ("sudo ls", Reason::Indirect),
        ("find . -delete", Reason::Flag),
        ("ls\u{202e}", Reason::Deceptive),
        ("ls (", Reason::ParseError),
    ] {
        let analysis = analysed(&project, command);
        assert!(
            analysis.reasons.contains(&reason),
            "{command}: {analysis:?}"
        );
    }
    assert_eq!(analysed(&project, "ls 2>&1 >/dev/null").reasons.len(), 0);
}

#[test]
fn the_directories_outside_are_named() {
    let project = project();
    for (command, outside) in [
        ("cat /etc/hosts", "/etc".into()),
        ("cat out/key.txt", project.outside("secret")),
        ("ls ../secret", project.outside("secret")),
        ("cd .. && ls", project.outside("")),
        ("cat ~/x", project.outside("home")),
    ] {
        let found: Vec<_> = analysed(&project, command).outside.into_iter().collect();
        assert_eq!(
            found,
            [outside.components().collect::<std::path::PathBuf>()],
            "{command}"
        );
    }
    assert!(
        analysed(&project, "cd src && cat main.rs")
            .outside
            .is_empty()
    );
}

#[test]
fn powershell_is_only_trusted_with_plain_words() {
    let project = project();
    let of = |command: &str| project.analyse(command, None, ShellDialect::PowerShell);
    assert_eq!(of("git status").always, ["git status *"]);
    for command in [
        "git status; rm x",
        "git status | rm",
        "& rm x",
        "ls $x",
        "git (rm x)",
    ] {
        assert!(of(command).is_opaque(), "{command}");
    }
}

/// Pieces of commands, put together at random to look for texts that the shell and the analysis
/// read differently.
const PIECES: &[&str] = &[
    "echo",
    "echo x",
    "touch p",
    " touch p",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    " ",
    " ",
    "'",
    "\"",
    "\\",
    "$(",
    "`",
    ")",
    "(",
    "{",
    "}",
    "#",
    " #",
    "<",
    ">",
    "<<",
    "E",
    "\nE\n",
    "$",
    "$'",
    "!",
    "\\\n",
    "\\'",
    "\\\"",
    "case",
    "esac",
    "in",
    "if",
    "then",
    "fi",
    "[",
    "]",
    "~",
    "=",
    "a=",
    "*",
    "\t",
    "''",
    "\"\"",
    "x)",
    ";;",
    "do",
    "done",
    "time",
    "coproc",
    "function f",
    "-c",
    "=~",
    "%",
];

fn pieces() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 1..12)
        .prop_map(|pieces| format!("echo{}", pieces.concat()))
}

fn cases() -> u32 {
    if std::env::var_os("LATHE_SOAK").is_some() {
        20_000
    } else {
        300
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// A command that passes a rule for `echo` never does more than that in a real shell.
    #[test]
    fn what_passes_for_echo_only_prints(command in pieces()) {
        let project = project();
        if is_allowed(&analysed(&project, &command), &["echo *"]) {
            std::process::Command::new("/bin/bash")
                .args(["-c", &command])
                .current_dir(project.root())
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            prop_assert!(!project.path("p").exists(), "{:?}", command);
        }
    }
}

proptest::proptest! {
    /// Whatever the text: no panic, and never both nothing to check and something to run.
    #[test]
    fn any_text_is_analysed(command in "[a-z \\-;&|$(){}<>'\"`\\\\\n*?~/.=#!\\[\\]]{0,40}") {
        let project = project();
        let analysis = analysed(&project, &command);
        let runs = command.chars().any(|c| c.is_ascii_alphanumeric() || c == '$' || c == '`');
        let only_cd_or_comment = command.contains("cd") || command.contains('#');
        let checked = !analysis.patterns.is_empty() || analysis.is_opaque();
        prop_assert!(checked || !runs || only_cd_or_comment, "{:?}", command);
    }
}
