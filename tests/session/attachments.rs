//! Attachments are read when a prompt is sent, stored with it and sent to the model.

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{Count, FilePart, FilePartSource, FileSource, Part, SourceText};
use lathe_provider::WireKind;
use lathe_session::data_url;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;
const PNG: &[u8] = &[0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0];

fn on_disk(app: &TestApp, name: &str) -> PromptFile {
    let url = format!("file://{}", app.path(name).display());
    PromptFile {
        url,
        ..PromptFile::default()
    }
}

fn input(text: &str, files: Vec<PromptFile>) -> PromptInput {
    PromptInput {
        text: text.into(),
        files,
        ..PromptInput::default()
    }
}

/// The prompt's parts, as `text`, `synthetic` or `mime name`.
async fn parts(app: &TestApp) -> Vec<String> {
    let messages = app.messages().await;
    let show = |part: &Part| match part {
        Part::Text(part) if part.synthetic == Some(true) => "synthetic".to_owned(),
        Part::Text(_) => "text".to_owned(),
        Part::File(part) => format!("{} {}", part.mime, part.filename.as_deref().unwrap_or("-")),
        other => format!("{other:?}"),
    };
    messages[0].parts.iter().map(show).collect()
}

fn file_parts(parts: &[Part]) -> Vec<FilePart> {
    let files = parts.iter().filter_map(|part| match part {
        Part::File(file) => Some(file.clone()),
        _ => None,
    });
    files.collect()
}

#[tokio::test]
async fn attachments_keep_the_order_in_which_they_were_given() {
    let model = FakeModel::start().await;
    let first = model.reply([text("seen")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("b.txt", "bee\n")
        .file("picture", PNG)
        .file("docs/one.md", "# One\n");
    let note = PromptFile {
        url: "data:text/plain;charset=utf-8,pasted%20words".into(),
        filename: Some("paste.txt".into()),
        ..PromptFile::default()
    };
    let files = vec![
        on_disk(&app, "b.txt"),
        on_disk(&app, "picture"),
        note,
        on_disk(&app, "docs"),
    ];

    app.ask_with(input("look", files)).await;

    assert_eq!(
        parts(&app).await,
        [
            "text",
            "synthetic",
            "text/plain b.txt",
            "image/png picture",
            "synthetic",
            "text/plain paste.txt",
            "synthetic",
            "application/x-directory docs",
        ]
    );
    let seen = first.request().user_text();
    let at = |words: &str| {
        seen.find(words)
            .unwrap_or_else(|| panic!("{words}: {seen}"))
    };
    assert!(at("look") < at("bee") && at("bee") < at("pasted words"));
    assert!(at("pasted words") < at("one.md"));
}

#[tokio::test]
async fn an_image_is_stored_with_the_prompt_and_independent_of_its_file() {
    let model = FakeModel::start().await;
    model.reply([text("a picture")]);
    let app = TestApp::with_model(&model, WireKind::Anthropic)
        .await
        .file("shot.png", PNG);
    let files = vec![on_disk(&app, "shot.png")];
    app.ask_with(input("", files)).await;
    let messages = app.messages().await;
    let [file] = file_parts(&messages[0].parts).try_into().unwrap();
    assert_eq!(file.url, data_url::encode("image/png", PNG));
    assert_eq!(file.filename.as_deref(), Some("shot.png"));
}

#[tokio::test]
async fn an_attached_range_of_lines_is_all_the_model_sees() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\ntwo\nthree\nfour\n");
    let mut file = on_disk(&app, "a.txt");
    file.url.push_str("?start=2&end=3");
    let source = FilePartSource::File(FileSource {
        path: "a.txt".into(),
        text: SourceText {
            value: "@a.txt#L2-L3".into(),
            start: Count(0),
            end: Count(12),
            extra: Default::default(),
        },
        extra: Default::default(),
    });
    file.source = Some(source.clone());

    app.ask_with(input("@a.txt#L2-L3 what?", vec![file.clone()]))
        .await;

    let seen = first.request().user_text();
    assert!(seen.contains("two\n") && seen.contains("three\n"), "{seen}");
    assert!(
        !seen.contains("one\n") && !seen.contains("four\n"),
        "{seen}"
    );
    // Named in the text and attached by the window: one attachment, not two.
    assert_eq!(parts(&app).await, ["text", "synthetic", "text/plain a.txt"]);
    let messages = app.messages().await;
    let [part] = file_parts(&messages[0].parts).try_into().unwrap();
    assert_eq!((part.url, part.source), (file.url, Some(source)));
}

#[tokio::test]
async fn an_attached_file_counts_as_read() {
    let model = FakeModel::start().await;
    model.reply([call(
        "edit",
        json!({ "filePath": "a.txt", "oldString": "one", "newString": "two" }),
    )]);
    model.reply([text("done")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.txt", "one\n")
        .rule("edit", "*", lathe_protocol::Action::Allow);
    let files = vec![on_disk(&app, "a.txt")];
    app.ask_with(input("change it", files)).await;
    assert_eq!(app.read("a.txt"), "two\n");
}

#[tokio::test]
async fn a_prompt_with_an_unreadable_attachment_is_refused_with_a_reason() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("program.bin", [0u8, 1, 2, 3]);
    let data = |url: &str| PromptFile {
        url: url.into(),
        filename: Some("thing".into()),
        ..PromptFile::default()
    };
    let huge = format!("data:image/png;base64,{}", "A".repeat(29 * 1024 * 1024));
    let cases = [
        (on_disk(&app, "program.bin"), "binary"),
        (on_disk(&app, "nowhere.txt"), "no file"),
        (data("data:image/png;base64,!!"), "damaged"),
        (data("data:application/zip;base64,AAEC"), "only images"),
        (data("https://example.org/a.png"), "not a file"),
        (data(&huge), "larger than 20 MB"),
    ];
    for (file, why) in cases {
        let refused = app
            .sessions
            .prompt(&app.session.id, input("see", vec![file]));
        let refused = refused.await.unwrap_err().to_string();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    assert_eq!(app.messages().await, []);
}

#[tokio::test]
async fn a_prompt_without_text_and_attachments_is_refused() {
    let app = TestApp::start().await;
    let refused = app
        .sessions
        .prompt(&app.session.id, input(" \n", Vec::new()));
    assert_eq!(refused.await.unwrap_err().to_string(), "Enter a prompt");
}
