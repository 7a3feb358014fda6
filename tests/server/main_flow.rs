//! A session from its creation to its removal.

use lathe_test_support::fake_model::{call, text};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::Door;

fn texts(message: &Value) -> Vec<&str> {
    let parts = message["parts"].as_array().unwrap();
    parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect()
}

#[tokio::test]
async fn a_session_is_created_listed_renamed_archived_and_removed() {
    let door = Door::open().await;
    let created = door.post("/session", json!({ "title": "First" })).await;
    let id = created["id"].as_str().unwrap();
    let path = format!("/session/{id}");
    assert_eq!(created["title"], "First");
    assert_eq!(door.get(&path).await, created);
    let listed = door.get("/session?search=first").await;
    assert_eq!(listed, json!([created]));

    let renamed = door.request(Method::PATCH, &path);
    let renamed = renamed.json(&json!({ "title": "Second", "time": { "archived": 1 } }));
    let renamed: Value = renamed.send().await.unwrap().json().await.unwrap();
    assert_eq!(renamed["title"], "Second");
    assert!(renamed["time"]["archived"].is_number());

    let removed = door.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(removed.json::<Value>().await.unwrap(), json!(true));
    let (status, message) = door.refused(Method::GET, &path, json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(message.contains(id), "{message}");
}

#[tokio::test]
async fn an_empty_body_creates_a_session() {
    let door = Door::open().await;
    let response = door.request(Method::POST, "/session").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let session: Value = response.json().await.unwrap();
    assert!(session["id"].as_str().unwrap().starts_with("ses_"));
}

#[tokio::test]
async fn a_prompt_is_answered_with_the_message_of_the_model() {
    let door = Door::open().await;
    door.model.reply([text("Hello back")]);
    let path = door.new_session().await;
    let body = json!({ "parts": [{ "type": "text", "text": "Hello" }] });
    let answer = door.post(&format!("{path}/message"), body).await;

    assert_eq!(texts(&answer), ["Hello back"]);
    assert_eq!(answer["info"]["role"], "assistant");
    let messages = door.get(&format!("{path}/message")).await;
    let messages = messages.as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1], answer);
    let first = messages[0]["info"]["id"].as_str().unwrap();
    assert_eq!(
        door.get(&format!("{path}/message/{first}")).await,
        messages[0]
    );
}

#[tokio::test]
async fn messages_are_paged_from_the_newest_back() {
    let door = Door::open().await;
    let path = door.new_session().await;
    for word in ["one", "two"] {
        door.model.reply([text(word)]);
        let body = json!({ "parts": [{ "type": "text", "text": word }] });
        door.post(&format!("{path}/message"), body).await;
    }
    let all = door.get(&format!("{path}/message")).await;
    let newest = door.request(Method::GET, &format!("{path}/message?limit=3"));
    let newest = newest.send().await.unwrap();
    let cursor = newest.headers()["x-next-cursor"]
        .to_str()
        .unwrap()
        .to_owned();
    let link = newest.headers()["link"].to_str().unwrap().to_owned();
    let newest: Value = newest.json().await.unwrap();
    assert_eq!(newest.as_array().unwrap(), &all.as_array().unwrap()[1..]);
    assert_eq!(
        link,
        format!("<{path}/message?limit=3&before={cursor}>; rel=\"next\"")
    );

    let older = door.request(
        Method::GET,
        &format!("{path}/message?limit=3&before={cursor}"),
    );
    let older = older.send().await.unwrap();
    assert!(!older.headers().contains_key("x-next-cursor"));
    let older: Value = older.json().await.unwrap();
    assert_eq!(older.as_array().unwrap(), &all.as_array().unwrap()[..1]);
}

#[tokio::test]
async fn what_a_turn_changed_is_shown_reverted_and_restored() {
    let door = Door::open().await;
    door.app.write("a.txt", "one\n");
    let path = door.new_session().await;
    let edit = json!({ "filePath": "a.txt", "oldString": "one", "newString": "two" });
    door.model
        .reply([call("read", json!({ "filePath": "a.txt" }))]);
    door.model.reply([call("edit", edit)]);
    door.model.reply([text("done")]);
    let body = json!({ "parts": [{ "type": "text", "text": "change it" }] });
    door.app
        .sessions
        .set_project_edits(&door.app.project, true)
        .await
        .unwrap();
    let answer = door.post(&format!("{path}/message"), body).await;
    assert_eq!(texts(&answer), ["done"]);
    assert_eq!(door.app.read("a.txt"), "two\n");

    let id = lathe_protocol::SessionId::parse(path.rsplit('/').next().unwrap()).unwrap();
    door.app.sessions.wait_for_summary(&id).await.unwrap();
    let diff = door.get(&format!("{path}/diff")).await;
    assert_eq!(diff[0]["before"], "one\n");
    assert_eq!(diff[0]["after"], "two\n");
    assert!(diff[0]["patch"].as_str().unwrap().contains("+two"));

    let prompt = answer["info"]["parentID"].clone();
    let reverted = door
        .post(&format!("{path}/revert"), json!({ "messageID": prompt }))
        .await;
    assert_eq!(reverted["revert"]["messageID"], prompt);
    assert_eq!(door.app.read("a.txt"), "one\n");
    let restored = door.post(&format!("{path}/unrevert"), json!({})).await;
    assert_eq!(restored["revert"], Value::Null);
    assert_eq!(door.app.read("a.txt"), "two\n");
}

#[tokio::test]
async fn a_session_is_forked_and_compacted() {
    let door = Door::open().await;
    let path = door.new_session().await;
    door.model.reply([text("one")]);
    let body = json!({ "parts": [{ "type": "text", "text": "say one" }] });
    door.post(&format!("{path}/message"), body).await;
    let fork = door.post(&format!("{path}/fork"), json!({})).await;
    let copied = format!("/session/{}/message", fork["id"].as_str().unwrap());
    assert_eq!(door.get(&copied).await.as_array().unwrap().len(), 2);

    door.model.reply([text("a summary")]);
    let body = json!({ "providerID": "fake", "modelID": "m" });
    assert_eq!(
        door.post(&format!("{path}/summarize"), body).await,
        json!(true)
    );
    let messages = door.get(&format!("{path}/message")).await;
    let summaries = messages.as_array().unwrap().iter();
    let summaries = summaries.filter(|message| message["info"]["summary"] == json!(true));
    assert_eq!(summaries.count(), 1);
}

#[tokio::test]
async fn the_start_of_every_client_is_answered() {
    let door = Door::open().await;
    door.app.write("src/main.rs", "fn main() {}\n");
    for path in [
        "/config",
        "/config/providers",
        "/provider",
        "/provider/auth",
        "/agent",
        "/command",
        "/session",
        "/session/status",
        "/lsp",
        "/mcp",
        "/formatter",
        "/vcs",
        "/path",
        "/project",
        "/project/current",
        "/experimental/resource",
        "/permission",
        "/question",
        "/file?path=",
        "/file/content?path=src/main.rs",
        "/find/file?query=main",
        "/global/health",
        "/skill",
        "/global/config",
        "/experimental/capabilities",
        "/experimental/console",
        "/pty",
        "/experimental/workspace",
        "/experimental/workspace/status",
        "/vcs/diff",
        "/doc",
    ] {
        door.get(path).await;
    }
    for path in [
        "/api/agent",
        "/api/command",
        "/api/fs/find?query=main",
        "/api/integration",
        "/api/model",
        "/api/provider",
        "/api/reference",
        "/api/skill",
    ] {
        let answer = door.get(path).await;
        assert!(answer["data"].is_array(), "{path}: {answer}");
        let location = door.get("/api/location").await;
        assert_eq!(answer["location"], location, "{path}");
    }
    assert_eq!(door.get("/api/health").await, json!({ "healthy": true }));
    let found = door.get("/api/fs/find?query=main.rs").await;
    let file = json!({ "path": "src/main.rs", "type": "file" });
    assert_eq!(found["data"][0], file);
    let sessions = door.get("/api/session").await;
    let first = &sessions["data"][0];
    assert_eq!(first["location"]["directory"], first["directory"]);
    let providers = door.get("/config/providers").await;
    assert_eq!(providers["default"]["fake"], "m");
    let agents = door.get("/agent").await;
    assert_eq!(agents[0]["name"], "build");
    let found = door.get("/find/file?query=main").await;
    assert_eq!(found[0], "src/main.rs");
    let read = door.get("/file/content?path=src/main.rs").await;
    assert_eq!(read, json!({ "type": "text", "content": "fn main() {}\n" }));
    let health = door.get("/global/health").await;
    assert_eq!(health["healthy"], true);
}

#[tokio::test]
async fn the_description_names_every_route_and_its_body() {
    let door = Door::open().await;
    let document = door.get("/doc").await;
    for route in lathe_server::ROUTES {
        let operation = &document["paths"][route.path][route.method.to_ascii_lowercase()];
        assert_eq!(operation["summary"], route.purpose, "{}", route.path);
        assert_eq!(operation["requestBody"].is_object(), route.body.is_some());
    }
    let text = document.to_string();
    let references = text.match_indices("\"$ref\":\"").map(|(at, found)| {
        let rest = &text[at + found.len()..];
        &rest[..rest.find('"').unwrap()]
    });
    for reference in references {
        let name = reference.strip_prefix("#/components/schemas/").unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_request_names_its_directory_in_the_query_or_in_a_header() {
    let door = Door::open().await;
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().join("with space+ü");
    std::fs::create_dir(&folder).unwrap();
    let name = folder.to_str().unwrap();
    let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    let queried = door.get(&format!("/path?directory={encoded}")).await;
    assert_eq!(queried["directory"], name);

    let header = encoded.replace('+', "%20");
    let request = door
        .request(Method::GET, "/path")
        .header("x-opencode-directory", header);
    let named: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(named["directory"], name);

    let created = door
        .post(&format!("/session?directory={encoded}"), json!({}))
        .await;
    assert_eq!(created["directory"], name);
    let elsewhere = door.get("/session").await;
    let ids: Vec<_> = elsewhere
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert!(!ids.contains(&&created["id"]));
}
