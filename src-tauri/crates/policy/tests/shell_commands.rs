//! PROMISES 16: commands built to look harmless, and ordinary ones, against narrow rules.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "shell_commands/attacks.rs"]
mod attacks;
#[path = "support/disk.rs"]
mod disk;
#[path = "shell_commands/pieces.rs"]
mod pieces;
#[path = "shell_commands/rules.rs"]
mod rules;

use std::os::unix::fs::symlink;

use std::path::{Path, PathBuf};

use disk::Disk;
use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Analysis, Reason, SimpleCommand, Surroundings, analyse};
use lathe_policy::{Freedom, Verdict, agents, defaults, rule};
use lathe_protocol::{Action, Rule, ShellDialect};
use rules::{ALLOWED, NARROW, ORDINARY};
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
        let paths = Disk { root: &root, home };
        let surroundings = Surroundings {
            directory: &root,
            home,
            dialect,
            paths: &paths,
        };
        analyse(command, &surroundings)
    }
}

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

/// The rules of the agent that builds, as they are at first.
fn builder() -> Vec<Rule> {
    let mut rules = defaults(Freedom::default());
    rules.extend(agents::rules("build").unwrap());
    rules
}

fn allow(patterns: &[&str]) -> Vec<Rule> {
    let allow = |pattern: &&str| rule("bash", pattern, Action::Allow);
    patterns.iter().map(allow).collect()
}

fn verdict(analysis: &Analysis, rules: &[Rule], approved: &[Rule], mode: Mode) -> Verdict {
    let askers = [Asker {
        name: "build",
        rules,
    }];
    let decision = decide(&Call {
        askers: &askers,
        mode,
        approved,
        granted: &[],
        needs: &Need::of_command(analysis),
    });
    decision.verdict
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

/// A question is needless where the command only looks, and where the person has said yes to
/// what it does. Which commands of real work only look is written down, not computed.
#[test]
fn usual_commands_are_seldom_asked_about_needlessly() {
    let project = project();
    for (file, text) in [("package.json", "{}"), ("Cargo.toml", "")] {
        std::fs::write(project.path(file), text).unwrap();
    }
    let looking = table(include_str!("shell_commands/usual_looking.txt"));
    let working = table(include_str!("shell_commands/usual_working.txt"));
    let count = looking.len() + working.len();
    assert!(count >= 200, "only {count}");
    let rules = builder();
    let approved = allow(ALLOWED);
    let asked = |commands: &[String], approved: &[Rule], mode| -> Vec<String> {
        let asks = |command: &&String| {
            verdict(&analysed(&project, command), &rules, approved, mode) != Verdict::Allow
        };
        commands.iter().filter(asks).cloned().collect()
    };
    let at_first = asked(&looking, &[], Mode::Ask);
    let again = asked(&working, &approved, Mode::Ask);
    let auto = asked(
        &[looking.clone(), working.clone()].concat(),
        &[],
        Mode::Auto { sandboxed: true },
    );
    println!(
        "of {} that only look {} are asked about: {at_first:#?}\nof {} that do more {} are asked \
         about although the person has allowed what they use: {again:#?}\nin Auto {}",
        looking.len(),
        at_first.len(),
        working.len(),
        again.len(),
        auto.len()
    );
    assert!(at_first.len() * 10 <= looking.len());
    assert!((at_first.len() + again.len()) * 10 <= count);
    assert_eq!(auto, Vec::<String>::new());
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
        ("npm ls react", vec!["npm ls *"]),
        ("npm ci", vec!["npm ci *"]),
        ("git fetch origin", vec!["git fetch *"]),
        ("./scripts/build.sh all", vec!["./scripts/build.sh *"]),
        ("go run ./cmd/x -v", vec!["go run ./cmd/x *"]),
        ("deno run a.ts", vec!["deno run a.ts *"]),
        ("lua a.lua", vec!["lua a.lua *"]),
        // The words say what is fetched, or from whom.
        ("curl -s https://docs.rs", vec!["curl -s https://docs.rs"]),
        ("wget https://docs.rs", vec!["wget https://docs.rs"]),
        ("npm install", vec!["npm install"]),
        ("npm install react", vec!["npm install react"]),
        ("pip install flask", vec!["pip install flask"]),
        ("python3 -m pip install x", vec!["python3 -m pip install x"]),
        ("cargo install x", vec!["cargo install x"]),
        ("cargo add serde", vec!["cargo add serde"]),
        ("go get example.org/x", vec!["go get example.org/x"]),
        ("go install example.org/x", vec!["go install example.org/x"]),
        ("git clone https://a.b/c", vec!["git clone https://a.b/c"]),
        ("docker pull x", vec!["docker pull x"]),
        ("mytool build", vec!["mytool build"]),
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
