//! Custom agents from Markdown and config, and what each may do.

use lathe_protocol::ipc::{AgentMode, AgentView, PromptInput};
use lathe_protocol::{Action, Count, ModelRef};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{Answered, FakeModel, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

fn by(agent: &str, text: &str) -> PromptInput {
    PromptInput {
        text: text.into(),
        agent: Some(agent.into()),
        ..PromptInput::default()
    }
}

fn offers(answered: &Answered, tool: &str) -> bool {
    answered.request().tools.iter().any(|name| name == tool)
}

#[tokio::test]
async fn an_agent_from_markdown_has_its_own_prompt_tools_and_limits() {
    let model = FakeModel::start().await;
    let first = model.reply([text("hello")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/agent/reviewer.md",
        "---\ndescription: Reads a change\nmode: all\nmodel: fake/m\ntemperature: 0.25\nsteps: 1\n\
         color: \"#aa5500\"\ntools:\n  write: false\npermission:\n  bash:\n    \"*\": deny\n---\n\n\
         You read changes with fresh eyes.\n",
    );
    let agents = app.sessions.agents(&app.project).await.unwrap();
    assert_eq!(
        agents.last(),
        Some(&AgentView {
            name: "reviewer".into(),
            description: "Reads a change".into(),
            mode: AgentMode::All,
            color: Some("#aa5500".into()),
            model: Some(ModelRef::new("fake", "m")),
            steps: Some(Count(1)),
            built_in: false,
            default: false,
        })
    );

    app.ask_with(by("reviewer", "look")).await;

    let seen = first.request();
    assert!(
        seen.system.contains("You read changes with fresh eyes."),
        "{}",
        seen.system
    );
    assert_eq!(seen.body["temperature"], json!(0.25));
    // It has one step, so it must finish at once.
    assert_eq!(seen.tools, Vec::<String>::new());
    let messages = app.messages().await;
    assert_eq!(
        messages[0].info.as_user().unwrap().agent.as_deref(),
        Some("reviewer")
    );
}

#[tokio::test]
async fn disabled_tools_are_not_offered() {
    let model = FakeModel::start().await;
    let first = model.reply([text("hello")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "opencode/agents/careful.md",
        "---\ntools:\n  edit: false\n  webfetch: false\n---\nBe careful.\n",
    );
    app.ask_with(by("careful", "go")).await;
    let offered = ["edit", "write", "apply_patch", "webfetch", "bash", "read"];
    assert_eq!(
        offered.map(|tool| offers(&first, tool)),
        [false, false, false, false, true, true]
    );
}

#[tokio::test]
async fn config_for_one_agent_overrides_config_for_all_agents() {
    let model = FakeModel::start().await;
    let build = model.reply([text("1")]);
    let explore = model.reply([text("2")]);
    let plan = model.reply([text("3")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/lathe.json",
        r#"{
            "permission": { "webfetch": "deny", "grep": "deny" },
            "agent": {
                "build": { "permission": { "webfetch": "allow" } },
                "explore": { "mode": "primary", "permission": { "todoread": "allow" } }
            }
        }"#,
    );
    app.ask_with(by("build", "1")).await;
    app.ask_with(by("explore", "2")).await;
    app.ask_with(by("plan", "3")).await;
    let tools = ["webfetch", "grep", "glob", "todoread", "todowrite"];
    let offered = |answered: &Answered| tools.map(|tool| offers(answered, tool));
    assert_eq!(offered(&build), [true, false, true, true, true]);
    assert_eq!(offered(&explore), [false, false, true, true, false]);
    assert_eq!(offered(&plan), [false, false, true, true, true]);
}

#[tokio::test]
async fn agents_can_be_disabled_and_the_default_chosen() {
    let model = FakeModel::start().await;
    let first = model.reply([text("hi")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.write_config(
        "lathe/lathe.json",
        r#"{
            "default_agent": "mine",
            "agent": {
                "plan": { "disable": true },
                "title": { "disable": true },
                "mine": { "mode": "primary", "prompt": "You are mine." }
            }
        }"#,
    );
    let agents = app.sessions.agents(&app.project).await.unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["build", "general", "explore", "mine"]);
    let chosen = agents.iter().filter(|agent| agent.default);
    let chosen: Vec<_> = chosen.map(|agent| agent.name.as_str()).collect();
    assert_eq!(
        chosen,
        ["mine"],
        "the one that answers where nobody is named"
    );
    app.ask("hello").await;
    assert!(first.request().system.contains("You are mine."));
}

#[tokio::test]
async fn sessions_of_a_removed_agent_stay_usable() {
    let model = FakeModel::start().await;
    model.reply([text("hi")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.ask_with(by("forgotten", "hello")).await;
    let agent = app.messages().await[1]
        .info
        .as_assistant()
        .unwrap()
        .mode
        .clone();
    assert_eq!(agent.as_deref(), Some("build"));
}

#[tokio::test]
async fn edits_that_are_allowed_in_a_project_stay_denied_to_the_plan_agent() {
    let model = FakeModel::start().await;
    model.reply([call(
        "write",
        json!({ "filePath": "a.txt", "content": "x" }),
    )]);
    model.reply([text("sorry")]);
    let app = TestApp::with_model(&model, WIRE).await;
    app.sessions
        .set_project_edits(&app.project, true)
        .await
        .unwrap();
    app.ask_with(by("plan", "write it")).await;
    assert!(!app.path("a.txt").exists());
}

#[tokio::test]
async fn the_last_used_agent_is_known_from_answers_alone() {
    let model = FakeModel::start().await;
    for name in ["a.txt", "b.txt", "c.txt"] {
        model.reply([call("read", json!({ "filePath": name }))]);
    }
    model.reply([text("read")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let (id, sessions) = (&app.session.id, &app.sessions);
    assert_eq!(sessions.last_use(id, &[]).await.unwrap(), None);

    app.ask_with(PromptInput {
        variant: Some("high".into()),
        ..by("plan", "read them")
    })
    .await;

    let messages = app.messages().await;
    let used = sessions.last_use(id, &messages).await.unwrap().unwrap();
    assert_eq!(
        (used.agent.as_deref(), used.variant.as_deref()),
        (Some("plan"), Some("high"))
    );
    assert_eq!(used.model, Some(ModelRef::new("fake", "m")));
    let answers = &messages[2..];
    assert!(answers.iter().all(|one| one.info.as_user().is_none()));
    let seen = sessions.last_use(id, answers).await.unwrap();
    assert_eq!(seen, Some(used));
}

#[tokio::test]
async fn no_tool_runs_on_the_last_step() {
    let model = FakeModel::start().await;
    let touch = |name: &str| {
        let command = format!("touch {name}");
        call(
            "bash",
            json!({ "command": command, "description": "Touch" }),
        )
    };
    model.reply([touch("one")]);
    model.reply([text("One more."), touch("two")]);
    let next = model.reply([text("I stopped there.")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .rule("bash", "*", Action::Allow);
    app.write_config(
        "lathe/lathe.json",
        r#"{ "agent": { "build": { "steps": 2 } } }"#,
    );
    app.ask("go").await;
    assert_eq!(app.calls().await, ["bash: completed", "bash: error"]);
    assert!(app.path("one").exists() && !app.path("two").exists());
    assert_eq!(model.requests().len(), 2, "the turn is over");

    app.ask("what happened?").await;
    let seen = next.request().body.to_string();
    assert!(seen.contains("last step of the turn"), "{seen}");
}
