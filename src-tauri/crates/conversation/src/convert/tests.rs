//! One test a rule.

use lathe_protocol::{MessageWithParts, Millis};
use lathe_provider::{
    AssistantContent, FileContent, FileData, ModelInfo, ModelMessage, ToolOutcome, UserContent,
    WireKind,
};
use serde_json::{Value, json};

use super::*;

const S: &str = "ses_1";

fn model() -> ModelInfo {
    let mut model = ModelInfo::unknown("anthropic", "opus");
    model.pdf = true;
    model
}

fn convert(history: &[MessageWithParts]) -> Vec<ModelMessage> {
    convert_for(history, &model(), WireKind::Anthropic)
}

fn convert_for(
    history: &[MessageWithParts],
    model: &ModelInfo,
    wire: WireKind,
) -> Vec<ModelMessage> {
    let fit = |file: &FilePart, bytes: Vec<u8>| {
        let (mime, bytes) = (file.mime.clone(), bytes.into());
        (file.filename.as_deref() != Some("broken.png")).then_some(FittedPicture { mime, bytes })
    };
    convert_messages(
        visible(history),
        &Target {
            model,
            wire,
            fit: &fit,
        },
    )
}

fn user(id: &str, parts: Value) -> MessageWithParts {
    let info = json!({ "id": id, "sessionID": S, "role": "user", "time": { "created": 1 } });
    message(info, parts)
}

fn assistant(id: &str, parent: &str, more: Value, parts: Value) -> MessageWithParts {
    let mut info = json!({
        "id": id, "sessionID": S, "role": "assistant", "time": { "created": 2, "completed": 3 },
        "parentID": parent, "modelID": "opus", "providerID": "anthropic", "finish": "stop",
    });
    for (key, value) in more.as_object().unwrap() {
        info[key] = value.clone();
    }
    message(info, parts)
}

fn message(info: Value, parts: Value) -> MessageWithParts {
    let id = info["id"].clone();
    let parts = parts
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let mut part = part.clone();
            part["id"] = json!(format!("prt_{index}"));
            part["sessionID"] = json!(S);
            part["messageID"] = id.clone();
            let part: Part = serde_json::from_value(part).unwrap();
            assert!(!matches!(part, Part::Unknown(_)), "{part:?}");
            part
        });
    MessageWithParts {
        parts: parts.collect(),
        info: serde_json::from_value(info).unwrap(),
    }
}

fn said(text: &str) -> UserContent {
    UserContent::Text { text: text.into() }
}

fn from_user(content: Vec<UserContent>) -> ModelMessage {
    ModelMessage::User { content }
}

fn from_model(content: Vec<AssistantContent>) -> ModelMessage {
    ModelMessage::Assistant { content }
}

fn wrote(text: &str) -> AssistantContent {
    AssistantContent::Text {
        text: text.into(),
        metadata: Map::new(),
    }
}

fn called(name: &str, input: Value, result: ToolOutcome) -> AssistantContent {
    let (id, name) = ("c1".into(), name.into());
    AssistantContent::ToolCall {
        id,
        name,
        input,
        metadata: Map::new(),
        result,
    }
}

fn png() -> FileContent {
    FileContent {
        mime: "image/png".into(),
        data: FileData::Bytes(b"hi".to_vec().into()),
        filename: Some("a.png".into()),
    }
}

fn png_part() -> Value {
    json!({ "type": "file", "mime": "image/png", "filename": "a.png",
            "url": "data:image/png;base64,aGk=" })
}

fn tool(state: Value) -> Value {
    json!({ "type": "tool", "callID": "c1", "tool": "read", "state": state })
}

fn done(more: Value) -> Value {
    let mut state = json!({
        "status": "completed", "input": { "filePath": "a" }, "output": "out", "title": "a",
        "metadata": {}, "time": { "start": 1, "end": 2 },
    });
    for (key, value) in more.as_object().unwrap() {
        state[key] = value.clone();
    }
    tool(state)
}

#[test]
fn user_text_is_sent_unless_it_is_ignored() {
    let history = [user(
        "msg_1",
        json!([
            { "type": "text", "text": "do it" },
            { "type": "text", "text": "not this", "ignored": true },
            { "type": "text", "text": "and this", "synthetic": true },
        ]),
    )];
    assert_eq!(
        convert(&history),
        [from_user(vec![said("do it"), said("and this")])]
    );
}

#[test]
fn user_files_are_sent_except_plain_text_and_folders() {
    let history = [user(
        "msg_1",
        json!([
            png_part(),
            { "type": "file", "mime": "text/plain", "url": "data:text/plain,x" },
            { "type": "file", "mime": "application/x-directory", "url": "file:///there" },
            { "type": "file", "mime": "application/pdf", "filename": "p.pdf", "url": "data:application/pdf,pdf" },
        ]),
    )];
    let pdf = FileContent {
        mime: "application/pdf".into(),
        data: FileData::Bytes(b"pdf".to_vec().into()),
        filename: Some("p.pdf".into()),
    };
    assert_eq!(
        convert(&history),
        [from_user(vec![
            UserContent::File(png()),
            UserContent::File(pdf)
        ])]
    );
}

#[test]
fn what_the_model_cannot_take_becomes_a_text_that_says_so() {
    let mut blind = model();
    (blind.images, blind.pdf) = (false, false);
    let history = [user(
        "msg_1",
        json!([
            png_part(),
            { "type": "file", "mime": "application/pdf", "filename": "p.pdf", "url": "data:application/pdf,x" },
            { "type": "file", "mime": "audio/wav", "filename": "s.wav", "url": "data:audio/wav,x" },
        ]),
    )];
    assert_eq!(
        convert_for(&history, &blind, WireKind::OpenaiChat),
        [from_user(vec![
            said("[The attachment a.png was left out: this model does not take images]"),
            said("[The attachment p.pdf was left out: this model does not take PDF files]"),
            said("[The attachment s.wav was left out: this model does not take audio/wav]"),
        ])]
    );
}

#[test]
fn a_picture_that_cannot_be_read_is_named_instead_of_failing_every_later_prompt() {
    let mut broken = png_part();
    broken["filename"] = json!("broken.png");
    assert_eq!(
        convert(&[user("msg_1", json!([broken]))]),
        [from_user(vec![said(
            "[The attachment broken.png was left out: it is not a picture that can be read]"
        )])]
    );
}

#[test]
fn a_file_that_a_stored_attachment_names_is_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.pdf");
    std::fs::write(&path, "secret").unwrap();
    let url = format!("file://{}", path.display());
    let named = json!([
        { "type": "file", "mime": "application/pdf", "filename": "secret.pdf", "url": url }
    ]);
    assert_eq!(
        convert(&[user("msg_1", named)]),
        [from_user(vec![said(
            "[The attachment secret.pdf was left out: it is not stored with the session]"
        )])]
    );
}

#[test]
fn compaction_and_subtask_parts_are_sent_as_fixed_texts() {
    let history = [user(
        "msg_1",
        json!([
            { "type": "compaction", "auto": true },
            { "type": "subtask", "prompt": "p", "description": "d", "agent": "general" },
        ]),
    )];
    let texts = [
        "What did we do so far?",
        "The following tool was executed by the user",
    ];
    assert_eq!(convert(&history), [from_user(texts.map(said).to_vec())]);
}

#[test]
fn a_failed_message_is_skipped() {
    let error = json!({ "error": { "name": "UnknownError", "data": { "message": "x" } } });
    let history = [assistant(
        "msg_2",
        "msg_1",
        error,
        json!([{ "type": "text", "text": "half" }]),
    )];
    assert_eq!(convert(&history), []);
}

#[test]
fn an_aborted_message_is_kept_if_it_said_something() {
    let error = json!({ "error": { "name": "MessageAbortedError", "data": { "message": "x" } } });
    let silent = json!([{ "type": "step-start" }, { "type": "reasoning", "text": "hm", "time": { "start": 1 } }]);
    let spoke = json!([{ "type": "step-start" }, { "type": "text", "text": "half" }]);
    let history = [
        assistant("msg_2", "msg_1", error.clone(), silent),
        assistant("msg_3", "msg_1", error, spoke),
    ];
    assert_eq!(convert(&history), [from_model(vec![wrote("half")])]);
}

#[test]
fn a_message_cut_by_its_length_is_kept_if_it_said_something() {
    let error = json!({ "error": { "name": "MessageOutputLengthError", "data": {} } });
    let silent = json!([{ "type": "step-start" }, { "type": "reasoning", "text": "hm", "time": { "start": 1 } }]);
    let spoke = json!([{ "type": "step-start" }, { "type": "text", "text": "half" }]);
    let history = [
        assistant("msg_2", "msg_1", error.clone(), silent),
        assistant("msg_3", "msg_1", error, spoke),
    ];
    assert_eq!(convert(&history), [from_model(vec![wrote("half")])]);
}

#[test]
fn a_completed_call_carries_its_output() {
    let history = [assistant(
        "msg_2",
        "msg_1",
        json!({}),
        json!([done(json!({}))]),
    )];
    let call = called("read", json!({ "filePath": "a" }), ToolOutcome::text("out"));
    assert_eq!(convert(&history), [from_model(vec![call])]);
}

#[test]
fn a_cleared_output_reads_as_cleared() {
    let state = done(json!({ "time": { "start": 1, "end": 2, "compacted": 3 } }));
    let call = called(
        "read",
        json!({ "filePath": "a" }),
        ToolOutcome::text("[Old tool result content cleared]"),
    );
    assert_eq!(
        convert(&[assistant("msg_2", "msg_1", json!({}), json!([state]))]),
        [from_model(vec![call])]
    );
}

#[test]
fn every_call_has_exactly_one_result_whatever_became_of_it() {
    let states = [
        (
            json!({ "status": "error", "input": {}, "error": "no", "time": { "start": 1, "end": 2 } }),
            "no",
        ),
        (
            json!({ "status": "pending", "input": {}, "raw": "{" }),
            "[Tool execution was interrupted]",
        ),
        (
            json!({ "status": "running", "input": {}, "time": { "start": 1 } }),
            "[Tool execution was interrupted]",
        ),
    ];
    for (state, expected) in states {
        let history = [assistant("msg_2", "msg_1", json!({}), json!([tool(state)]))];
        let call = called("read", json!({}), ToolOutcome::error(expected));
        assert_eq!(convert(&history), [from_model(vec![call])]);
    }
}

#[test]
fn attachments_of_a_tool_go_before_the_answer_or_inside_the_result() {
    let mut file = png_part();
    for (key, value) in [("id", "prt_9"), ("sessionID", S), ("messageID", "msg_2")] {
        file[key] = json!(value);
    }
    let history = [assistant(
        "msg_2",
        "msg_1",
        json!({}),
        json!([done(json!({ "attachments": [file] }))]),
    )];
    let bare = called("read", json!({ "filePath": "a" }), ToolOutcome::text("out"));
    assert_eq!(
        convert_for(&history, &model(), WireKind::OpenaiChat),
        [
            from_user(vec![
                said("The tool read returned the following attachments:"),
                UserContent::File(png()),
            ]),
            from_model(vec![bare]),
        ]
    );
    let inside = ToolOutcome {
        text: "out".into(),
        is_error: false,
        attachments: vec![png()],
    };
    assert_eq!(
        convert(&history),
        [from_model(vec![called(
            "read",
            json!({ "filePath": "a" }),
            inside
        )])]
    );
}

#[test]
fn reasoning_and_metadata_go_back_to_the_same_model_only() {
    let parts = json!([
        { "type": "reasoning", "text": "hm", "metadata": { "anthropic": { "signature": "s" } }, "time": { "start": 1 } },
        { "type": "text", "text": "yes", "metadata": { "anthropic": { "x": 1 } } },
    ]);
    let history = [assistant("msg_2", "msg_1", json!({}), parts)];
    let map = |value: Value| value.as_object().unwrap().clone();
    let reasoning = AssistantContent::Reasoning {
        text: "hm".into(),
        metadata: map(json!({ "anthropic": { "signature": "s" } })),
    };
    let text = AssistantContent::Text {
        text: "yes".into(),
        metadata: map(json!({ "anthropic": { "x": 1 } })),
    };
    assert_eq!(convert(&history), [from_model(vec![reasoning, text])]);
    let other = ModelInfo::unknown("openai", "gpt");
    assert_eq!(
        convert_for(&history, &other, WireKind::OpenaiResponses),
        [from_model(vec![wrote("yes")])]
    );
}

#[test]
fn empty_messages_are_dropped() {
    let history = [
        user("msg_1", json!([])),
        assistant("msg_2", "msg_1", json!({}), json!([])),
        assistant(
            "msg_3",
            "msg_1",
            json!({}),
            json!([{ "type": "step-start" }]),
        ),
        user("msg_4", json!([{ "type": "text", "text": "" }])),
    ];
    assert_eq!(convert(&history), []);
}

fn compacted(parts: Value, summary: Value) -> Vec<MessageWithParts> {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    vec![
        user("msg_1", text("old")),
        assistant("msg_2", "msg_1", json!({}), text("old answer")),
        user("msg_3", text("kept")),
        user("msg_4", parts),
        assistant("msg_5", "msg_4", summary, text("summary")),
        user("msg_6", text("new")),
    ]
}

#[test]
fn what_came_before_the_newest_completed_summary_is_left_out() {
    let asks = json!([{ "type": "compaction", "auto": true }]);
    let history = compacted(asks.clone(), json!({ "summary": true }));
    let after = [
        from_user(vec![said("What did we do so far?")]),
        from_model(vec![wrote("summary")]),
        from_user(vec![said("new")]),
    ];
    assert_eq!(convert(&history), after);
    for incomplete in [json!({}), json!({ "summary": true, "finish": null })] {
        assert_eq!(convert(&compacted(asks.clone(), incomplete)).len(), 6);
    }
}

#[test]
fn messages_that_a_compaction_left_verbatim_follow_its_summary() {
    let asks = json!([{ "type": "compaction", "auto": true, "tail_start_id": "msg_3" }]);
    let history = compacted(asks, json!({ "summary": true }));
    assert_eq!(
        convert(&history),
        [
            from_user(vec![said("What did we do so far?")]),
            from_model(vec![wrote("summary")]),
            from_user(vec![said("kept")]),
            from_user(vec![said("new")]),
        ]
    );
}

#[test]
fn time_does_not_matter_to_conversion() {
    // Order is the caller's: ids around the wrap must not disturb it.
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let history = [
        user("msg_ffffffffffff", text("a")),
        user("msg_000000000001", text("b")),
    ];
    assert_eq!(
        convert(&history),
        [from_user(vec![said("a")]), from_user(vec![said("b")])]
    );
    assert_eq!(history[0].info.created(), Millis(1));
}
