//! Auto mode on real commands: what leaves the sandbox, and what a command leaves behind.

use std::fs;
use std::path::PathBuf;

use lathe_protocol::{Action, PermissionMode, PermissionRequest};
use lathe_provider::WireKind;
use lathe_session::Answer;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{Answered, FakeModel, call, text};
use lathe_test_support::outside;
use serde_json::json;

use crate::asking::next_request;
use crate::revert::{describe, revert, to};

const WIRE: WireKind = WireKind::OpenaiChat;

/// An app in Auto mode, or nothing where no sandbox works.
async fn auto(model: &FakeModel) -> Option<TestApp> {
    let app = TestApp::with_git(model, WIRE).await;
    let engine = app.sessions.mode(&app.project).await.sandbox.engine;
    app.set_mode(PermissionMode::Auto).await;
    engine.is_some().then_some(app)
}

/// The model runs a command, then ends the turn. Returns the request that has its result.
fn runs(model: &FakeModel, command: &str) -> Answered {
    let input = json!({ "command": command, "description": "Work" });
    model.reply([call("bash", input)]);
    model.reply([text("done")])
}

/// What the person is asked in a turn, in order; each is answered in this way.
async fn asked(app: &TestApp, answer: &Answer) -> Vec<PermissionRequest> {
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let mut requests = Vec::new();
    while let Some(request) = next_request(app, &mut events).await {
        let answered = app.sessions.answer_permission(&request.id, answer.clone());
        answered.await.unwrap();
        requests.push(request);
    }
    requests
}

/// The model reads why, and goes on.
fn no() -> Answer {
    Answer::Reject {
        message: Some("not this".to_owned()),
    }
}

/// A folder that is neither in the project nor a temporary one, which are writable inside.
fn outside() -> (tempfile::TempDir, PathBuf) {
    let folder = outside::test_folder().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

async fn commands_in_sandbox(app: &TestApp) -> usize {
    let messages = app.messages().await;
    let text = serde_json::to_string(&messages).unwrap();
    text.matches("\"sandbox\":\"").count()
}

fn what(requests: &[PermissionRequest]) -> Vec<(&str, Vec<String>)> {
    let each = requests.iter();
    each.map(|one| (one.permission.as_str(), one.patterns.clone()))
        .collect()
}

#[tokio::test]
async fn a_rule_for_a_program_does_not_take_it_out_of_the_sandbox_for_a_path_outside() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let app = app.rule("bash", "touch *", Action::Allow);
    let (_keep, outside) = outside();
    let made = outside.join("made");
    runs(&model, &format!("touch {}", made.display()));
    let requests = asked(&app, &no()).await;
    let asks: Vec<_> = requests.iter().map(|one| &*one.permission).collect();
    assert_eq!((asks, made.exists()), (vec!["sandbox_write"], false));

    let notes = outside.join("notes");
    fs::write(&notes, "outside").unwrap();
    runs(&model, &format!("cat {}", notes.display()));
    assert_eq!(what(&asked(&app, &no()).await), vec![]);
    assert_eq!(commands_in_sandbox(&app).await, 2);
}

#[tokio::test]
async fn a_plain_no_at_the_border_of_the_sandbox_stops_the_turn() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let (_folder, outside) = outside();
    let line = format!("touch {}", outside.join("mark").display());
    let input = json!({ "command": line, "description": "Work" });
    model.reply([call("bash", input)]);
    let next = model.reply([text("I will find another way")]);
    let requests = asked(&app, &Answer::Reject { message: None }).await;
    assert_eq!((requests.len(), next.was_asked()), (1, false));
}

#[tokio::test]
async fn a_command_that_a_rule_allows_stays_in_the_sandbox() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let app = app
        .rule("bash", "make *", Action::Allow)
        .file(".env", "KEY=1\n");
    let (_folder, outside) = outside();
    let mark = outside.join("mark");
    let makefile = format!("all:\n\ttouch {}\n", mark.display());
    model.reply([call(
        "write",
        json!({ "filePath": "Makefile", "content": makefile }),
    )]);
    runs(&model, "make");
    let folder = format!("{}/*", outside.display());
    let asks = [("sandbox_write", vec![folder])];
    assert_eq!(what(&asked(&app, &no()).await), asks);
    assert!(!mark.exists());

    // A yes to something else that it needs says nothing of the command.
    runs(&model, "make && cat .env");
    let mut events = app.sessions.subscribe();
    app.send("go").await;
    let read = app.next_permission(&mut events).await;
    assert_eq!(read.permission, "read");
    let yes = app.sessions.answer_permission(&read.id, Answer::Once);
    yes.await.unwrap();
    let next = [next_request(&app, &mut events).await.unwrap()];
    assert_eq!((what(&next), mark.exists()), (asks.to_vec(), false));
    app.sessions.abort(&app.session.id).await;
}

#[tokio::test]
async fn leave_to_write_one_outside_file_does_not_open_its_folder() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let (_folder, outside) = outside();
    let (one, other) = (outside.join("one"), outside.join("other"));
    fs::write(&one, "1").unwrap();
    fs::write(&other, "1").unwrap();
    let both = format!("echo 2 > {} && echo 2 > {}", one.display(), other.display());
    runs(&model, &both);
    let requests = asked(&app, &Answer::Session).await;
    let file = one.display().to_string();
    assert_eq!(what(&requests), [("sandbox_write", vec![file])]);
    let read = |path| fs::read_to_string(path).unwrap();
    assert_eq!((read(&one), read(&other)), ("2\n".into(), "1".into()));

    // It holds for the session, and a new file needs its folder.
    runs(&model, &format!("echo 3 > {}", one.display()));
    assert_eq!(what(&asked(&app, &Answer::Once).await), []);
    assert_eq!(read(&one), "3\n");
    runs(
        &model,
        &format!("echo 3 > {}", outside.join("new").display()),
    );
    let requests = asked(&app, &no()).await;
    let folder = format!("{}/*", outside.display());
    assert_eq!(what(&requests), [("sandbox_write", vec![folder])]);
    assert!(!outside.join("new").exists());
}

#[tokio::test]
async fn a_protected_file_that_a_command_makes_waits_for_the_person() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    app.write(
        "make.sh",
        "mkdir -p sub; echo 'export PATH=evil' > sub/.envrc\n",
    );
    let reply = runs(&model, "sh make.sh");
    let no = Answer::Reject {
        message: Some("I did not want this".to_owned()),
    };
    let requests = asked(&app, &no).await;
    assert_eq!(what(&requests), [("edit", vec!["sub/.envrc".to_owned()])]);
    let need = &requests[0].needs[0];
    let reason = "`sub/.envrc` is protected: a shell or a login runs it.";
    assert_eq!(
        (need.reasons.as_slice(), need.always.len()),
        (&[reason.to_owned()][..], 0)
    );
    assert_eq!(requests[0].metadata["setAside"], json!(["sub/.envrc"]));
    assert_eq!(requests[0].metadata["command"], "sh make.sh");
    assert!(!app.path("sub/.envrc").exists());
    let request = reply.request();
    let said = request.tool_output("bash");
    assert!(
        said.contains("it was renamed to .envrc.set-aside"),
        "{said}"
    );
    assert!(said.contains("I did not want this"), "{said}");

    runs(&model, "sh make.sh ");
    asked(&app, &Answer::Once).await;
    assert_eq!(app.read("sub/.envrc"), "export PATH=evil\n");
}

#[tokio::test]
async fn a_protected_file_that_a_rule_denies_or_that_was_asked_about_before_is_not_asked_again() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    app.write("make.sh", "mkdir -p $1; echo evil > $1/.envrc\n");
    let app = app.rule("edit", "no/*", Action::Deny);
    runs(&model, "sh make.sh no");
    assert_eq!(what(&asked(&app, &Answer::Once).await), []);
    assert!(!app.path("no/.envrc").exists());
    runs(&model, "echo x > .envrc");
    let requests = asked(&app, &Answer::Once).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(app.read(".envrc"), "x\n");
}

#[tokio::test]
async fn what_was_kept_is_reverted_with_its_turn_and_what_was_set_aside_is_named() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    for (name, answer) in [("kept", Answer::Once), ("aside", no())] {
        let script = format!("mkdir -p {name}; echo evil > {name}/.envrc\n");
        app.write("make.sh", script);
        runs(&model, &format!("sh make.sh; true {name}"));
        asked(&app, &answer).await;
    }
    assert!(app.path("kept/.envrc").exists() && app.path("aside/.envrc.set-aside").exists());
    let first = app.messages().await.remove(0).info.id().clone();
    let outcome = revert(&app, &to(&first)).await;
    // Our own rename cannot be told from one of somebody else.
    let shared = "aside/.envrc.set-aside: changed while a command of the agent ran, and it is not \
                  known whether only the command did it";
    assert_eq!(describe(&outcome.files), [shared, "kept/.envrc delete"]);
    let left = ["kept/.envrc", "aside/.envrc"].map(|name| app.path(name).exists());
    assert_eq!(left, [false, false]);
}

#[tokio::test]
async fn leave_that_is_given_for_good_holds_after_a_restart_and_for_that_folder_only() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let (_folder, outside) = outside();
    let (allowed, other) = (outside.join("allowed"), outside.join("other"));
    fs::create_dir(&allowed).unwrap();
    fs::create_dir(&other).unwrap();
    runs(&model, &format!("touch {}", allowed.join("one").display()));
    let folder = format!("{}/*", allowed.display());
    let requests = asked(&app, &Answer::Always).await;
    assert_eq!(what(&requests), [("sandbox_write", vec![folder])]);

    let app = app.restart().await;
    runs(&model, &format!("touch {}", allowed.join("two").display()));
    assert_eq!(what(&asked(&app, &Answer::Once).await), []);
    runs(&model, &format!("touch {}", other.join("two").display()));
    let folder = format!("{}/*", other.display());
    assert_eq!(
        what(&asked(&app, &no()).await),
        [("sandbox_write", vec![folder])]
    );
    let made = [allowed.join("one"), allowed.join("two"), other.join("two")];
    assert_eq!(made.map(|path| path.exists()), [true, true, false]);
}

#[tokio::test]
async fn a_program_that_nothing_is_known_of_reads_a_secret_file_only_after_a_yes() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let app = app.file(".env", "KEY=TOP-SECRET\n");
    app.write(
        "peek.sh",
        "while read -r line; do echo $line; done < .env\n",
    );
    let reply = runs(&model, "sh peek.sh");
    let requests = asked(&app, &no()).await;
    assert_eq!(what(&requests), [("read", vec![".env".to_owned()])]);
    let request = reply.request();
    let said = request.tool_output("bash");
    assert!(!said.contains("TOP-SECRET"), "{said}");

    let reply = runs(&model, "sh peek.sh ");
    let requests = asked(&app, &Answer::Once).await;
    assert_eq!(what(&requests), [("read", vec![".env".to_owned()])]);
    let request = reply.request();
    let said = request.tool_output("bash");
    assert!(said.contains("TOP-SECRET"), "{said}");
    assert_eq!(commands_in_sandbox(&app).await, 2);

    // An always for the file holds for every program.
    runs(&model, "sh peek.sh  ");
    asked(&app, &Answer::Always).await;
    let reply = runs(&model, "sh ./peek.sh");
    assert_eq!(what(&asked(&app, &no()).await), []);
    let request = reply.request();
    let said = request.tool_output("bash");
    assert!(said.contains("TOP-SECRET"), "{said}");
}

#[tokio::test]
async fn all_that_a_stopped_command_needs_is_asked_at_once_and_then_it_runs_from_its_start() {
    let model = FakeModel::start().await;
    let Some(app) = auto(&model).await else {
        return;
    };
    let (_folder, outside) = outside();
    let file = outside.join("file");
    fs::write(&file, "1").unwrap();
    let shown = file.display().to_string();
    let line = format!(
        "echo 2 > {shown}; cat .env; \
         echo 'curl: (6) Could not resolve host: example.org' >&2; test $(cat {shown}) = 2"
    );
    app.write("work.sh", &line);
    app.write(".env", "KEY=1\n");
    runs(&model, "sh work.sh");
    let requests = asked(&app, &Answer::Once).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
    let needs = requests[0].needs.iter();
    let needs: Vec<(&str, Vec<String>)> = needs
        .map(|need| (need.permission.as_str(), need.patterns.clone()))
        .collect();
    let expected = [
        ("network", vec!["*".to_owned()]),
        ("read", vec![".env".to_owned()]),
        ("sandbox_write", vec![shown]),
    ];
    assert_eq!(needs, expected);
    assert_eq!(requests[0].metadata["hosts"], json!(["example.org"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "2\n");
    assert_eq!(commands_in_sandbox(&app).await, 1);
}
