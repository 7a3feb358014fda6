//! `lathectl run --mode`: how much happens without a question, for this run.

use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use lathe_test_support::outside;
use serde_json::json;

use crate::lathectl::{Home, text};

fn runs(model: &FakeModel, command: &str) {
    let input = json!({ "command": command, "description": "Work" });
    model.reply([call("bash", input)]);
    model.reply([say("done")]);
}

#[tokio::test]
async fn full_access_runs_what_would_be_asked_and_is_not_remembered() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    runs(&model, "touch made");
    let output = home.run(&["run", "--mode", "full", "make it"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(home.project().join("made").exists());

    runs(&model, "touch again");
    let output = home.run(&["run", "make it"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(!home.project().join("again").exists());
}

#[tokio::test]
async fn auto_works_in_the_sandbox_and_what_must_leave_it_is_refused_without_a_terminal() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    runs(&model, "touch made");
    let output = home.run(&["run", "--mode", "auto", "make it"]).await;
    let said = text(&output.stderr);
    if said.contains("Auto needs a sandbox") {
        assert_eq!(output.status.code(), Some(1));
        assert!(!home.project().join("made").exists());
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(home.project().join("made").exists());

    // Temporary folders can be written to inside.
    let outside = outside::test_folder().unwrap();
    let mark = outside.path().join("mark");
    runs(&model, &format!("touch {}", mark.display()));
    let output = home.run(&["run", "--mode", "auto", "make it"]).await;
    let said = text(&output.stderr);
    assert!(!mark.exists());
    let folder = Path::new(outside.path()).display().to_string();
    assert!(
        said.contains("! denied") && said.contains(&folder),
        "{said}"
    );
}

#[tokio::test]
async fn an_unknown_mode_is_refused_with_the_known_ones() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let output = home.run(&["run", "--mode", "yolo", "make it"]).await;
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    let known = ["ask", "auto", "full"].map(|mode| said.contains(mode));
    assert_eq!(known, [true; 3], "{said}");
}
