//! Turns: streaming, tool calls with diffs, plans, permissions, questions, cancel, attachments.

use agent_client_protocol::v1::schema as acp;
use lathe_test_support::fake_model::{Gate, call, hold, reasoning, text};
use serde_json::json;

use crate::editor::{Editor, ended, prompt, say};

fn option_ids(asked: &serde_json::Value) -> Vec<&str> {
    let options = asked["options"].as_array().unwrap();
    options
        .iter()
        .filter_map(|one| one["optionId"].as_str())
        .collect()
}

#[tokio::test]
async fn text_and_reasoning_stream_in_pieces_and_nothing_is_sent_twice() {
    let editor = Editor::new().await;
    editor
        .model
        .reply([reasoning("Hm."), text("Hel"), text("lo")]);
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            assert_eq!(say(&agent, &session, "Hi").await?, ended("end_turn"));
            Ok(())
        })
        .await;
    assert_eq!(editor.seen.text("agent_thought_chunk"), "Hm.");
    assert_eq!(editor.seen.text("agent_message_chunk"), "Hello");
    assert!(editor.seen.of_kind("agent_message_chunk").len() > 1);
    assert_eq!(editor.seen.text("user_message_chunk"), "");
    assert!(!editor.seen.of_kind("usage_update").is_empty());
}

#[tokio::test]
async fn an_edit_is_asked_for_with_its_diff_and_done_when_allowed() {
    let editor = Editor::new().await;
    editor.app.write("a.txt", "one\n");
    editor.answer("once");
    let edit = json!({ "filePath": "a.txt", "oldString": "one", "newString": "two" });
    editor
        .model
        .reply([call("read", json!({ "filePath": "a.txt" }))]);
    editor.model.reply([call("edit", edit)]);
    editor.model.reply([text("Done.")]);
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            assert_eq!(say(&agent, &session, "Change it").await?, ended("end_turn"));
            Ok(())
        })
        .await;
    assert_eq!(editor.app.read("a.txt"), "two\n");
    let asked = editor.seen.asked.lock().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        option_ids(&asked[0]),
        ["once", "session", "always", "reject"]
    );
    let diff = &asked[0]["toolCall"]["content"][0];
    assert_eq!(diff["type"], "diff");
    assert_eq!(diff["oldText"], "one\n");
    assert_eq!(diff["newText"], "two\n");
    assert!(diff["path"].as_str().unwrap().ends_with("/a.txt"));
    assert!(std::path::Path::new(diff["path"].as_str().unwrap()).is_absolute());

    let calls = editor.seen.of_kind("tool_call");
    let kinds: Vec<_> = calls.iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["read", "edit"]);
    let id = &calls[1]["toolCallId"];
    assert_eq!(&asked[0]["toolCall"]["toolCallId"], id);
    let updates = editor.seen.of_kind("tool_call_update");
    let last = updates
        .iter()
        .rfind(|one| &one["toolCallId"] == id)
        .unwrap();
    assert_eq!(last["status"], "completed");
    assert_eq!(last["content"][0]["newText"], "two\n");
}

#[tokio::test]
async fn what_is_rejected_or_not_answered_does_not_happen() {
    for answer in [Some("reject"), Some("nonsense"), None] {
        let editor = Editor::new().await;
        if let Some(answer) = answer {
            editor.answer(answer);
        }
        let command = json!({ "command": "touch made", "description": "Make a file" });
        editor.model.reply([call("bash", command)]);
        editor
            .run(async |agent| {
                let session = editor.new_session(&agent).await?;
                say(&agent, &session, "Make it").await?;
                Ok(())
            })
            .await;
        assert_eq!(editor.seen.asked.lock().len(), 1);
        assert!(!editor.app.path("made").exists(), "{answer:?}");
        let updates = editor.seen.of_kind("tool_call_update");
        assert_eq!(updates.last().unwrap()["status"], "failed");
    }
}

#[tokio::test]
async fn a_task_list_is_a_plan() {
    let editor = Editor::new().await;
    let todos = json!({ "todos": [
        { "content": "First", "status": "completed", "priority": "high", "id": "1" },
        { "content": "Second", "status": "in_progress", "priority": "low", "id": "2" },
    ] });
    editor.model.reply([call("todowrite", todos)]);
    editor.model.reply([text("Planned.")]);
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            say(&agent, &session, "Plan it").await
        })
        .await;
    let plans = editor.seen.of_kind("plan");
    let expected = json!([
        { "content": "First", "priority": "high", "status": "completed" },
        { "content": "Second", "priority": "low", "status": "in_progress" },
    ]);
    assert_eq!(plans.last().unwrap()["entries"], expected);
}

#[tokio::test]
async fn a_question_is_asked_with_its_options() {
    let editor = Editor::new().await;
    editor.answer("1");
    let question = json!({ "questions": [{
        "question": "Which?", "header": "Which",
        "options": [{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }],
    }] });
    editor.model.reply([call("question", question)]);
    let second = editor.model.reply([text("B it is.")]);
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            say(&agent, &session, "Ask me").await
        })
        .await;
    assert!(second.request().tool_output("question").contains('B'));
    let asked = editor.seen.asked.lock().clone();
    assert_eq!(asked[0]["toolCall"]["title"], "Which?");
    assert_eq!(option_ids(&asked[0]), ["0", "1", "reject"]);
}

#[tokio::test]
async fn cancel_ends_the_turn() {
    let editor = Editor::new().await;
    let gate = Gate::closed();
    let asked = editor.model.reply([text("I begin"), hold(&gate)]);
    let answer = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            let id = session["sessionId"].as_str().unwrap().to_owned();
            let waiting = say(&agent, &session, "Go");
            let cancel = async {
                asked.asked().await;
                agent.send_notification(acp::CancelNotification::new(id))
            };
            let (answer, cancelled) = tokio::join!(waiting, cancel);
            cancelled?;
            answer
        })
        .await;
    assert_eq!(answer, ended("cancelled"));
}

/// It may come before the turn has begun; and an earlier turn's end is not that of this one.
#[tokio::test]
async fn a_cancel_that_follows_its_prompt_at_once_ends_it() {
    let editor = Editor::new().await;
    editor.model.reply([text("First.")]);
    editor.model.reply([text("Second.")]);
    let (first, second) = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            let id = session["sessionId"].as_str().unwrap().to_owned();
            let first = say(&agent, &session, "Go").await?;
            let waiting = say(&agent, &session, "Go on");
            let cancel = async { agent.send_notification(acp::CancelNotification::new(id)) };
            let (second, cancelled) = tokio::join!(waiting, cancel);
            cancelled?;
            Ok((first, second?))
        })
        .await;
    assert_eq!((first, second), (ended("end_turn"), ended("cancelled")));
    let status = editor.app.sessions.statuses();
    assert_eq!(status, [], "nothing goes on");
}

#[tokio::test]
async fn files_and_pictures_reach_the_model() {
    let editor = Editor::new().await;
    editor.app.write("a.txt", "the content of a\n");
    let asked = editor.model.reply([text("Seen.")]);
    let pixel = lathe_test_support::mcp_server::PIXEL;
    let file = url::Url::from_file_path(editor.app.path("a.txt")).unwrap();
    let unsaved = acp::TextResourceContents::new("not saved yet", "file:///x/b.txt");
    let blocks = vec![
        acp::ContentBlock::from("Look at "),
        acp::ContentBlock::ResourceLink(acp::ResourceLink::new("a.txt", file.as_str())),
        acp::ContentBlock::Image(acp::ImageContent::new(pixel, "image/png")),
        acp::ContentBlock::Resource(acp::EmbeddedResource::new(
            acp::EmbeddedResourceResource::TextResourceContents(unsaved),
        )),
    ];
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            prompt(&agent, &session, blocks).await
        })
        .await;
    let request = asked.request();
    let sent = request.user_text();
    assert!(sent.contains("Look at [a.txt](file://"), "{sent}");
    assert!(sent.contains("the content of a"), "{sent}");
    assert!(sent.contains("not saved yet"), "{sent}");
}

#[tokio::test]
async fn a_command_is_run_with_its_arguments() {
    let editor = Editor::new().await;
    let asked = editor.model.reply([text("Reviewed.")]);
    editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            say(&agent, &session, "/review the parser").await
        })
        .await;
    let sent = asked.request().user_text();
    assert!(
        sent.contains("the parser") && !sent.contains("/review"),
        "{sent}"
    );
}

#[tokio::test]
async fn a_fault_of_the_model_is_an_error_with_its_words() {
    let editor = Editor::new().await;
    editor.model.refuse(400, &[], "This model is closed");
    let refused = editor
        .run(async |agent| {
            let session = editor.new_session(&agent).await?;
            Ok(say(&agent, &session, "Hi").await.unwrap_err())
        })
        .await;
    assert!(
        refused.message.contains("This model is closed"),
        "{refused:?}"
    );
}
