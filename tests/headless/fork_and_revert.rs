//! Fork, revert and unrevert from a terminal.

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use serde_json::{Value, json};

use crate::lathectl::{Home, text};

/// A session of two prompts; the second one wrote a file.
async fn worked(model: &FakeModel) -> (Home, String, String) {
    let home = Home::new(model);
    model.reply([say("hello")]);
    home.run(&["run", "greet"]).await;
    model.reply([call(
        "write",
        json!({ "filePath": "b.txt", "content": "b\n" }),
    )]);
    model.reply([say("written")]);
    home.run(&["run", "--yes", "--continue", "write it"]).await;
    assert!(home.project().join("b.txt").exists());
    let [id] = home.sessions().await.try_into().unwrap();
    let export = home.json(&["export", &id]).await;
    let second = prompts(&export)[1].clone();
    (home, id, second)
}

fn prompts(export: &Value) -> Vec<String> {
    let messages = export["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["info"]["role"] == "user")
        .map(|message| message["info"]["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_revert_is_previewed_done_and_undone() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    let file = home.project().join("b.txt");

    let preview = home
        .run(&["revert", &id, "--to", &second, "--preview"])
        .await;
    let said = text(&preview.stdout);
    assert!(preview.status.success(), "{}", text(&preview.stderr));
    assert!(said.starts_with("delete b.txt "), "{said}");
    assert!(said.ends_with("3 messages would be hidden\n"), "{said}");
    assert!(file.exists());

    let done = home.run(&["revert", &id, "--to", &second]).await;
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(!file.exists());
    let shown = text(&home.run(&["show", &id]).await.stdout);
    assert!(
        shown.contains("greet") && !shown.contains("write it"),
        "{shown}"
    );
    for form in ["model", "request"] {
        let asked = home.json(&["show", &id, "--as", form]).await.to_string();
        assert!(asked.contains("greet"), "{asked}");
        assert!(!asked.contains("write it"), "what the next prompt deletes");
    }
    let export = home.json(&["export", &id]).await;
    assert_eq!(prompts(&export).len(), 2, "nothing is gone yet");
    let undone = home.run(&["unrevert", &id]).await;
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "b\n");
}

#[tokio::test]
async fn a_file_changed_since_is_a_conflict_and_is_left_alone() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    let file = home.project().join("b.txt");
    std::fs::write(&file, "mine\n").unwrap();
    let done = home.run(&["revert", &id, "--to", &second]).await;
    assert!(!done.status.success());
    assert!(text(&done.stdout).starts_with("conflict b.txt "));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
}

#[tokio::test]
async fn a_conflict_during_an_unrevert_is_named_and_fails() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    let file = home.project().join("b.txt");
    let export = home.json(&["export", &id]).await;
    let last = export["messages"][4]["info"]["id"].as_str().unwrap();
    let done = home.run(&["revert", &id, "--to", &second]).await;
    assert!(done.status.success(), "{}", text(&done.stderr));
    std::fs::write(&file, "mine\n").unwrap();

    let preview = home.run(&["revert", &id, "--to", last, "--preview"]).await;
    let done = home.run(&["revert", &id, "--to", last]).await;
    let conflict = "conflict b.txt +1 -0 (changed since the agent wrote it)";
    assert_eq!(
        text(&preview.stdout),
        format!("{conflict}\n1 message would be hidden\n")
    );
    assert_eq!(
        (preview.status.code(), text(&preview.stderr).as_str()),
        (
            Some(1),
            "lathectl: not everything would be reverted: 1 file is left as it is\n"
        )
    );
    assert_eq!(
        text(&done.stdout),
        format!("{conflict}\n1 message hidden\n")
    );
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
}

#[tokio::test]
async fn a_file_that_an_unrevert_left_is_named_with_the_command_that_restores_it() {
    let model = FakeModel::start().await;
    let (home, id, _) = worked(&model).await;
    let file = home.project().join("b.txt");
    home.run(&["revert", &id, "--last"]).await;
    std::fs::write(&file, "mine\n").unwrap();

    let undone = home.run(&["unrevert", &id]).await;
    assert_eq!(undone.status.code(), Some(1));
    assert!(text(&undone.stdout).starts_with("conflict b.txt "));
    assert_eq!(
        text(&undone.stderr),
        format!(
            "lathectl: not everything was restored: 1 file is left as it is\n\
             lathectl: to retry: lathectl reverted restore {id} 1\n"
        )
    );
    let still = home.run(&["reverted", "restore", &id, "1"]).await;
    assert_eq!(
        (still.status.code(), text(&still.stderr)),
        (undone.status.code(), text(&undone.stderr))
    );
    std::fs::remove_file(&file).unwrap();
    let again = home.run(&["unrevert", &id]).await;
    assert_eq!(again.status.code(), Some(1));
    let said = text(&again.stderr);
    assert!(said.contains("No revert to undo"), "{said}");
    let hint = format!("to see what can be restored: lathectl reverted list {id}\n");
    assert!(said.contains(&hint), "{said}");
    let restored = home.run(&["reverted", "restore", &id, "1"]).await;
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "b\n");
}

#[tokio::test]
async fn the_last_prompt_is_reverted_by_name_and_a_pending_revert_is_shown() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    let shown = text(&home.run(&["show", &id]).await.stdout);
    assert!(shown.contains(&format!("── You  {second}")), "{shown}");

    let done = home.run(&["revert", &id, "--last"]).await;
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(!home.project().join("b.txt").exists());
    let shown = text(&home.run(&["show", &id]).await.stdout);
    assert!(shown.contains("(3 messages hidden"), "{shown}");
    let listed = text(&home.run(&["sessions"]).await.stdout);
    assert!(listed.contains("(reverted)"), "{listed}");
}

#[tokio::test]
async fn one_file_is_reverted_alone_and_a_conflict_is_forced() {
    let model = FakeModel::start().await;
    let (home, id, _) = worked(&model).await;
    let file = home.project().join("b.txt");
    std::fs::write(&file, "mine\n").unwrap();
    let done = home.run(&["revert", &id, "--file", "b.txt"]).await;
    assert_eq!(done.status.code(), Some(1));
    assert!(
        text(&done.stderr).contains("not everything was reverted: 1 file is left as it is"),
        "{}",
        text(&done.stderr)
    );
    let done = home
        .run(&["revert", &id, "--file", "b.txt", "--force"])
        .await;
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "delete b.txt +0 -1\n");
    assert!(!file.exists());
    let undone = home.run(&["unrevert", &id]).await;
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
    let nothing = home.run(&["revert", &id]).await;
    assert_eq!(
        nothing.status.code(),
        Some(2),
        "what to revert must be said"
    );
}

#[tokio::test]
async fn what_the_next_prompt_removed_is_listed_and_restored() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    home.run(&["revert", &id, "--last"]).await;
    model.reply([say("fine")]);
    home.run(&["run", "--continue", "something else"]).await;

    let listed = text(&home.run(&["reverted", "list", &id]).await.stdout);
    let json = home.json(&["reverted", "list", &id, "--json"]).await;
    let day = lathe_protocol::Millis(json[0]["time"].as_i64().unwrap()).date();
    assert!(listed.starts_with(&format!("1  {day} ")), "{listed}");
    let end = " UTC  3 messages, 1 file  write it\n";
    assert!(listed.ends_with(end), "{listed}");
    let restored = home.run(&["reverted", "restore", &id, "1"]).await;
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    let file = home.project().join("b.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "b\n");
    let export = home.json(&["export", &id]).await;
    assert!(prompts(&export).contains(&second));
    assert_eq!(text(&home.run(&["reverted", "list", &id]).await.stdout), "");
}

#[cfg(unix)]
#[tokio::test]
async fn after_a_kill_in_a_command_a_revert_names_what_it_cannot_speak_for() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([call(
        "bash",
        json!({ "command": "echo two > a.txt; echo new > ready; sleep 600", "description": "run" }),
    )]);
    let mut child = home
        .command(&["run", "--yes", "go"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ready = home.project().join("ready");
    let written = async {
        while !std::fs::read_to_string(&ready).is_ok_and(|text| text == "new\n") {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(120), written).await;
    assert!(waited.is_ok(), "the command never ran");
    child.kill().unwrap();
    child.wait().unwrap();

    let [id] = home.sessions().await.try_into().unwrap();
    let done = home.run(&["revert", &id, "--last"]).await;
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("unknown a.txt"), "{said}");
    assert!(said.contains("unknown ready"), "{said}");
    let file = home.project().join("a.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
    let forced = home.run(&["revert", &id, "--last", "--force"]).await;
    assert!(forced.status.success(), "{}", text(&forced.stdout));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
}

#[tokio::test]
async fn a_fork_counts_what_its_copied_turns_changed() {
    let model = FakeModel::start().await;
    let (home, id, _) = worked(&model).await;
    let output = home.run(&["fork", &id]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let forked = home.json(&["export", text(&output.stdout).trim()]).await;
    let source = home.json(&["export", &id]).await;
    assert_eq!(
        source["info"]["summary"],
        json!({ "additions": 1, "deletions": 0, "files": 1 })
    );
    assert_eq!(
        (&forked["info"]["summary"], &forked["diff"]),
        (&source["info"]["summary"], &source["diff"])
    );
}

#[tokio::test]
async fn a_fork_contains_what_came_before_the_message() {
    let model = FakeModel::start().await;
    let (home, id, second) = worked(&model).await;
    let output = home.run(&["fork", &id, "--at", &second]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let forked = text(&output.stdout).trim().to_owned();
    let export = home.json(&["export", &forked]).await;
    assert_eq!(export["messages"].as_array().map(Vec::len), Some(2));
    assert_ne!(export["info"]["id"], json!(id));
    let refused = home.run(&["fork", &id, "--at", "msg_../../x"]).await;
    assert!(!refused.status.success());
}
