//! The system prompt: environment and instruction files.

use lathe_protocol::ipc::PromptInput;
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, text};

const WIRE: WireKind = WireKind::OpenaiChat;

/// The paths of the project in the system prompt, in order.
fn sources(app: &TestApp, system: &str) -> Vec<String> {
    let root = app.project.worktree.clone();
    let lines = system
        .lines()
        .filter_map(|line| line.strip_prefix("Instructions from "));
    let paths = lines.map(|line| line.trim_end_matches(':'));
    paths
        .map(|path| match path.strip_prefix(&root) {
            Some(inside) => inside.trim_start_matches('/').to_owned(),
            None => path
                .rsplit("config-home/")
                .next()
                .unwrap_or(path)
                .to_owned(),
        })
        .collect()
}

#[tokio::test]
async fn one_instruction_file_per_folder_counts_from_the_root_down_after_the_persons_own() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("CLAUDE.md", "no: AGENTS.md is there")
        .file("AGENTS.md", "Use tabs.")
        .file("inner/CONTEXT.md", "no: CLAUDE.md is there")
        .file("inner/CLAUDE.md", "Inside, use spaces.")
        .file("other/AGENTS.md", "no: not on the way")
        .file("docs/a.md", "Doc A")
        .file("docs/deep/b.md", "no: not matched");
    app.write_config("lathe/AGENTS.md", "I like short answers.");
    app.write_config("opencode/AGENTS.md", "no: one is enough");
    app.write_config(
        "lathe/lathe.json",
        r#"{ "instructions": ["docs/*.md", "missing.md"] }"#,
    );
    let inner = app.path("inner").canonicalize().unwrap();
    let inner = inner.display().to_string();
    let session = app
        .sessions
        .create_in(&app.project, &inner, None)
        .await
        .unwrap();
    let mut events = app.sessions.subscribe();
    let input = PromptInput {
        text: "hi".into(),
        ..PromptInput::default()
    };
    app.sessions.prompt(&session.id, input).await.unwrap();
    lathe_test_support::app::until_idle(&mut events, &session.id).await;

    let system = first.request().system;
    assert_eq!(
        sources(&app, &system),
        [
            "lathe/AGENTS.md",
            "AGENTS.md",
            "inner/CLAUDE.md",
            "docs/a.md"
        ]
    );
    for words in ["short answers", "Use tabs.", "use spaces", "Doc A"] {
        assert!(system.contains(words), "{words}");
    }
    assert!(!system.contains("no:"), "{system}");
}

#[tokio::test]
async fn a_changed_instruction_file_is_read_again_and_a_long_one_is_cut() {
    let model = FakeModel::start().await;
    let first = model.reply([text("1")]);
    let second = model.reply([text("2")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file("AGENTS.md", "Old words.");
    app.ask("1").await;
    app.write("AGENTS.md", format!("New words. {}", "x".repeat(100_000)));
    app.ask("2").await;
    assert!(first.request().system.contains("Old words."));
    let system = second.request().system;
    assert!(system.contains("New words.") && !system.contains("Old words."));
    assert!(
        system.len() < 80_000 && system.contains("left out"),
        "{}",
        system.len()
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_out_of_the_project_is_not_followed() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE).await;
    let secret = app.data_dir().join("secret");
    std::fs::write(&secret, "hush").unwrap();
    std::os::unix::fs::symlink(&secret, app.path("AGENTS.md")).unwrap();
    app.ask("hi").await;
    assert!(!first.request().system.contains("hush"));
}

#[tokio::test]
async fn the_system_prompt_is_short_and_true() {
    let model = FakeModel::start().await;
    let first = model.reply([text("ok")]);
    let app = TestApp::with_model(&model, WIRE)
        .await
        .file(".git/HEAD", "ref: refs/heads/feature/tea\n")
        .file("AGENTS.md", "Use tabs.\n");
    let project = app.sessions.open_project(&app.path(".")).await.unwrap();
    let session = app.sessions.create(&project, None).await.unwrap();
    let mut events = app.sessions.subscribe();
    let input = PromptInput {
        text: "hi".into(),
        ..PromptInput::default()
    };
    app.sessions.prompt(&session.id, input).await.unwrap();
    lathe_test_support::app::until_idle(&mut events, &session.id).await;
    let system = first.request().system;
    let system = system.replace(&project.worktree, "/project");
    let system = system.replace(
        &format!("Platform: {}", std::env::consts::OS),
        "Platform: here",
    );
    insta::assert_snapshot!(system);
}
