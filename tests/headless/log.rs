//! The log: it says what happened, and nothing of what was said.

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use serde_json::json;

use crate::lathectl::{Home, text};

async fn turn(verbose: &[&str]) -> (Home, String) {
    let model = FakeModel::start().await;
    model.reply([
        say("A confidential answer."),
        call("read", json!({ "filePath": "a.txt" })),
    ]);
    model.reply([say("Done.")]);
    let home = Home::new(&model);
    std::fs::write(home.project().join("a.txt"), "confidential content\n").unwrap();
    let args = [verbose, &["run", "a confidential prompt"]].concat();
    let output = home.run(&args).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    (home, said)
}

fn log(home: &Home) -> String {
    std::fs::read_to_string(home.data().join("logs").join("lathectl.log")).unwrap()
}

#[tokio::test]
async fn a_turn_is_logged_with_its_steps_and_calls_and_without_any_content() {
    let (home, said) = turn(&[]).await;
    let log = log(&home);
    for wanted in [
        "turn{session=ses_",
        "step{number=1 provider=\"fake\" model=\"m\"}",
        "call{tool=\"read\"}",
        "the turn has ended ended=\"done\"",
    ] {
        assert!(log.contains(wanted), "no {wanted} in {log}");
    }
    assert!(!log.contains("confidential"), "{log}");
    assert!(!said.contains("the turn has ended"), "{said}");
}

#[tokio::test]
async fn the_log_is_also_printed_on_request() {
    let (_home, said) = turn(&["-v"]).await;
    assert!(said.contains("the turn has ended"), "{said}");
}
