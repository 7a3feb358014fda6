//! Commands on real processes; PROMISES 10.

use std::path::{Path, PathBuf};

use lathe_tools::{FailureKind, ToolOutput};
use serde_json::{Value, json};

use super::support::Project;

fn command(command: &str) -> Value {
    json!({ "command": command, "description": "a test" })
}

async fn run(project: &Project, text: &str) -> ToolOutput {
    project.run("bash", command(text)).await.unwrap()
}

/// Processes whose arguments contain `mark`, zombies not counted.
pub fn alive(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| {
            let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
            arguments
                .contains(mark)
                .then(|| format!("{pid} {arguments}"))
        })
        .collect()
}

/// A signalled process takes a moment to end.
pub async fn until_gone(mark: &str) {
    let gone = async {
        while !alive(mark).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(10), gone).await;
    assert!(waited.is_ok(), "{:?}", alive(mark));
}

async fn until_exists(path: &Path) {
    while !path.exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn output_and_errors_come_together_in_order() {
    let project = Project::new();
    let result = run(&project, "echo one; echo two >&2; echo three").await;
    assert_eq!(result.output, "one\ntwo\nthree\n");
    assert_eq!(result.title, "a test");
    assert_eq!(result.metadata["exit"], 0);
    assert_eq!(result.metadata["description"], "a test");
    assert_eq!(result.metadata["truncated"], false);
}

#[tokio::test]
async fn a_failing_command_is_a_result_with_its_code() {
    let project = Project::new();
    let result = run(&project, "echo no; exit 3").await;
    assert_eq!(result.output, "no\n\n\n(exit code 3)");
    assert_eq!(result.metadata["exit"], 3);
    assert_eq!(run(&project, "true").await.output, "(no output)");
    assert_eq!(run(&project, "kill -9 $$").await.metadata["exit"], 137);
}

#[tokio::test]
async fn it_runs_in_the_project_or_in_workdir_in_the_users_shell() {
    let project = Project::new().file("a dir/ü\n/x", "");
    let result = run(&project, "pwd; echo $0").await;
    assert_eq!(
        result.output,
        format!("{}\n/bin/bash\n", project.cx.root.display())
    );
    let input = json!({ "command": "ls", "description": "d", "workdir": "a dir/ü\n" });
    assert_eq!(project.output("bash", input).await, "x\n");
    let input = json!({ "command": "ls", "description": "d", "workdir": "a dir/ü\n/x" });
    assert!(
        project
            .failure("bash", input)
            .await
            .text
            .contains("not a directory")
    );
}

#[tokio::test]
async fn secrets_are_not_in_its_environment_and_input_is_closed() {
    let project = Project::new();
    let result = run(&project, "env; cat").await;
    assert!(!result.output.contains("canary"), "{}", result.output);
    assert!(
        result.output.contains("ORDINARY=passed on"),
        "{}",
        result.output
    );
}

#[tokio::test]
async fn colours_are_for_the_card_and_plain_text_for_the_model() {
    let project = Project::new();
    let result = run(
        &project,
        r"printf '\033[31mred\033[0m \033]0;t\007\033[2J\342\200\256x'",
    )
    .await;
    assert_eq!(result.output, "red x");
    assert_eq!(result.metadata["output"], "\u{1b}[31mred\u{1b}[0m x");
}

#[tokio::test]
async fn a_card_shows_the_end_of_long_output_and_says_that_it_is_cut() {
    let project = Project::new();
    // The last one is slightly longer than the captured head.
    for (lines, cut) in [(2_000, false), (4_000, true), (6_600, true)] {
        let result = run(&project, &format!("seq -f 'line %04g' {lines}")).await;
        let card = result.metadata["output"].as_str().unwrap_or_default();
        assert!(card.ends_with(&format!("line {lines}\n")), "{lines}");
        assert_eq!(card.len(), (lines * 10).min(30 * 1024), "{lines}");
        assert_eq!(result.metadata.get("cardCut").is_some(), cut, "{lines}");
    }
}

#[tokio::test]
async fn deceptive_commands_are_shown_as_escapes_in_the_dialog() {
    let project = Project::new().denying("bash");
    project
        .failure("bash", command("ls \u{202e}x\u{1b}[8m"))
        .await;
    let asks = project.host.asks.lock();
    assert_eq!(asks[0].metadata["command"], "ls \\u202ex\\u001b[8m");
}

#[tokio::test]
async fn output_is_shown_while_it_runs() {
    let project = Project::new();
    let release = project.path("go");
    let text = format!(
        "echo early; while [ ! -e {} ]; do sleep 0.01; done",
        release.display()
    );
    let running = run(&project, &text);
    let watching = async {
        project.host.progressed.notified().await;
        std::fs::write(&release, "").unwrap();
    };
    let (result, ()) = tokio::join!(running, watching);
    assert_eq!(result.output, "early\n");
    assert_eq!(
        project.host.progress.lock()[0].metadata["output"],
        "early\n"
    );
}

#[tokio::test]
async fn a_store_that_cannot_write_stops_commands() {
    let project = Project::new();
    *project.host.read_only.lock() = true;
    assert_eq!(
        project.failure("bash", command("touch x")).await.kind,
        FailureKind::Failed
    );
    assert!(!project.path("x").exists());
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_end_and_is_saved_whole() {
    let project = Project::new();
    for count in [2_500, 50_000] {
        let result = run(&project, &format!("seq {count}")).await;
        let whole: String = (1..=count).map(|n| format!("{n}\n")).collect();
        assert!(result.output.starts_with("1\n2\n"));
        assert!(result.output.ends_with(&format!("\n{count}\n")));
        assert!(result.output.len() <= 50 * 1024 && result.output.lines().count() <= 2_000);
        let path = PathBuf::from(result.metadata["outputPath"].as_str().unwrap());
        assert!(result.output.contains(path.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(path).unwrap(), whole);
        assert_eq!(result.metadata["truncated"], true);
    }
}

/// A memory field of this process in kilobytes: current or peak usage.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn endless_output_is_counted_but_not_stored() {
    let project = Project::new();
    let size = if std::env::var_os("LATHE_SOAK").is_some() {
        "10G"
    } else {
        "1G"
    };
    let before = memory("VmRSS");
    let result = run(&project, &format!("head -c {size} /dev/zero")).await;
    assert_eq!(result.metadata["exit"], 0);
    let yes = json!({ "command": "yes", "description": "d", "timeout": 500 });
    let result = project.run("bash", yes).await.unwrap();
    assert_eq!(result.metadata["timedOut"], true);
    assert!(result.output.contains("timeout of 500 ms"));
    assert!(result.output.len() < 52 * 1024);
    let saved = PathBuf::from(result.metadata["outputPath"].as_str().unwrap());
    assert!(saved.metadata().unwrap().len() <= 65 * 1024 * 1024);
    assert!(
        memory("VmHWM") - before <= 64 * 1024,
        "memory grew by more than 64 MB"
    );
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let project = Project::new();
    let input = json!({
        "command": "sleep 91001 & (trap '' TERM; sleep 91001; sleep 91001) & setsid sleep 91001",
        "description": "d",
        "timeout": 300,
    });
    let result = project.run("bash", input).await.unwrap();
    assert_eq!(result.metadata["timedOut"], true);
    assert_eq!(result.metadata["exit"], Value::Null);
    assert_eq!(alive("91001"), Vec::<String>::new());
    assert_eq!(project.cx.environment.processes().running(), 0);
}

#[tokio::test]
async fn a_child_that_keeps_the_pipe_open_does_not_block_the_tool() {
    let project = Project::new();
    let result = run(&project, "sleep 91002 & echo started").await;
    assert_eq!(result.output, "started\n");
    assert_eq!(result.metadata["exit"], 0);
    assert_eq!(alive("91002"), Vec::<String>::new());
}

/// Children that ignore TERM, move to another session, clear their environment, or are orphaned.
#[tokio::test]
async fn no_child_survives_an_abort() {
    for (mark, text) in [
        ("91010", "sleep 91010"),
        (
            "91011",
            "trap '' TERM; sleep 91011; sleep 91011; sleep 91011",
        ),
        ("91012", "setsid sleep 91012"),
        (
            "91013",
            "setsid sh -c 'sleep 91013 & sleep 91013 &'; sleep 91013",
        ),
        (
            "91014",
            "env -i setsid sh -c \"trap '' TERM HUP; sleep 91014 & wait\" & sleep 91014",
        ),
        (
            "91015",
            "(setsid nohup env -i sleep 91015 >/dev/null 2>&1 &) ; sleep 91015",
        ),
        ("91016", "kill -TERM 0; sleep 91016"),
        ("91017", "sh -c 'kill -STOP $$' & sleep 91017"),
    ] {
        let project = Project::new();
        let ready = project.path("ready");
        let text = format!("touch {} ; {text}", ready.display());
        let cancel = async {
            until_exists(&ready).await;
            while alive(mark).len() < 2 {
                tokio::task::yield_now().await;
            }
            project.cx.cancel.cancel();
        };
        let input = command(&text);
        // A command that signals its own group may end before we cancel it.
        let result = if mark == "91016" {
            project.run("bash", input).await.map(|_| ())
        } else {
            tokio::join!(project.run("bash", input), cancel)
                .0
                .map(|_| ())
        };
        if mark != "91016" {
            assert_eq!(result.unwrap_err().kind, FailureKind::Aborted, "{text}");
        }
        assert_eq!(alive(mark), Vec::<String>::new(), "{text}");
    }
}

#[tokio::test]
async fn an_unmarked_orphan_ends_with_its_command() {
    let project = Project::new();
    run(
        &project,
        "(env -i setsid sleep 91020 >/dev/null 2>&1 &); echo done",
    )
    .await;
    assert_eq!(alive("91020"), Vec::<String>::new());
}

#[tokio::test]
async fn dropping_the_call_or_closing_the_app_ends_everything() {
    let project = Project::new();
    let ready = project.path("ready");
    let text = format!(
        "setsid sleep 91030 & touch {}; sleep 91030",
        ready.display()
    );
    tokio::select! {
        _ = run(&project, &text) => unreachable!("it sleeps"),
        () = until_exists(&ready) => {}
    }
    until_gone("91030").await;
    assert_eq!(project.cx.environment.processes().running(), 0);

    std::fs::remove_file(&ready).unwrap();
    let leaving = async {
        until_exists(&ready).await;
        project.cx.environment.processes().kill_all();
    };
    let (result, ()) = tokio::join!(run(&project, &text), leaving);
    assert_ne!(result.metadata["exit"], 0);
    until_gone("91030").await;
}
