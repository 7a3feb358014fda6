//! Exit codes, closed pipes and signals; no command outlives the program.

use lathe_test_support::fake_model::{FakeModel, call, full, text as say};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};

fn touch() -> lathe_test_support::fake_model::Item {
    let input = json!({ "command": "touch made", "description": "Touch" });
    call("bash", input)
}

fn writes() -> lathe_test_support::fake_model::Item {
    call("write", json!({ "filePath": "b.txt", "content": "two\n" }))
}

#[tokio::test]
async fn a_turn_stopped_by_a_rejection_fails_and_says_so() {
    let model = FakeModel::start().await;
    model.reply([say("I will."), touch()]);
    let home = Home::new(&model);
    let output = home.run(&["run", "make it"]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("lathectl: the turn stopped"), "{said}");
}

#[tokio::test]
async fn an_answer_cut_by_its_length_is_reported_in_words() {
    let model = FakeModel::start().await;
    model.reply([say("half a sen"), full()]);
    let home = Home::new(&model);
    let output = home.run(&["run", "tell me"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "half a sen\n");
    let said = text(&output.stderr);
    assert!(said.starts_with("lathectl: "), "{said:?}");
}

fn with_rules(model: &FakeModel, rules: Value) -> Home {
    let home = Home::new(model);
    let path = home.folder.path().join("config.json");
    let config = std::fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&config).unwrap();
    config["permission"] = rules;
    std::fs::write(path, config.to_string()).unwrap();
    home
}

#[tokio::test]
async fn the_command_line_can_allow_what_the_config_would_ask_about() {
    let model = FakeModel::start().await;
    let home = with_rules(
        &model,
        json!({ "edit": "ask", "bash": { "touch *": "ask" } }),
    );
    for flag in [vec!["--yes"], vec!["--allow", "edit=*.txt"]] {
        let _ = std::fs::remove_file(home.project().join("b.txt"));
        model.reply([writes()]);
        model.reply([say("written")]);
        let args: Vec<_> = [vec!["run"], flag, vec!["write b"]].concat();
        let output = home.run(&args).await;
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(home.project().join("b.txt").exists(), "{args:?}");
    }
}

#[tokio::test]
async fn the_command_line_cannot_allow_what_the_config_denies() {
    let model = FakeModel::start().await;
    let home = with_rules(&model, json!({ "bash": { "touch *": "deny" } }));
    let asked = model.reply([touch()]);
    let second = model.reply([say("I may not.")]);
    let args = ["run", "--yes", "--allow", "bash=touch *", "make it"];
    let output = home.run(&args).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(asked.was_asked());
    assert!(second.request().tool_error("bash").contains("denied"));
    assert!(!home.project().join("made").exists());
}

#[tokio::test]
async fn a_request_settled_by_another_answer_is_not_answered_again() {
    let model = FakeModel::start().await;
    let read = |file: &str| call("read", json!({ "filePath": file }));
    model.reply([read("a.env"), read("b.env")]);
    let home = Home::new(&model);
    for file in ["a.env", "b.env"] {
        std::fs::write(home.project().join(file), "SECRET=1\n").unwrap();
    }
    let output = home.run(&["run", "look"]).await;
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said.matches("! denied").count(), 1, "{said}");
    assert!(!said.contains("there is no permission request"), "{said}");
    assert!(said.contains("the turn stopped"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_closed_standard_error_does_not_end_the_run() {
    let model = FakeModel::start().await;
    model.reply([say("Look."), call("read", json!({ "filePath": "a.txt" }))]);
    model.reply([say("It says one.")]);
    let home = Home::new(&model);
    let mut command = home.command(&["run", "what does it say?"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stderr(writer).stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = output.await.unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(text(&output.stdout), "Look.\nIt says one.\n");
}

#[cfg(unix)]
#[tokio::test]
async fn completions_written_to_a_closed_pipe_end_quietly() {
    let home = Home::with_config(json!({}));
    let mut command = home.command(&["completions", "bash"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "");
}

#[cfg(target_os = "linux")]
mod signals {
    use std::process::{Child, Output, Stdio};
    use std::time::Duration;

    use lathe_test_support::fake_model::stall;
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::hostile_input::survivors;

    /// A test that waits for what never comes has failed.
    const PATIENCE: Duration = Duration::from_secs(120);

    async fn end_of(child: Child) -> Output {
        let ended = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
        tokio::time::timeout(PATIENCE, ended)
            .await
            .unwrap()
            .unwrap()
    }

    #[tokio::test]
    async fn a_terminated_run_leaves_no_command_behind() {
        let model = FakeModel::start().await;
        let home = Home::new(&model);
        let signals = [
            (Signal::INT, 130),
            (Signal::TERM, 143),
            (Signal::HUP, 129),
            (Signal::QUIT, 131),
        ];
        for (signal, code) in signals {
            let marker = format!("8{code}{:07}", std::process::id());
            let up = home.project().join(&marker);
            let command = format!("touch {marker}; sleep {marker}");
            let input = json!({ "command": command, "description": "Wait" });
            model.reply([call("bash", input)]);
            let mut command = home.command(&["run", "--yes", "wait"]);
            let child = command.stdout(Stdio::null()).spawn().unwrap();
            while !up.exists() {
                tokio::task::yield_now().await;
            }
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = end_of(child).await;
            assert_eq!(output.status.code(), Some(code), "{signal:?}");
            assert_eq!(survivors(&format!("sleep {marker}")), Vec::<String>::new());
        }
        let sessions = home.json(&["sessions", "--json"]).await;
        let id = sessions[0]["id"].as_str().unwrap();
        let shown = text(&home.run(&["show", id]).await.stdout);
        assert!(shown.contains("Tool execution aborted"), "{shown}");
    }

    #[tokio::test]
    async fn a_second_signal_ends_the_program_even_if_its_output_is_not_read() {
        let model = FakeModel::start().await;
        let words = (0..20_000).map(|number| say(format!("w{number} ")));
        model.reply(words.chain([stall()]));
        let home = Home::new(&model);
        let mut command = home.command(&["run", "tell me"]);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        home.stores("part", "w19999").await;
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        // The first one has stopped the turn, but its end cannot be printed.
        home.stores("message", "MessageAbortedError").await;
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let mut child = child;
        let ended = tokio::task::spawn_blocking(move || child.wait().unwrap());
        let status = tokio::time::timeout(PATIENCE, ended).await.unwrap();
        assert_eq!(status.unwrap().code(), Some(130));
    }
}
