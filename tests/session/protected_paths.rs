//! PROMISES 23: what decides what runs later is asked about every time, however it is written.

use lathe_protocol::{Action, PermissionMode, PermissionRequest, Rule};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, Item, call, text};
use serde_json::json;

use crate::asking::next_request;

const WIRE: WireKind = WireKind::OpenaiChat;

const PATHS: [&str; 10] = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".husky/pre-commit",
    ".lathe/lathe.json",
    ".opencode/agent/x.md",
    "opencode.json",
    ".vscode/tasks.json",
    "sub/.envrc",
    ".bashrc",
    ".npmrc",
];

/// Every tool that writes, and a few of the commands.
fn ways(path: &str) -> Vec<Item> {
    let command = |line: String| {
        call(
            "bash",
            json!({ "command": line, "description": "Write it" }),
        )
    };
    let patch = |text: String| {
        let text = format!("*** Begin Patch\n{text}\n*** End Patch");
        call("apply_patch", json!({ "patchText": text }))
    };
    vec![
        call("write", json!({ "filePath": path, "content": "evil\n" })),
        call(
            "edit",
            json!({ "filePath": path, "oldString": "", "newString": "evil\n" }),
        ),
        patch(format!("*** Add File: {path}\n+evil")),
        command(format!("echo evil > {path}")),
        command(format!("cp a.txt {path}")),
        command(format!("touch a.txt && ln -f a.txt ./{path}")),
    ]
}

/// What the person is asked in a turn; each time they say no, and why.
async fn refused(app: &TestApp) -> Vec<PermissionRequest> {
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let mut requests = Vec::new();
    while let Some(request) = next_request(app, &mut events).await {
        let message = Some("not this".to_owned());
        let no = Answer::Reject { message };
        app.sessions
            .answer_permission(&request.id, no)
            .await
            .unwrap();
        requests.push(request);
    }
    requests
}

#[tokio::test]
async fn nothing_is_written_to_a_protected_path_without_a_question_in_any_mode() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE).await.file("a.txt", "1\n");
    // As much as a person can allow with wildcards.
    let allow = |permission: &str, pattern: &str| Rule {
        permission: permission.to_owned(),
        pattern: pattern.to_owned(),
        action: Action::Allow,
    };
    app.sessions.set_rules(vec![
        allow("*", "*"),
        allow("edit", "**"),
        allow("edit", ".git/*"),
        allow("bash", "*"),
    ]);
    let sandbox = app.sessions.mode(&app.project).await.sandbox;
    let mut modes = vec![PermissionMode::Ask, PermissionMode::Full];
    modes.extend(sandbox.engine.map(|_| PermissionMode::Auto));
    for mode in modes {
        app.set_mode(mode).await;
        model.reply(PATHS.iter().flat_map(|path| ways(path)));
        model.reply([text("I may not")]);
        let requests = refused(&app).await;
        let asked: Vec<_> = requests
            .iter()
            .map(|one| (one.permission.as_str(), one.always.len()))
            .collect();
        let count = PATHS.iter().map(|path| ways(path).len()).sum();
        assert_eq!(asked, vec![("edit", 0); count], "{mode:?}");
        let each = PATHS.iter().flat_map(|path| vec![path; ways(path).len()]);
        for (request, path) in requests.iter().zip(each) {
            let reason = &request.needs[0].reasons[0];
            // A copy may also be made below it, if it is a folder.
            let named = reason.starts_with(&format!("`{path}"));
            assert!(
                named && reason.contains(" is protected: "),
                "{mode:?}: {reason}"
            );
        }
        let made: Vec<_> = PATHS
            .iter()
            .filter(|path| app.path(path).exists())
            .collect();
        assert_eq!(made, Vec::<&&str>::new(), "{mode:?}");
    }
}

/// A repository can ship such links, and a setting that says where its hooks are.
#[tokio::test]
async fn what_a_protected_link_leads_to_is_protected_too() {
    let model = FakeModel::start().await;
    let app = TestApp::with_git(&model, WIRE)
        .await
        .file(".git/config", "[core]\n\thooksPath = tools/hooks\n")
        .file("vs/keep", "")
        .file("tools/hooks/keep", "");
    std::os::unix::fs::symlink("vs", app.path(".vscode")).unwrap();
    app.set_mode(PermissionMode::Full).await;
    let write = |path: &str| call("write", json!({ "filePath": path, "content": "evil\n" }));
    let hook = json!({ "command": "touch tools/hooks/post-commit", "description": "Make it" });
    model.reply([
        write("vs/tasks.json"),
        write("tools/hooks/pre-commit"),
        call("bash", hook),
    ]);
    model.reply([text("I may not")]);
    let asked: Vec<_> = refused(&app)
        .await
        .into_iter()
        .map(|one| (one.permission, one.patterns.join(" "), one.always.len()))
        .collect();
    let edit = |path: &str| ("edit".to_owned(), path.to_owned(), 0);
    let expected = [
        edit("vs/tasks.json"),
        edit("tools/hooks/pre-commit"),
        edit("tools/hooks/post-commit"),
    ];
    assert_eq!(asked, expected);
}
