//! Plan mode: only the plan file may be changed; entering and leaving it.

use lathe_protocol::{Action, Part, Session};
use lathe_provider::WireKind;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

fn write(file: &str, content: &str) -> Item {
    call("write", json!({ "filePath": file, "content": content }))
}

/// Where the plan is stored in a project with a repository.
fn plan_file(session: &Session) -> String {
    let slug = session.slug.as_deref().unwrap();
    format!(".opencode/plans/{}-{slug}.md", session.time.created)
}

#[tokio::test]
async fn nothing_but_the_plan_file_can_be_changed_whatever_else_is_allowed() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE)
        .await
        .file("a.txt", "one\n")
        .rule("edit", "*", Action::Allow);
    let plan = plan_file(&app.session);
    let first = model.reply([
        write("b.txt", "new"),
        write(".opencode/plans/other.md", "not mine"),
        call("read", json!({ "filePath": "a.txt" })),
        write(&plan, "# The plan\n"),
    ]);
    model.reply([call(
        "edit",
        json!({ "filePath": "a.txt", "oldString": "one", "newString": "two" }),
    )]);
    let last = model.reply([text("planned")]);
    app.ask_as("plan", "plan it").await;

    assert!(
        first.request().tools.iter().any(|tool| tool == "edit"),
        "for the plan file"
    );
    assert_eq!(
        app.calls().await,
        [
            "write: error",
            "write: error",
            "read: completed",
            "write: completed",
            "edit: error"
        ]
    );
    assert!(!app.path("b.txt").exists());
    assert!(!app.path(".opencode/plans/other.md").exists());
    assert_eq!(app.read("a.txt"), "one\n");
    assert_eq!(app.read(&plan), "# The plan\n");
    assert!(last.request().tool_error("edit").contains("denied"));
}

#[tokio::test]
async fn without_a_repository_the_plan_is_stored_in_the_data_folder() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE).await;
    let slug = app.session.slug.clone().unwrap();
    let name = format!("{}-{slug}.md", app.session.time.created);
    let file = app
        .data_dir()
        .canonicalize()
        .unwrap()
        .join("plans")
        .join(name);
    let first = model.reply([write(file.to_str().unwrap(), "# The plan\n")]);
    model.reply([text("planned")]);
    app.ask_as("plan", "plan it").await;
    assert!(first.request().user_text().contains(file.to_str().unwrap()));
    assert_eq!(app.calls().await, ["write: completed"]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "# The plan\n");
}

#[tokio::test]
async fn the_model_is_reminded_on_entering_while_planning_and_on_leaving() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE).await;
    let plan = plan_file(&app.session);
    let replies = [(); 4].map(|()| model.reply([text("ok")]));
    app.ask("hello").await;
    app.ask_as("plan", "plan it").await;
    app.ask_as("plan", "better").await;
    std::fs::create_dir_all(app.path(".opencode/plans")).unwrap();
    let app = app.file(&plan, "# The plan\n");
    app.ask("build it").await;

    let prompts = replies.map(|reply| reply.request().prompt().to_owned());
    assert_eq!(prompts[0], "hello");
    assert!(
        prompts[1].starts_with("plan it\n\n<system-reminder>\nPlan mode is on."),
        "{}",
        prompts[1]
    );
    assert!(prompts[1].contains(&format!("Write the plan to {plan}")));
    assert!(
        prompts[2].contains("Plan mode is still on"),
        "{}",
        prompts[2]
    );
    assert!(prompts[3].contains("Plan mode is over"), "{}", prompts[3]);
    assert!(prompts[3].contains(&format!("There is a plan: {plan}")));
    // Stored once, invisible to the person: the model sees the same text in every step.
    let messages = app.messages().await;
    let Part::Text(reminder) = &messages[2].parts[1] else {
        panic!("no reminder")
    };
    assert_eq!(reminder.synthetic, Some(true));
}

#[tokio::test]
async fn an_existing_plan_is_continued() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_git(&model, WIRE).await;
    let plan = plan_file(&app.session);
    std::fs::create_dir_all(app.path(".opencode/plans")).unwrap();
    let app = app.file(&plan, "# The plan\n");
    app.ask_as("plan", "plan it").await;
    assert!(
        first
            .request()
            .prompt()
            .contains(&format!("A plan is there already: {plan}."))
    );
}

#[tokio::test]
async fn leaving_plan_mode_asks_and_the_build_agent_continues() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE)
        .await
        .rule("edit", "*", Action::Allow);
    let planning = model.reply([call("plan_exit", json!({}))]);
    let building = model.reply([write("b.txt", "new")]);
    model.reply([text("built")]);
    let mut events = app.sessions.subscribe();
    app.send_as("plan", "plan it").await;
    let question = app.next_question(&mut events).await;
    assert_eq!(question.questions[0].header, "Plan ready");
    let yes = vec![vec!["Carry it out".to_owned()]];
    app.sessions.answer_question(&question.id, yes).unwrap();
    until_idle(&mut events, &app.session.id).await;

    let tools = planning.request().tools;
    assert!(tools.contains(&"plan_exit".to_owned()) && !tools.contains(&"plan_enter".to_owned()));
    let asked = building.request();
    assert!(
        asked.prompt().starts_with("The plan is approved"),
        "{}",
        asked.prompt()
    );
    assert!(asked.prompt().contains("Plan mode is over"));
    assert_eq!(app.read("b.txt"), "new");
    let messages = app.messages().await;
    let agents: Vec<_> = messages
        .iter()
        .filter_map(|message| message.info.as_user()?.agent.as_deref())
        .collect();
    assert_eq!(agents, ["plan", "build"]);
    let Part::Text(said) = &messages[2].parts[0] else {
        panic!("{:?}", messages[2])
    };
    assert_eq!(said.synthetic, Some(true));
    assert_eq!(app.sessions.queued(&app.session.id), []);
}

#[tokio::test]
async fn a_rejected_exit_continues_planning() {
    let model = FakeModel::start().await;
    model.reply([call("plan_exit", json!({}))]);
    let next = model.reply([text("then I will")]);
    let app = TestApp::with_git(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send_as("plan", "plan it").await;
    let question = app.next_question(&mut events).await;
    let own = vec![vec!["mention the tests".to_owned()]];
    app.sessions.answer_question(&question.id, own).unwrap();
    until_idle(&mut events, &app.session.id).await;
    let error = next.request().tool_error("plan_exit").to_owned();
    assert!(
        error.contains("stay in plan mode") && error.ends_with("mention the tests"),
        "{error}"
    );
    assert!(next.request().tools.contains(&"plan_exit".to_owned()));
}

#[tokio::test]
async fn the_build_agent_can_suggest_to_plan_first() {
    let model = FakeModel::start().await;
    let building = model.reply([call("plan_enter", json!({}))]);
    let planning = model.reply([text("planning")]);
    let app = TestApp::with_git(&model, WIRE).await;
    let mut events = app.sessions.subscribe();
    app.send("rewrite everything").await;
    let question = app.next_question(&mut events).await;
    let yes = vec![vec!["Plan first".to_owned()]];
    app.sessions.answer_question(&question.id, yes).unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert!(!building.request().tools.contains(&"plan_exit".to_owned()));
    let asked = planning.request();
    assert!(
        asked.prompt().contains("Plan mode is on."),
        "{}",
        asked.prompt()
    );
    assert!(asked.tools.contains(&"plan_exit".to_owned()));
}

#[tokio::test]
async fn a_subtask_of_the_plan_agent_cannot_change_anything_either() {
    let model = FakeModel::start().await;
    let task =
        json!({ "description": "Do it", "prompt": "write b.txt", "subagent_type": "general" });
    model.reply([call("task", task)]);
    let write = json!({ "filePath": "b.txt", "content": "x" });
    model.reply([call("write", write)]);
    let inner = model.reply([text("I may not")]);
    model.reply([text("ok")]);
    let app = TestApp::with_git(&model, WIRE)
        .await
        .rule("edit", "*", Action::Allow);
    app.ask_as("plan", "plan it").await;
    assert!(!app.path("b.txt").exists());
    let said = inner.request().tool_error("write").to_owned();
    assert!(said.contains("denied by a rule"), "{said}");
}

#[tokio::test]
async fn a_task_that_is_resumed_in_plan_mode_cannot_change_anything_either() {
    let model = FakeModel::start().await;
    let task = |session: Option<&str>| {
        let mut task =
            json!({ "description": "Do it", "prompt": "go on", "subagent_type": "general" });
        if let Some(session) = session {
            task["session_id"] = session.into();
        }
        call("task", task)
    };
    model.reply([task(None)]);
    model.reply([text("ready")]);
    model.reply([text("built")]);
    let app = TestApp::with_git(&model, WIRE)
        .await
        .rule("edit", "*", Action::Allow);
    app.ask_as("build", "build it").await;
    let child = app.children().await.remove(0);

    model.reply([task(Some(child.id.as_str()))]);
    model.reply([call(
        "write",
        json!({ "filePath": "b.txt", "content": "x" }),
    )]);
    model.reply([text("I may not")]);
    model.reply([text("ok")]);
    app.ask_as("plan", "plan it").await;
    assert!(!app.path("b.txt").exists());
    assert_eq!(app.calls_of(&child.id).await, ["write: error"]);
}
