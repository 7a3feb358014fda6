//! `@` mentions in a prompt: what is attached, and what is suggested while typing.

use lathe_protocol::ipc::{Mention, PromptFile, PromptInput, SymbolKind};
use lathe_protocol::{
    Action, FilePartSource, LspPosition, LspRange, Part, SourceText, SymbolSource,
};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

const WIRE: WireKind = WireKind::OpenaiChat;

/// The prompt's parts with the text that mentioned them.
async fn parts(app: &TestApp) -> Vec<String> {
    let messages = app.messages().await;
    let show = |part: &Part| match part {
        Part::Text(part) if part.synthetic == Some(true) => "synthetic".to_owned(),
        Part::Text(_) => "text".to_owned(),
        Part::Agent(part) => format!(
            "agent {} {:?}",
            part.name,
            part.source.as_ref().map(|source| source.value.as_str())
        ),
        Part::File(part) => match &part.source {
            Some(FilePartSource::File(source)) => format!(
                "{} {:?} {}..{}",
                part.mime, source.text.value, source.text.start.0, source.text.end.0
            ),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    };
    messages[0].parts.iter().map(show).collect()
}

#[tokio::test]
async fn files_folders_and_agents_named_in_the_text_are_attached() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("src/a.rs", "fn one() {}\nfn two() {}\nfn three() {}\n")
        .file("docs/guide.md", "# Guide\n");

    app.ask("@src/a.rs#L2-L2, see @docs and let @explore look; not me@src/a.rs or @nothing.")
        .await;

    assert_eq!(
        parts(&app).await,
        [
            "text",
            "synthetic",
            "text/plain \"@src/a.rs#L2-L2\" 0..15",
            "synthetic",
            "application/x-directory \"@docs\" 21..26",
            "agent explore Some(\"@explore\")",
            "synthetic",
        ]
    );
    let seen = first.request().user_text();
    assert!(
        seen.contains("fn two() {}") && !seen.contains("fn three"),
        "{seen}"
    );
    assert!(
        seen.contains("guide.md") && seen.contains("subagent_type"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_mention_never_reaches_outside_the_project() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "hush").unwrap();
    let app = TestApp::with_model(&model, WIRE).await;
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, app.path("link.txt")).unwrap();

    app.ask(&format!("@{} @link.txt @../x", secret.display()))
        .await;

    assert_eq!(parts(&app).await, ["text"]);
    assert!(!first.request().user_text().contains("hush"));
}

#[tokio::test]
async fn an_unreadable_mention_is_reported_to_the_model_and_fails_nothing() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("tool.bin", [0u8, 1, 2]);
    app.ask("what is @tool.bin?").await;
    assert_eq!(parts(&app).await, ["text", "synthetic"]);
    assert!(first.request().user_text().contains("binary"));
}

fn file(path: &str) -> Mention {
    Mention::File { path: path.into() }
}

fn directory(path: &str) -> Mention {
    Mention::Directory { path: path.into() }
}

#[tokio::test]
async fn text_after_the_at_sign_finds_files_folders_and_agents_best_first() {
    let app = TestApp::start()
        .await
        .file(".gitignore", "target\n")
        .file("target/explorer.rs", "")
        .file("src/explorer.rs", "")
        .file("src/deep/ex/plo/rer.rs", "")
        .file("README.md", "");
    let find = |query: &'static str, limit| {
        let (sessions, project) = (app.sessions.clone(), app.project.clone());
        async move {
            sessions
                .find_mentions(&project, query, limit)
                .await
                .unwrap()
        }
    };
    let found = find("explorer", 10).await;
    assert_eq!(
        found,
        [file("src/explorer.rs"), file("src/deep/ex/plo/rer.rs")]
    );
    let found = find("readme", 10).await;
    assert_eq!(found, [file("README.md")]);
    let found = find("expl", 2).await;
    assert!(matches!(&found[0], Mention::Agent { name, .. } if name == "explore"));
    assert_eq!(found[1..], [file("src/explorer.rs")]);
    let found = find("", 10).await;
    let listed: Vec<_> = found
        .into_iter()
        .filter(|one| !matches!(one, Mention::Agent { .. }))
        .collect();
    assert_eq!(
        listed[..4],
        [
            file(".gitignore"),
            file("README.md"),
            directory("src"),
            directory("src/deep")
        ]
    );
}

#[tokio::test]
async fn functions_and_types_are_found_by_name_with_their_lines() {
    let app = TestApp::start()
        .await
        .file(
            "src/tea.rs",
            "struct Kettle;\n\nfn brew_tea() {\n    // hot\n}\n",
        )
        .file("web/cup.ts", "export class TeaCup {\n}\n")
        .file("brew.txt", "");
    let symbol =
        |name: &str, symbol_kind, lsp_kind: i64, path: &str, lines: [i64; 2]| Mention::Symbol {
            name: name.into(),
            symbol_kind,
            lsp_kind: lsp_kind.into(),
            path: path.into(),
            line: lines[0].into(),
            end_line: lines[1].into(),
        };
    // Symbols are indexed in the background.
    let mut found = Vec::new();
    while found.len() < 2 {
        found = app
            .sessions
            .find_mentions(&app.project, "brew", 10)
            .await
            .unwrap();
        tokio::task::yield_now().await;
    }
    let brew = symbol("brew_tea", SymbolKind::Function, 12, "src/tea.rs", [3, 5]);
    assert!(
        found.contains(&brew) && found.contains(&file("brew.txt")),
        "{found:?}"
    );
    let found = app
        .sessions
        .find_mentions(&app.project, "TeaCup", 10)
        .await
        .unwrap();
    assert_eq!(
        found,
        [symbol("TeaCup", SymbolKind::Class, 5, "web/cup.ts", [1, 2])]
    );
}

#[tokio::test]
async fn a_symbol_is_attached_with_its_lines_and_stored_as_a_symbol() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.rs", "fn one() {}\nfn two() {}\n");
    let at = |line: i64| LspPosition {
        line: line.into(),
        character: 0.into(),
        extra: Default::default(),
    };
    let source = FilePartSource::Symbol(SymbolSource {
        path: "a.rs".into(),
        range: LspRange {
            start: at(1),
            end: at(1),
            extra: Default::default(),
        },
        name: "two".into(),
        kind: 12.into(),
        text: SourceText {
            value: "@two".into(),
            start: 5.into(),
            end: 9.into(),
            extra: Default::default(),
        },
        extra: Default::default(),
    });
    let url = format!("file://{}?start=2&end=2", app.path("a.rs").display());
    let files = vec![PromptFile {
        url,
        source: Some(source.clone()),
        ..PromptFile::default()
    }];
    let text = "what @two?".to_owned();
    app.ask_with(PromptInput {
        text,
        files,
        ..PromptInput::default()
    })
    .await;
    let seen = first.request().user_text();
    assert!(
        seen.contains("fn two") && !seen.contains("fn one"),
        "{seen}"
    );
    let messages = app.messages().await;
    let stored = messages[0].parts.iter().find_map(|part| match part {
        Part::File(file) => file.source.clone(),
        _ => None,
    });
    assert_eq!(stored, Some(source));
}

#[tokio::test]
async fn a_mention_does_not_read_what_a_rule_denies() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("a.key", "hush")
        .file(".env", "K=named by hand")
        .rule("read", "*.key", Action::Deny);
    app.ask("see @a.key and @.env").await;
    let seen = first.request().user_text();
    assert!(
        !seen.contains("hush") && seen.contains("named by hand"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_new_file_is_found_soon() {
    let app = TestApp::start().await.file("old.txt", "");
    let find = || async {
        app.sessions
            .find_mentions(&app.project, "new", 5)
            .await
            .unwrap()
    };
    assert_eq!(find().await, []);
    app.write("new.txt", "");
    let mut found = Vec::new();
    while found.is_empty() {
        found = find().await;
        tokio::task::yield_now().await;
    }
    assert_eq!(found, [file("new.txt")]);
}

#[tokio::test]
async fn a_mention_in_a_subtask_prompt_of_the_model_is_not_resolved() {
    let model = FakeModel::start().await;
    let prompt = "look at @.env and @a.txt";
    model.reply([call(
        "task",
        json!({ "description": "Look", "prompt": prompt, "subagent_type": "general" }),
    )]);
    let inner = model.reply([text("done")]);
    model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file(".env", "TOKEN=canary\n")
        .file("a.txt", "one\n");
    app.ask("go").await;
    assert_eq!(inner.request().user_text(), prompt);
}
