//! Each command does what its help says.

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};

#[tokio::test]
async fn run_prints_the_answer_and_nothing_else_on_standard_output() {
    let model = FakeModel::start().await;
    model.reply([
        say("Let me look."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([say("It says one.")]);
    let home = Home::new(&model);
    let output = home.run(&["run", "what", "does", "it", "say?"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "Let me look.\nIt says one.\n");
    assert_eq!(text(&output.stderr), "· read a.txt\n");
    assert_eq!(model.requests()[0].prompt(), "what does it say?");
}

#[tokio::test]
async fn run_with_json_prints_one_event_a_line() {
    let model = FakeModel::start().await;
    model.reply([say("hello there")]);
    let home = Home::new(&model);
    let output = home.run(&["run", "--json", "hello"]).await;
    let events: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    // The event with the title may follow.
    assert!(types.contains(&"session.idle"));
    assert!(types.contains(&"message.part.updated"));
    let deltas: String = events
        .iter()
        .filter_map(|event| event["properties"]["delta"].as_str())
        .collect();
    assert_eq!(deltas, "hello there");
}

#[tokio::test]
async fn a_failed_turn_gives_an_exit_code_and_a_message() {
    let model = FakeModel::start().await;
    model.refuse(401, &[], "no such key");
    let home = Home::new(&model);
    let output = home.run(&["run", "hello"]).await;
    assert!(!output.status.success());
    assert_eq!(text(&output.stdout), "");
    assert!(
        text(&output.stderr).starts_with("lathectl: "),
        "{}",
        text(&output.stderr)
    );
}

#[tokio::test]
async fn without_a_terminal_a_permission_request_is_rejected() {
    let model = FakeModel::start().await;
    let touch = || {
        call(
            "bash",
            json!({ "command": "touch made", "description": "Touch" }),
        )
    };
    model.reply([touch()]);
    let home = Home::new(&model);
    let output = home.run(&["run", "make it"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(!home.project().join("made").exists());
    assert!(
        text(&output.stderr).contains("denied"),
        "{}",
        text(&output.stderr)
    );

    for flag in [vec!["--allow", "bash=touch *"], vec!["--yes"]] {
        let _ = std::fs::remove_file(home.project().join("made"));
        model.reply([touch()]);
        model.reply([say("made")]);
        let args: Vec<_> = [vec!["run"], flag, vec!["make it"]].concat();
        assert!(home.run(&args).await.status.success());
        assert!(home.project().join("made").exists(), "{args:?}");
    }
}

#[tokio::test]
async fn a_session_continues_where_it_stopped() {
    let model = FakeModel::start().await;
    for answer in ["one", "two", "three"] {
        model.reply([say(answer)]);
    }
    let home = Home::new(&model);
    home.run(&["run", "first"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    home.run(&["run", "--continue", "second"]).await;
    home.run(&["run", "--session", &id, "third"]).await;
    assert_eq!(home.sessions().await, std::slice::from_ref(&id));
    assert!(model.requests()[2].user_text().contains("first"));
    let shown = text(&home.run(&["show", &id]).await.stdout);
    for said in ["first", "one", "second", "two", "third", "three"] {
        assert!(shown.contains(said), "{said} is not in:\n{shown}");
    }
}

#[tokio::test]
async fn a_session_has_its_title_when_the_program_ends() {
    let model = FakeModel::start().await;
    model.title("Don't greet \"the\" garden");
    model.reply([say("hello")]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    let sessions = home.json(&["sessions", "--json"]).await;
    assert_eq!(sessions[0]["title"], json!("Don't greet \"the\" garden"));
    let listed = text(&home.run(&["sessions"]).await.stdout);
    assert!(
        listed.ends_with("  Don't greet \"the\" garden\n"),
        "{listed}"
    );
}

#[tokio::test]
async fn export_prints_the_session_with_its_messages_and_parts() {
    let model = FakeModel::start().await;
    model.reply([say("hello")]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    let export = home.json(&["export", &id]).await;
    assert_eq!(export["info"]["id"], json!(id));
    let kinds: Vec<Vec<_>> = export["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let parts = message["parts"].as_array().unwrap().iter();
            parts.map(|part| part["type"].as_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(
        kinds,
        [vec!["text"], vec!["step-start", "text", "step-finish"]]
    );
}

#[tokio::test]
async fn rm_removes_a_session_and_check_finds_nothing_wrong() {
    let model = FakeModel::start().await;
    model.reply([say("hello")]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    assert!(home.run(&["check"]).await.status.success());
    let [id] = home.sessions().await.try_into().unwrap();
    assert!(home.run(&["rm", &id]).await.status.success());
    assert_eq!(home.sessions().await, Vec::<String>::new());
    assert!(!home.run(&["show", &id]).await.status.success());
}

#[tokio::test]
async fn check_names_a_damaged_file_and_repair_moves_it_aside() {
    let model = FakeModel::start().await;
    model.reply([say("hello")]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    let part = find(&home.data().join("storage/part"));
    std::fs::write(&part, "{ \"id\": ").unwrap();
    let output = home.run(&["check"]).await;
    assert!(!output.status.success());
    assert!(
        text(&output.stdout).contains("damaged: part/"),
        "{}",
        text(&output.stdout)
    );
    assert!(home.run(&["check", "--repair"]).await.status.success());
    assert!(!part.exists());
    assert!(home.run(&["check"]).await.status.success());
}

fn find(folder: &std::path::Path) -> std::path::PathBuf {
    let message = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::read_dir(message)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
}

#[tokio::test]
async fn bad_input_gets_a_clear_error() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for (args, word) in [
        (vec!["show", "../../x"], "../../x"),
        (vec!["show", "ses_nobody"], "ses_nobody"),
        (vec!["run", "--model", "nonsense", "hi"], "nonsense"),
        (vec!["run", "--continue", "hi"], "no session"),
        (vec!["run"], "PROMPT"),
    ] {
        let output = home.run(&args).await;
        assert!(!output.status.success(), "{args:?}");
        assert!(
            text(&output.stderr).contains(word),
            "{args:?}: {}",
            text(&output.stderr)
        );
    }
}

#[tokio::test]
async fn models_lists_what_config_adds() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let listed = text(&home.run(&["models"]).await.stdout);
    assert!(listed.lines().any(|line| line == "fake/m"), "{listed}");
    assert!(listed.lines().any(|line| line.starts_with("anthropic/")));
}

#[tokio::test]
async fn a_file_is_attached_to_the_prompt() {
    let model = FakeModel::start().await;
    model.reply([say("I see it.")]);
    let home = Home::new(&model);
    std::fs::write(home.project().join("note.md"), "remember the milk\n").unwrap();
    let output = home.run(&["run", "--file", "note.md", "look"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let asked = model.requests()[0].user_text();
    assert!(asked.contains("remember the milk"), "{asked}");
    let missing = home.run(&["run", "--file", "nowhere.md", "look"]).await;
    assert!(!missing.status.success());
    assert!(text(&missing.stderr).starts_with("lathectl: nowhere.md: "));
}

#[tokio::test]
async fn show_prints_what_the_model_would_be_asked_next() {
    let model = FakeModel::start().await;
    model.reply([say("hello there")]);
    let home = Home::new(&model);
    home.run(&["run", "greet me"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    let neutral = home.json(&["show", &id, "--as", "model"]).await;
    assert_eq!(neutral["model"], "m");
    assert_eq!(
        neutral["messages"][0],
        json!({ "role": "user", "content": [{ "type": "text", "text": "greet me" }] })
    );
    let names: Vec<_> = neutral["tools"].as_array().unwrap().iter().collect();
    assert!(names.iter().any(|tool| tool["name"] == "read"));
    let body = home.json(&["show", &id, "--as", "request"]).await;
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "assistant");
    assert_eq!(last["content"], "hello there");
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn show_as_html_prints_a_page_without_remote_hosts_or_secrets() {
    let model = FakeModel::start().await;
    let secret = ["sk-", "ant-", "api03-0123456789abcdefghijklmnop"].concat();
    model.reply([say(format!("**Keep** <script>alert(1)</script> {secret}"))]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    let page = text(&home.run(&["show", &id, "--as", "html"]).await.stdout);
    assert!(page.starts_with("<!doctype html>"), "{page}");
    assert!(page.contains("<strong>Keep</strong>"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains(&secret), "{page}");
}

#[tokio::test]
async fn sessions_are_found_by_what_was_said_in_them_and_by_their_title() {
    let model = FakeModel::start().await;
    model.reply([say("They ripen in damp cellars.")]);
    model.reply([say("Nothing of that kind.")]);
    let home = Home::new(&model);
    home.run(&["run", "what do medlars do?"]).await;
    let [fruit] = home.sessions().await.try_into().unwrap();
    home.run(&["run", "and stones?"]).await;
    for (words, expected) in [
        ("damp cellars", vec![json!(fruit)]),
        ("medlars", vec![json!(fruit)]),
        ("cellars stones", vec![]),
    ] {
        let found = home.json(&["sessions", "--json", "--search", words]).await;
        let ids: Vec<_> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].clone())
            .collect();
        assert_eq!(ids, expected, "{words}");
    }
}

#[tokio::test]
async fn an_unknown_agent_is_refused_by_name() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let output = home.run(&["run", "--agent", "nobody", "hi"]).await;
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("\"nobody\"; available: build, plan"));
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_answer() {
    let model = FakeModel::start().await;
    let answered = model.reply((0..20_000).map(|number| say(format!("w{number} "))));
    let home = Home::new(&model);
    let mut command = home.command(&["run", "tell me"]);
    command.stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    answered.asked().await;
    // The output is read only after the answer is stored: by then the pipe is full, and far more
    // was published than printed.
    home.stores("part", "w19999").await;
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = output.await.unwrap();
    assert!(output.status.success());
    let expected: String = (0..20_000).map(|number| format!("w{number} ")).collect();
    assert_eq!(text(&output.stdout).trim_end(), expected.trim_end());
}

#[tokio::test]
async fn help_and_completions_list_every_command() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let help = text(&home.run(&["--help"]).await.stdout);
    assert!(!help.contains('\u{1b}'), "colour in a pipe");
    for command in [
        "run",
        "sessions",
        "show",
        "export",
        "import",
        "fork",
        "revert",
        "unrevert",
        "rm",
        "models",
        "check",
        "completions",
    ] {
        assert!(help.contains(&format!("  {command} ")), "{command}: {help}");
    }
    for option in ["--data-dir", "--config", "--directory"] {
        assert!(help.contains(option), "{help}");
    }
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = text(&home.run(&["completions", shell]).await.stdout);
        for command in ["import", "fork", "unrevert"] {
            assert!(script.contains(command), "{command}: {shell}");
        }
    }
}
