//! Import from exported files and from another program's data directory.

use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, call, reasoning, text as say};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};

#[tokio::test]
async fn an_exported_session_is_the_same_after_it_was_imported_elsewhere() {
    let model = FakeModel::start().await;
    model.reply([
        reasoning("Let me see"),
        say("Looking."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([say("It says one.")]);
    let here = Home::new(&model);
    here.run(&["run", "what does it say?"]).await;
    let [id] = here.sessions().await.try_into().unwrap();
    let exported = here.run(&["export", &id]).await.stdout;
    let file = here.folder.path().join("session.json");
    std::fs::write(&file, &exported).unwrap();
    let file = file.to_str().unwrap();

    let there = Home::new(&model);
    let report = there.json(&["import", "--json", file]).await;
    assert_eq!(report, counted(1, 0));
    assert_eq!(there.run(&["export", &id]).await.stdout, exported);
    let again = there.json(&["import", "--json", file]).await;
    assert_eq!(again, counted(0, 1));

    model.reply([say("Yes.")]);
    let output = there.run(&["run", "--session", &id, "still?"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        model.requests()[2]
            .user_text()
            .contains("what does it say?")
    );
}

#[tokio::test]
async fn an_exported_session_from_elsewhere_is_imported_unchanged() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let fixture = fixtures().join("import/exported.json");
    let output = home.run(&["import", fixture.to_str().unwrap()]).await;
    assert_eq!(
        text(&output.stdout),
        "1 added, 0 already imported, 0 not imported\n"
    );
    let document: Value = serde_json::from_slice(&std::fs::read(fixture).unwrap()).unwrap();
    let id = document["info"]["id"].as_str().unwrap();
    assert_eq!(home.json(&["export", id]).await, document);
    let all = home.json(&["sessions", "--all", "--json"]).await;
    assert_eq!(all[0]["title"], "Every kind of part");
}

#[tokio::test]
async fn a_whole_data_directory_is_imported_and_failures_are_reported() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let source = fixtures().join("store/opencode-1.1");
    let output = home.run(&["import", source.to_str().unwrap()]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "3 added, 0 already imported, 5 not imported\n"
    );
    // One of them has a permission rule, which is not imported.
    assert_eq!(text(&output.stderr).lines().count(), 5);
    assert!(home.run(&["check"]).await.status.success());
    let nothing = home.run(&["import", "nowhere"]).await;
    assert!(!nothing.status.success());
    assert_eq!(
        text(&nothing.stderr),
        "lathectl: there is nothing to import at nowhere\n"
    );
}

#[tokio::test]
async fn a_codex_session_is_read_searched_forked_and_continued() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let project = home.project().canonicalize().unwrap();
    let name = "rollout-2026-11-18T14-45-48-01a1ef1e-fddf-7673-9157-7992ed100b1f.jsonl";
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures/codex/sessions/2026/11/18")
        .join(name);
    let codex = tempfile::tempdir().unwrap();
    let folder = codex.path().join("sessions/2026/11/18");
    std::fs::create_dir_all(&folder).unwrap();
    let content = std::fs::read_to_string(source).unwrap();
    let here = content.replace("/home/user/fern-shop", project.to_str().unwrap());
    std::fs::write(folder.join(name), here).unwrap();
    let path = codex.path().to_str().unwrap();

    let wrong = home.run(&["import", "--from", "claude", path]).await;
    assert!(!wrong.status.success());
    let output = home.run(&["import", "--from", "codex", path]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "1 added, 0 already imported, 0 not imported\n"
    );
    let again = home.json(&["import", "--json", path]).await;
    assert_eq!(again, counted(0, 1));

    let [id] = home.sessions().await.try_into().unwrap();
    let shown = home.run(&["show", &id]).await;
    assert!(
        text(&shown.stdout).contains("It says hello."),
        "{}",
        text(&shown.stdout)
    );
    let found = home.run(&["sessions", "--search", "hello"]).await;
    assert!(text(&found.stdout).contains(&id), "{}", text(&found.stderr));
    let fork = home.run(&["fork", &id]).await;
    assert!(fork.status.success(), "{}", text(&fork.stderr));

    model.reply([say("Yes.")]);
    let with_model = ["run", "--session", &id, "--model", "fake/m", "still?"];
    let output = home.run(&with_model).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let request = &model.requests()[0];
    assert!(request.user_text().contains("What does a.txt say?"));
    // What was said here since must not be mixed with what is added there.
    let longer = format!(
        "{}{{}}\n",
        std::fs::read_to_string(folder.join(name)).unwrap()
    );
    std::fs::write(folder.join(name), longer).unwrap();
    let continued = home.run(&["import", path]).await;
    assert_eq!(
        text(&continued.stdout),
        "0 added, 1 already imported, 1 not imported\n"
    );
    assert!(home.run(&["check"]).await.status.success());
}

fn counted(added: usize, already: usize) -> Value {
    json!({
        "added": added, "already": already, "grown": 0, "unreadable": [], "left_out": [],
        "stopped": false,
    })
}

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures")
}
