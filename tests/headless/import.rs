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
    assert_eq!(
        report,
        json!({ "added": 1, "already": 0, "unreadable": [] })
    );
    assert_eq!(there.run(&["export", &id]).await.stdout, exported);
    let again = there.json(&["import", "--json", file]).await;
    assert_eq!(again, json!({ "added": 0, "already": 1, "unreadable": [] }));

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
        "1 sessions added, 0 already here, 0 things not imported\n"
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
        "3 sessions added, 0 already here, 5 things not imported\n"
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

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures")
}
