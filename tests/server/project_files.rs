//! Text, symbols, files and changes of a project, and its tools.

use std::path::Path;
use std::process::Command;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::Door;

fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
}

#[tokio::test]
async fn text_is_found_with_its_places() {
    let door = Door::open().await;
    door.app.write("src/a.txt", "one\ntwo fern, one fern\n");
    let found = door.get("/find?pattern=f(e)rn").await;
    let wanted = json!([{
        "path": { "text": "src/a.txt" },
        "lines": { "text": "two fern, one fern\n" },
        "line_number": 2,
        "absolute_offset": 4,
        "submatches": [
            { "match": { "text": "fern" }, "start": 4, "end": 8 },
            { "match": { "text": "fern" }, "start": 14, "end": 18 },
        ],
    }]);
    assert_eq!(found, wanted);
    assert_eq!(door.get("/find?pattern=nowhere").await, json!([]));
    let (status, message) = door
        .refused(Method::GET, "/find?pattern=(", json!({}))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{message}");
}

#[tokio::test]
async fn functions_and_types_are_found_by_their_names() {
    let door = Door::open().await;
    let source = "fn water() {}\n\nstruct Fern {\n    leaves: u8,\n}\n";
    door.app.write("src/main.rs", source);
    let found = door.get("/find/symbol?query=Fern").await;
    let path = door.app.path("src/main.rs");
    let wanted = json!([{
        "name": "Fern",
        "kind": 23,
        "location": {
            "uri": format!("file://{}", path.display()),
            "range": {
                "start": { "line": 2, "character": 0 },
                "end": { "line": 5, "character": 0 },
            },
        },
    }]);
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn what_the_agent_would_have_to_ask_for_is_not_shown() {
    let door = Door::open().await;
    door.app.write(".env", "KEY=fern\n");
    door.app.write("config/.env.local", "KEY=fern\n");
    std::fs::hard_link(door.app.path(".env"), door.app.path("plain.txt")).unwrap();
    assert_eq!(door.get("/find?pattern=fern").await, json!([]));
    for path in [".env", "config/.env.local", "plain.txt", "./config/../.env"] {
        let path = format!("/file/content?path={path}");
        let (status, message) = door.refused(Method::GET, &path, json!({})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
        assert!(message.contains("may hold secrets"), "{message}");
    }
}

/// What reads a folder or works in it, with the folder as the last thing.
const NAMING: [(Method, &str); 7] = [
    (Method::GET, "/file/content?path=x&"),
    (Method::GET, "/file?path=.&"),
    (Method::GET, "/find?pattern=x&"),
    (Method::GET, "/find/file?query=x&"),
    (Method::GET, "/api/fs/find?query=x&"),
    (Method::GET, "/vcs/diff?mode=git&"),
    (Method::POST, "/session?"),
];

async fn assert_no_project(door: &Door, folder: &Path) {
    for (method, path) in NAMING {
        let path = format!("{path}directory={}", folder.display());
        let (status, message) = door.refused(method, &path, json!({})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {message}");
        assert!(message.contains("is no folder of a project"), "{message}");
    }
}

#[tokio::test]
async fn a_personal_folder_that_only_a_client_names_is_no_project() {
    let door = Door::open().await;
    for folder in [Path::new("/"), &std::env::home_dir().unwrap()] {
        assert_no_project(&door, folder).await;
    }
}

/// Neither while the person is asked, nor after they said no.
#[tokio::test]
async fn a_terminal_in_a_personal_folder_that_is_refused_makes_it_no_project() {
    let door = Door::open().await;
    let home = std::env::home_dir().unwrap();
    let mut events = door.events("/event", "").await;
    let body = json!({ "command": "true", "cwd": home });
    let answering = async {
        let seen = crate::door::until(&mut events, "permission.asked").await;
        let asked = &seen.last().unwrap()["properties"];
        assert_no_project(&door, &home).await;
        let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
        door.post(&path, json!({ "reply": "reject" })).await;
    };
    let ((status, _), ()) = tokio::join!(door.refused(Method::POST, "/pty", body), answering);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_no_project(&door, &home).await;
    let here = door.app.path(".").canonicalize().unwrap();
    for session in door.app.sessions.list_all().await.unwrap() {
        assert_eq!(Path::new(&session.directory).canonicalize().unwrap(), here);
    }
}

#[tokio::test]
async fn a_new_name_of_a_file_that_may_hold_secrets_is_listed_without_its_text() {
    let door = Door::open().await;
    git(&door.app.path("."), &["init", "-q", "-b", "main"]);
    door.app.write(".env", "KEY=fern\n");
    std::fs::hard_link(door.app.path(".env"), door.app.path("plain.txt")).unwrap();
    let diff = door.get("/vcs/diff?mode=git").await;
    let files = diff.as_array().unwrap().iter();
    let mut patches: Vec<_> = files.map(|one| (&one["file"], &one["patch"])).collect();
    patches.sort_by_key(|(file, _)| file.to_string());
    assert_eq!(
        patches,
        [
            (&json!(".env"), &json!("")),
            (&json!("plain.txt"), &json!(""))
        ]
    );
}

#[tokio::test]
async fn files_are_found_by_kind() {
    let door = Door::open().await;
    door.app.write("garden/garden.txt", "");
    let files = door.get("/find/file?query=garden&type=file").await;
    assert_eq!(files, json!(["garden/garden.txt"]));
    let folders = door.get("/find/file?query=garden&type=directory").await;
    assert_eq!(folders, json!(["garden"]));
}

#[tokio::test]
async fn what_is_not_committed_is_listed_with_its_patches() {
    let door = Door::open().await;
    let folder = door.app.path(".");
    git(&folder, &["init", "-q", "-b", "main"]);
    door.app.write("changed.txt", "one\ntwo\n");
    door.app.write("removed.txt", "gone\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "first"]);
    git(&folder, &["checkout", "-qb", "work"]);
    door.app.write("committed.txt", "done\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "second"]);
    door.app.write("changed.txt", "one\n2\n3\n");
    std::fs::remove_file(door.app.path("removed.txt")).unwrap();
    door.app.write("new.txt", "new\n");
    door.app.write(".env", "KEY=1\n");

    let branches = door.get("/vcs").await;
    assert_eq!(
        branches,
        json!({ "branch": "work", "default_branch": "main" })
    );
    let mut status = door.get("/vcs/status").await;
    by_file(&mut status);
    let wanted = json!([
        { "file": ".env", "additions": 0, "deletions": 0, "status": "added" },
        { "file": "changed.txt", "additions": 2, "deletions": 1, "status": "modified" },
        { "file": "new.txt", "additions": 1, "deletions": 0, "status": "added" },
        { "file": "removed.txt", "additions": 0, "deletions": 1, "status": "deleted" },
    ]);
    assert_eq!(status, wanted);
    let older = door.get("/file/status").await;
    let older: Vec<_> = older.as_array().unwrap().iter().collect();
    let changed = json!({ "path": "changed.txt", "added": 2, "removed": 1, "status": "modified" });
    assert!(older.contains(&&changed), "{older:?}");

    let diff = door.get("/vcs/diff?mode=git&context=0").await;
    let patch = |diff: &Value, file: &str| {
        let files = diff.as_array().unwrap().iter();
        let mut named = files.filter(|one| one["file"] == file);
        named
            .next()
            .map(|one| one["patch"].as_str().unwrap().to_owned())
    };
    let wanted = "--- a/changed.txt\n+++ b/changed.txt\n@@ -2 +2,2 @@\n-two\n+2\n+3\n";
    assert_eq!(patch(&diff, "changed.txt").as_deref(), Some(wanted));
    assert_eq!(
        patch(&diff, ".env").as_deref(),
        Some(""),
        "its text is not shown"
    );
    assert_eq!(patch(&diff, "committed.txt"), None);
    let branch = door.get("/vcs/diff?mode=branch").await;
    assert!(patch(&branch, "committed.txt").unwrap().contains("+done"));

    let raw = door
        .request(Method::GET, "/vcs/diff/raw")
        .send()
        .await
        .unwrap();
    assert_eq!(raw.headers()["content-type"], "text/plain; charset=utf-8");
    let raw = raw.text().await.unwrap();
    assert!(
        raw.contains("diff --git a/removed.txt b/removed.txt\n--- a/removed.txt\n+++ /dev/null\n")
    );
    assert!(!raw.contains("KEY"));
}

#[tokio::test]
async fn every_changed_file_is_listed_and_the_first_ones_with_their_lines() {
    let door = Door::open().await;
    git(&door.app.path("."), &["init", "-q", "-b", "main"]);
    for number in 0..2_010 {
        door.app.write(&format!("new-{number}.txt"), "new\n");
    }
    let status = door.get("/vcs/status").await;
    let added: Vec<_> = status.as_array().unwrap().iter().collect();
    let counted = added.iter().filter(|one| one["additions"] == 1);
    assert_eq!((added.len(), counted.count()), (2_010, 2_000));
}

fn by_file(list: &mut Value) {
    let list = list.as_array_mut().unwrap();
    list.sort_by_key(|one| one["file"].as_str().unwrap().to_owned());
}

#[tokio::test]
async fn a_folder_without_a_repository_has_no_changes() {
    let door = Door::open().await;
    door.app.write("a.txt", "a");
    assert_eq!(door.get("/vcs").await, json!({ "branch": "" }));
    for path in ["/vcs/status", "/vcs/diff?mode=git", "/file/status"] {
        assert_eq!(door.get(path).await, json!([]), "{path}");
    }
}

#[tokio::test]
async fn the_tools_of_the_agent_are_listed_with_their_schemas() {
    let door = Door::open().await;
    let ids = door.get("/experimental/tool/ids").await;
    let ids: Vec<_> = ids.as_array().unwrap().iter().collect();
    for name in ["bash", "read", "edit", "grep", "task"] {
        assert!(ids.contains(&&json!(name)), "{name} is not in {ids:?}");
    }
    let tools = door.get("/experimental/tool?provider=fake&model=m").await;
    let tools = tools.as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["id"]).collect();
    assert_eq!(names, ids);
    for tool in tools {
        assert!(
            tool["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert_eq!(tool["parameters"]["type"], "object");
    }
}

#[tokio::test]
async fn models_and_providers_are_listed_for_newer_clients() {
    let door = Door::open().await;
    let fake = json!({
        "id": "fake",
        "name": "fake",
        "api": { "type": "native", "settings": {} },
        "request": { "headers": {}, "body": {} },
    });
    let named = |list: &Value, field: &str, wanted: &str| {
        let list = list["data"].as_array().unwrap().iter();
        let mut named = list.filter(|one| one[field] == wanted);
        named.next().cloned().unwrap()
    };
    let providers = door.get("/api/provider").await;
    assert_eq!(named(&providers, "id", "fake"), fake);
    let models = door.get("/api/model").await;
    let model = named(&models, "id", "m");
    assert_eq!(model["providerID"], "fake");
    assert_eq!(model["capabilities"]["output"], json!(["text"]));
    assert!(model["limit"]["context"].is_number());
}

#[tokio::test]
async fn requests_of_another_project_are_not_listed() {
    let door = Door::open().await;
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().to_str().unwrap();
    let call = json!({ "command": "touch made", "description": "d" });
    door.model
        .reply([lathe_test_support::fake_model::call("bash", call)]);
    let path = door.new_session().await;
    let mut events = door.events("/event", "opencode/1.18.34").await;
    let body = json!({ "parts": [{ "type": "text", "text": "go" }] });
    let sent = door.request(Method::POST, &format!("{path}/prompt_async"));
    assert_eq!(
        sent.json(&body).send().await.unwrap().status(),
        StatusCode::NO_CONTENT
    );
    crate::door::until(&mut events, "permission.asked").await;
    for (list, here) in [("/permission", 1), ("/session/status", 1)] {
        let count = |value: Value| match value {
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        assert_eq!(count(door.get(list).await), here, "{list}");
        let elsewhere = format!("{list}?directory={folder}");
        assert_eq!(count(door.get(&elsewhere).await), 0, "{list}");
    }
}
