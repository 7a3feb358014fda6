//! Calling the tools of a server and reading its resources.

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{Action, FilePartSource, Part, ToolState};
use lathe_session::Answer;
use lathe_test_support::app::{until, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::mcp_server::PIXEL;
use serde_json::json;

use super::{PROGRAM, app_that_allows_all, app_with, local, only_call, progress, wait_until_ready};

#[tokio::test]
async fn a_server_tool_is_offered_asked_about_by_name_and_run() {
    let model = FakeModel::start().await;
    let first = model.reply([call("s_echo", json!({ "text": "hello" }))]);
    let second = model.reply([text("done")]);
    let app = app_with(&model, local()).await;
    let mut events = app.sessions.subscribe();

    app.send("say hello").await;
    let asked = app.next_permission(&mut events).await;
    assert_eq!(asked.permission, "s_echo");
    assert_eq!(
        (asked.patterns, asked.always),
        (vec!["*".to_owned()], vec!["*".to_owned()])
    );
    assert_eq!(
        json!(asked.metadata),
        json!({ "server": "s", "tool": "echo", "input": { "text": "hello" } })
    );
    app.sessions
        .answer_permission(&asked.id, Answer::Once)
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;

    let offered = first.request();
    assert!(
        offered.tools.contains(&"s_echo".to_owned()),
        "{:?}",
        offered.tools
    );
    assert!(offered.body.to_string().contains("Repeats a text."));
    assert_eq!(second.request().tool_output("s_echo"), "hello");
}

#[tokio::test]
async fn a_rule_can_deny_one_tool_or_hide_it() {
    let model = FakeModel::start().await;
    let first = model.reply([text("nothing to do")]);
    let app = app_with(&model, local())
        .await
        .rule("s_*", "*", Action::Deny);
    wait_until_ready(&app).await;
    app.ask("go").await;
    let tools = first.request().tools.clone();
    assert!(tools.contains(&"read".to_owned()));
    assert!(
        !tools.iter().any(|tool| tool.starts_with("s_")),
        "{tools:?}"
    );
}

#[tokio::test]
async fn a_tool_whose_name_would_be_that_of_a_permission_gets_another_one() {
    let model = FakeModel::start().await;
    let first = model.reply([text("nothing to do")]);
    let config = json!({ "mcp": { "external": { "type": "local", "command": [PROGRAM] } } });
    let app = app_with(&model, config).await;
    wait_until_ready(&app).await;
    app.ask("go").await;
    let tools = first.request().tools.clone();
    let mut named = tools.iter().filter(|tool| tool.starts_with("external_dir"));
    let name = named.next().expect("the tool of the server");
    assert_ne!(name, "external_directory");
}

#[tokio::test]
async fn images_sounds_and_resources_become_attachments() {
    let model = FakeModel::start().await;
    model.reply([call("s_media", json!({}))]);
    let second = model.reply([text("I see")]);
    let app = app_that_allows_all(&model, local()).await;
    app.ask("show me").await;

    let part = only_call(&app).await;
    let ToolState::Completed(done) = part.state() else {
        panic!("{part:?}");
    };
    assert_eq!(done.output, "see\nsecond note");
    let files = done.attachments.clone().unwrap_or_default();
    let kinds: Vec<_> = files.iter().map(|file| file.mime.as_str()).collect();
    assert_eq!(kinds, ["image/png", "audio/wav", "text/plain"]);
    assert_eq!(files[0].url, format!("data:image/png;base64,{PIXEL}"));
    let Some(FilePartSource::Resource(source)) = &files[2].source else {
        panic!("{:?}", files[2]);
    };
    assert_eq!(
        (
            source.client_name.as_str(),
            source.uri.as_str(),
            files[2].filename.as_deref()
        ),
        ("s", "test://notes/two.txt", Some("two.txt"))
    );
    assert!(
        second
            .request()
            .tool_output("s_media")
            .contains("second note")
    );
}

#[tokio::test]
async fn a_failing_tool_says_why_and_the_turn_continues() {
    let model = FakeModel::start().await;
    model.reply([call("s_fail", json!({})), call("s_nothing", json!({}))]);
    let second = model.reply([text("I see")]);
    let app = app_that_allows_all(&model, local()).await;
    app.ask("go").await;
    assert_eq!(second.request().tool_error("s_fail"), "no such thing");
    let unknown = second.request().tool_error("invalid").to_owned();
    assert!(
        unknown.contains("s_nothing") && unknown.contains("s_echo"),
        "{unknown}"
    );
}

#[tokio::test]
async fn a_large_result_is_truncated_like_that_of_any_tool() {
    let model = FakeModel::start().await;
    model.reply([call("s_large", json!({}))]);
    let second = model.reply([text("long")]);
    let app = app_that_allows_all(&model, local()).await;
    app.ask("go").await;
    let output = second.request().tool_output("s_large").to_owned();
    assert!(
        output.len() < 60_000 && output.contains("The whole result is in"),
        "{}",
        output.len()
    );
}

#[tokio::test]
async fn progress_is_shown_and_an_abort_reaches_the_server() {
    let model = FakeModel::start().await;
    model.reply([call("s_slow", json!({}))]);
    let app = app_that_allows_all(&model, local()).await;
    let mut events = app.sessions.subscribe();
    app.send("take your time").await;
    let quarter = json!({ "done": 1.0, "total": 4.0, "message": "a quarter" });
    until(&mut events, |event| {
        progress(event) == Some(quarter.clone())
    })
    .await;
    app.sessions.abort(&app.session.id).await;
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["s_slow: error"]);

    model.reply([call("s_heard", json!({}))]);
    let last = model.reply([text("once")]);
    app.ask("how often were you stopped?").await;
    assert_eq!(last.request().tool_output("s_heard"), "1");
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let model = FakeModel::start().await;
    let app = app_with(&model, local()).await;
    wait_until_ready(&app).await;
    let mcp = app.sessions.mcp();
    let listed = mcp.resources(&app.project.id).await;
    assert_eq!(
        json!(listed),
        json!([{ "server": "s", "uri": "test://notes/one.txt", "name": "one", "description": "The first note", "mime": "text/plain" }])
    );
    let read = mcp
        .read(&app.project.id, "s", "test://notes/one.txt")
        .await
        .unwrap();
    assert_eq!(read.text, "first note");
    let missing = mcp
        .read(&app.project.id, "s", "test://x")
        .await
        .unwrap_err();
    assert_eq!(missing.to_string(), "there is no resource test://x");
    let unknown = mcp
        .read(&app.project.id, "t", "test://x")
        .await
        .unwrap_err();
    assert_eq!(unknown.to_string(), "there is no MCP server t");
}

#[tokio::test]
async fn a_resource_attached_to_a_prompt_is_read_for_the_model() {
    let model = FakeModel::start().await;
    let reply = model.reply([text("I read it")]);
    let app = app_with(&model, local()).await;
    let attached = |uri: &str| PromptInput {
        text: "what does it say?".to_owned(),
        files: vec![PromptFile {
            url: uri.to_owned(),
            source: serde_json::from_value(json!({
                "type": "resource", "clientName": "s", "uri": uri,
                "text": { "value": "", "start": 0, "end": 0 },
            }))
            .unwrap(),
            ..PromptFile::default()
        }],
        ..PromptInput::default()
    };
    let mut events = app.sessions.subscribe();
    let missing = app.sessions.prompt(&app.session.id, attached("test://x"));
    assert_eq!(
        missing.await.unwrap_err().to_string(),
        "test://x can’t be attached: there is no resource test://x"
    );
    let input = attached("test://notes/one.txt");
    app.sessions.prompt(&app.session.id, input).await.unwrap();
    until_idle(&mut events, &app.session.id).await;

    assert_eq!(
        app.outline().await[0],
        "user: text text file",
        "the prompt, the text of the resource, the attachment"
    );
    let messages = app.messages().await;
    let Part::File(file) = &messages[0].parts[2] else {
        panic!("{:?}", messages[0].parts);
    };
    assert_eq!(
        (
            file.mime.as_str(),
            file.filename.as_deref(),
            file.url.as_str()
        ),
        ("text/plain", Some("one.txt"), "test://notes/one.txt")
    );
    assert!(matches!(file.source, Some(FilePartSource::Resource(_))));
    assert!(reply.request().user_text().contains("first note"));
}
