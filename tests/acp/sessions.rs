//! Sessions: new, listed, loaded; modes.

use agent_client_protocol::v1::schema as acp;
use lathe_test_support::fake_model::{call, reasoning, text};
use serde_json::{Value, json};

use crate::editor::{Editor, ended, say};

#[tokio::test]
async fn a_new_session_names_its_modes_and_commands() {
    let editor = Editor::new().await;
    editor.app.write(".keep", "");
    let commands = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            let id = session["sessionId"].as_str().unwrap();
            let id = lathe_protocol::SessionId::parse(id).unwrap();
            assert!(editor.app.sessions.get(&id).await.is_ok());
            assert_eq!(session["modes"]["currentModeId"], "build");
            let modes = session["modes"]["availableModes"].as_array().unwrap();
            let modes: Vec<_> = modes.iter().map(|mode| mode["id"].clone()).collect();
            assert_eq!(modes, ["build", "plan"]);
            let wanted = "available_commands_update";
            Ok(editor.seen.first_of_kind(wanted).await)
        })
        .await;
    let commands = commands["availableCommands"].as_array().unwrap();
    assert!(commands.iter().any(|command| command["name"] == "init"));
}

#[tokio::test]
async fn a_session_is_listed_and_loaded_as_it_was() {
    let editor = Editor::new().await;
    editor.app.write("a.txt", "one\n");
    let read = call("read", json!({ "filePath": "a.txt" }));
    editor
        .model
        .reply([reasoning("I look."), text("Let me see."), read]);
    editor.model.reply([text("It says one.")]);
    let session = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            say(&agent, &session, "What does it say?").await?;
            Ok(session)
        })
        .await;
    let live = (
        editor.seen.text("agent_message_chunk"),
        editor.seen.text("agent_thought_chunk"),
    );
    editor.seen.forget();

    let id = session["sessionId"].as_str().unwrap().to_owned();
    let listed = editor
        .run(async |agent| {
            let wanted = acp::ListSessionsRequest::new().cwd(editor.app.path("."));
            let listed = agent.send_request(wanted).block_task().await?;
            let load = acp::LoadSessionRequest::new(id.clone(), editor.app.path("."));
            agent.send_request(load).block_task().await?;
            Ok(listed)
        })
        .await;
    assert!(listed.sessions.iter().any(|one| *one.session_id.0 == *id));
    assert_eq!(editor.seen.text("user_message_chunk"), "What does it say?");
    let loaded = (
        editor.seen.text("agent_message_chunk"),
        editor.seen.text("agent_thought_chunk"),
    );
    assert_eq!(loaded, live);
    let calls = editor.seen.of_kind("tool_call");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["status"], "completed");
    assert_eq!(calls[0]["kind"], "read");
}

#[tokio::test]
async fn the_mode_decides_who_answers() {
    let editor = Editor::new().await;
    editor.model.reply([text("A plan.")]);
    let session = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            let id = session["sessionId"].as_str().unwrap().to_owned();
            let unknown = acp::SetSessionModeRequest::new(id.clone(), "nobody");
            let refused = agent.send_request(unknown).block_task().await.unwrap_err();
            assert_eq!(refused.message, "There is no mode nobody");
            let mode = acp::SetSessionModeRequest::new(id, "plan");
            agent.send_request(mode).block_task().await?;
            assert_eq!(say(&agent, &session, "Plan it").await?, ended("end_turn"));
            Ok(session)
        })
        .await;
    let id = lathe_protocol::SessionId::parse(session["sessionId"].as_str().unwrap()).unwrap();
    let messages = editor.app.sessions.messages(&id, None, 10).await.unwrap();
    let agents: Vec<_> = messages
        .messages
        .iter()
        .filter_map(|one| one.info.as_user()?.agent.clone())
        .collect();
    assert_eq!(agents, ["plan"]);
}

#[tokio::test]
async fn folders_and_sessions_that_are_not_there_are_refused_in_a_sentence() {
    let editor = Editor::new().await;
    editor
        .run(async |agent| {
            let relative = acp::NewSessionRequest::new("some/where");
            let refused = agent.send_request(relative).block_task().await.unwrap_err();
            assert!(refused.message.contains("full path"), "{refused:?}");
            let session: Value = json!({ "sessionId": "ses_none" });
            let refused = say(&agent, &session, "hello").await.unwrap_err();
            assert!(refused.message.contains("ses_none"), "{refused:?}");
            let session: Value = json!({ "sessionId": "../x" });
            assert!(say(&agent, &session, "hello").await.is_err());
            Ok(())
        })
        .await;
}

#[tokio::test]
async fn tool_servers_of_the_editor_are_not_used_and_it_is_said() {
    let editor = Editor::new().await;
    let server = acp::McpServerStdio::new("ferns", "/bin/true");
    let request = acp::NewSessionRequest::new(editor.app.path("."));
    let request = request.mcp_servers(vec![acp::McpServer::Stdio(server)]);
    let said = editor
        .run(async |agent| {
            agent.send_request(request).block_task().await?;
            Ok(editor.seen.first_of_kind("agent_message_chunk").await)
        })
        .await;
    let words = "Lathe does not use the MCP servers of the editor (ferns). \
                 To use them, add them in Lathe.";
    assert_eq!(said["content"]["text"], words);
}
