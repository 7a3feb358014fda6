//! Config files: precedence, when changes take effect, and mistakes.

use lathe_protocol::ipc::ConfigProblem;
use lathe_protocol::{Event, Part, PermissionMode};
use lathe_provider::WireKind;
use lathe_session::config::{McpKind, ShareMode, ShareSetting};
use lathe_test_support::app::{TestApp, until};
use lathe_test_support::fake_model::{FakeModel, Gate, call, hold, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

#[tokio::test]
async fn a_changed_config_takes_effect_with_the_next_prompt() {
    let model = FakeModel::start().await;
    let first = model.reply([text("one")]);
    let second = model.reply([text("two")]);
    let third = model.reply([text("three")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/lathe.json",
        r#"{ "permission": { "bash": "deny" } }"#,
    );
    app.ask("1").await;
    app.write_config(
        "lathe/lathe.json",
        r#"{ "permission": { "webfetch": "deny" } }"#,
    );
    app.ask("2").await;
    app.write(
        "lathe.json",
        r#"{ "permission": { "edit": { "*": "deny" } } }"#,
    );
    app.ask("3").await;

    let offered = |seen: &lathe_test_support::fake_model::Answered| {
        let tools = seen.request().tools;
        ["bash", "webfetch", "edit", "write"].map(|name| tools.iter().any(|tool| tool == name))
    };
    assert_eq!(offered(&first), [false, true, true, true]);
    assert_eq!(offered(&second), [true, false, true, true]);
    assert_eq!(offered(&third), [true, false, false, false]);
}

#[tokio::test]
async fn patterns_decide_command_by_command() {
    let model = FakeModel::start().await;
    let run = |command: &str| call("bash", json!({ "command": command, "description": "Run" }));
    model.reply([run("echo fine"), run("cat secret")]);
    let second = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await.file("secret", "x");
    app.write_config(
        "opencode/opencode.jsonc",
        r#"{ "permission": { "bash": { "*": "deny", "echo *": "allow", }, } } // mine"#,
    );
    app.ask("go").await;
    let seen = second.request();
    let results: Vec<_> = seen
        .calls
        .iter()
        .map(|call| call.result.as_ref().map(|result| result.is_error))
        .collect();
    assert_eq!(results, [Some(false), Some(true)]);
}

#[tokio::test]
async fn an_ask_in_config_asks() {
    let model = FakeModel::start().await;
    model.reply([call("read", json!({ "filePath": "a.txt" }))]);
    let app = TestApp::with_model(&model, WIRE).await.file("a.txt", "x");
    app.write_config("lathe/lathe.json", r#"{ "permission": "ask" }"#);
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    assert_eq!(
        (request.permission.as_str(), request.patterns),
        ("read", vec!["a.txt".to_owned()])
    );
    app.sessions.abort(&app.session.id).await;
}

#[tokio::test]
async fn mistakes_are_reported_with_file_and_key_and_the_rest_takes_effect() {
    let app = TestApp::start().await.file("lathe.json", "{ \"agent\": }");
    app.write_config(
        "lathe/lathe.json",
        r#"{
            "permission": { "bash": "sometimes", "edit": "deny" },
            "provider": { "mine": { "options": { "baseURL": "nowhere" } } },
            "share": "disabled",
            "mcp": { "docs": { "type": "local", "command": ["docs"] }, "bad": { "type": "local" } },
            "unknown": true
        }"#,
    );
    let problems = app.sessions.config_problems(&app.project).await.unwrap();
    let places: Vec<_> = problems
        .iter()
        .map(
            |ConfigProblem {
                 file, line, key, ..
             }| {
                (
                    file.rsplit("config-home/").next().unwrap_or_default(),
                    line.unwrap_or_default(),
                    key.as_str(),
                )
            },
        )
        .collect();
    assert_eq!(
        places,
        [
            ("lathe.json", 1, ""),
            ("lathe/lathe.json", 6, "unknown"),
            ("lathe/lathe.json", 2, "permission.bash"),
            ("lathe/lathe.json", 5, "mcp.bad.command"),
            ("lathe/lathe.json", 3, "provider.mine.options.baseURL"),
        ]
    );
    assert!(
        problems[2].message.contains("\"sometimes\""),
        "{problems:?}"
    );
    let settings = app.sessions.settings(&app.project).await;
    assert_eq!(
        settings.share,
        Some(ShareSetting::Mode(ShareMode::Disabled))
    );
    let servers = app.sessions.mcp_servers(&app.project).await;
    let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["docs"]);
    assert!(matches!(&servers[0].kind, McpKind::Stdio { command, .. } if command == "docs"));
}

#[tokio::test]
async fn all_edits_in_a_project_can_be_allowed() {
    let model = FakeModel::start().await;
    let write = || call("write", json!({ "filePath": "new.txt", "content": "x" }));
    let app = TestApp::with_model(&model, WIRE).await;
    app.sessions
        .set_project_edits(&app.project, true)
        .await
        .unwrap();
    model.reply([write()]);
    model.reply([text("done")]);
    app.ask("write").await;
    assert_eq!(app.read("new.txt"), "x");
    assert!(app.sessions.project_edits(&app.project).await);

    app.sessions
        .set_project_edits(&app.project, false)
        .await
        .unwrap();
    model.reply([call(
        "write",
        json!({ "filePath": "other.txt", "content": "x" }),
    )]);
    let mut events = app.sessions.subscribe();
    app.send("again").await;
    app.next_permission(&mut events).await;
    app.sessions.abort(&app.session.id).await;
    assert!(!app.path("other.txt").exists());
}

#[tokio::test]
async fn full_access_gives_agents_no_tool_they_lack() {
    let model = FakeModel::start().await;
    let first = model.reply([call(
        "bash",
        json!({ "command": "echo hi", "description": "Hi" }),
    )]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.set_mode(PermissionMode::Full).await;
    app.ask("go").await;
    assert_eq!(app.calls().await, ["bash: completed"]);
    assert!(!first.request().tools.iter().any(|tool| tool == "plan_exit"));
}

#[tokio::test]
async fn what_the_person_forbids_while_the_model_answers_holds_for_the_calls_of_that_answer() {
    let model = FakeModel::start().await;
    let gate = Gate::closed();
    let input = json!({ "command": "touch made", "description": "Make it" });
    model.reply([text("one moment"), hold(&gate), call("bash", input)]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.set_mode(PermissionMode::Full).await;
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let answers = |part: &Part| matches!(part, Part::Text(part) if part.text != "go");
    until(
        &mut events,
        |event| matches!(event, Event::MessagePartUpdated(updated) if answers(&updated.part)),
    )
    .await;
    app.set_mode(PermissionMode::Ask).await;
    gate.open();
    let request = app.next_permission(&mut events).await;
    assert_eq!(request.patterns, ["touch made"]);
    app.sessions.abort(&app.session.id).await;
    assert!(!app.path("made").exists());
}

#[tokio::test]
async fn a_remembered_permission_never_overrides_a_deny_of_the_config() {
    let model = FakeModel::start().await;
    let edit = |name: &str| call("write", json!({ "filePath": name, "content": "x" }));
    model.reply([edit("a.txt")]);
    model.reply([edit("b.lock")]);
    let third = model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/lathe.json",
        r#"{ "permission": { "edit": { "*.lock": "deny" } } }"#,
    );
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let request = app.next_permission(&mut events).await;
    let answered = app
        .sessions
        .answer_permission(&request.id, lathe_session::Answer::Always);
    answered.await.unwrap();
    until(&mut events, |event| {
        matches!(event, Event::SessionIdle { .. })
    })
    .await;
    assert_eq!(app.calls().await, ["write: completed", "write: error"]);
    assert!(third.request().tool_error("write").contains("denied"));
}

#[tokio::test]
async fn an_agent_or_a_shell_that_is_missing_is_a_problem_with_its_line() {
    let app = TestApp::start().await;
    app.write_config(
        "lathe/lathe.json",
        "{\n  \"default_agent\": \"nowhere\",\n  \"shell\": \"/bin/no-such-shell\",\n  \"command\": {\n    \
         \"ship\": { \"template\": \"Ship it\", \"agent\": \"gone\" }\n  }\n}",
    );
    app.write_config(
        "lathe/command/tidy.md",
        "---\ndescription: Tidy\nagent: lost\n---\nTidy up",
    );
    let problems = app.sessions.config_problems(&app.project).await.unwrap();
    let mut told: Vec<_> = problems
        .iter()
        .map(|problem| problem.to_string())
        .map(|text| {
            text.rsplit("config-home/")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "lathe/command/tidy.md:3: agent: there is no agent named \"lost\"",
            "lathe/lathe.json:2: default_agent: there is no agent named \"nowhere\"",
            "lathe/lathe.json:3: shell: there is no program \"/bin/no-such-shell\"",
            "lathe/lathe.json:5: command.ship.agent: there is no agent named \"gone\"",
        ]
    );
}

#[tokio::test]
async fn keys_of_other_programs_are_no_problem_in_their_own_files() {
    let app = TestApp::start().await;
    app.write_config(
        "opencode/opencode.json",
        r#"{ "theme": "dark", "keybinds": {} }"#,
    );
    let problems = app.sessions.config_problems(&app.project).await.unwrap();
    assert_eq!(problems, []);
}
