//! Data of early versions, which had other formats, is imported like any other.

use lathe_protocol::{Message, MessageId, SessionId};
use lathe_store::Key;
use serde_json::{Value, json};

use crate::import::{import_fixture, part_types};
use crate::support::*;

const SESSION: &str = "ses_46275e2c0ffeImportedAllPar";

fn exported() -> Value {
    serde_json::from_str(&import_fixture("exported.json")).unwrap()
}

async fn import(test: &TestStore, bytes: &[u8]) -> lathe_store::Imported {
    let file = test.root().join("session.json");
    std::fs::write(&file, bytes).unwrap();
    test.store.import_from(&file).await.unwrap()
}

fn parent_of(info: &Message) -> &MessageId {
    &info.as_assistant().unwrap().parent_id
}

/// Imports a session whose answers do not name their prompt, as in the oldest versions.
async fn import_without_parents(test: &TestStore) -> SessionId {
    let mut document = exported();
    let [prompt, answer] = [0, 1].map(|at| document["messages"][at].clone());
    let times = ["01", "02", "03", "04", "05"];
    let messages = times.iter().enumerate().map(|(at, number)| {
        let mut message = if at % 3 == 0 { &prompt } else { &answer }.clone();
        message["info"]["id"] = json!(format!("msg_b98e55c9d0{number}oldest"));
        message["info"]["time"]["created"] = json!(1_767_806_134_000_i64 + at as i64);
        message["parts"] = json!([]);
        message["info"].as_object_mut().unwrap().remove("parentID");
        message
    });
    document["messages"] = messages.collect();
    let imported = import(test, document.to_string().as_bytes()).await;
    assert_eq!(imported.unreadable, []);
    imported.added[0].id.clone()
}

#[tokio::test]
async fn an_answer_without_a_parent_belongs_to_the_prompt_before_it() {
    let test = TestStore::new().await;
    let id = import_without_parents(&test).await;
    let prompts = [1, 4].map(|at| format!("msg_b98e55c9d00{at}oldest"));
    let [first, second] = prompts.map(|id| MessageId::parse(&id).unwrap());
    for limit in 1..=5 {
        let page = test.store.messages(&id, None, limit).await.unwrap();
        let answers = page.messages.iter().map(|one| &one.info);
        for answer in answers.filter(|info| info.as_assistant().is_some()) {
            let is_early = answer.id().as_str() < second.as_str();
            let prompt = if is_early { &first } else { &second };
            assert_eq!(parent_of(answer), prompt, "{} of {limit}", answer.id());
        }
    }
    let third = MessageId::parse("msg_b98e55c9d003oldest").unwrap();
    let alone = test.store.message_info(&id, &third).await.unwrap();
    assert_eq!(parent_of(&alone.unwrap()), &first);
    let whole = test.store.message(&id, &third).await.unwrap().unwrap();
    assert_eq!(parent_of(&whole.info), &first);
}

#[tokio::test]
async fn sessions_outside_of_projects_keep_their_directories() {
    let source = tempfile::tempdir().unwrap();
    let storage = source.path().join("project/global/storage/session");
    let write = |name: &str, value: Value| {
        let path = storage.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    let sessions = ["ses_46275e2c1ffeFirst", "ses_46275e2c2ffeSecond"];
    for (at, id) in sessions.iter().enumerate() {
        let time = json!({ "created": 1, "updated": 1 });
        let session = json!({ "id": id, "title": "Old", "version": "0.5.29", "time": time });
        write(&format!("info/{id}.json"), session);
        let folder = format!("/home/user/{at}");
        let answer = json!({
            "id": format!("msg_b98e55c9d001{at}"), "sessionID": id, "role": "assistant",
            "time": { "created": 2 }, "modelID": "m", "providerID": "p",
            "path": { "cwd": folder, "root": folder },
        });
        write(&format!("message/{id}/msg_b98e55c9d001{at}.json"), answer);
    }

    let test = TestStore::new().await;
    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!(imported.unreadable, []);
    let added = imported.added.iter();
    let folders: Vec<_> = added.map(|session| session.directory.as_str()).collect();
    assert_eq!(folders, ["/home/user/0", "/home/user/1"]);
    assert_eq!(test.store.projects().await.unwrap().items, []);
}

#[tokio::test]
async fn a_session_without_a_directory_takes_it_from_its_answers() {
    let test = TestStore::new().await;
    let mut document = exported();
    document["info"]
        .as_object_mut()
        .unwrap()
        .remove("directory");
    let imported = import(&test, document.to_string().as_bytes()).await;
    let expected = &document["messages"][1]["info"]["path"]["root"];
    assert_eq!(json!(imported.added[0].directory), *expected);
}

#[tokio::test]
async fn messages_of_the_first_version_are_imported_with_their_parts() {
    const ID: &str = "ses_46275e2c3ffeFirst";
    let source = tempfile::tempdir().unwrap();
    let storage = source.path().join("project/home-user-app/storage/session");
    let write = |name: &str, value: Value| {
        let path = storage.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    let time = json!({ "created": 1, "updated": 1 });
    let session = json!({ "id": ID, "title": "Old", "version": "0.1.174", "time": time });
    write(&format!("info/{ID}.json"), session);
    let prompt = json!({
        "id": "msg_b98e55c9d001", "role": "user",
        "metadata": { "time": { "created": 1 }, "sessionID": ID, "tool": {} },
        "parts": [
            { "type": "text", "text": "look" },
            { "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA==" },
        ],
    });
    write(&format!("message/{ID}/msg_b98e55c9d001.json"), prompt);
    let called = |state: &str, id: &str| {
        let call = json!({
            "state": state, "toolCallId": id, "toolName": "read", "args": { "filePath": "a" },
        });
        json!({ "type": "tool-invocation", "toolInvocation": call })
    };
    let mut done = called("result", "call_1");
    done["toolInvocation"]["result"] = json!("content");
    let tool = json!({ "call_1": {
        "title": "a", "time": { "start": 2, "end": 3 }, "preview": "c",
    } });
    let answer = json!({
        "id": "msg_b98e55c9d002", "role": "assistant",
        "metadata": {
            "time": { "created": 2, "completed": 4 }, "sessionID": ID, "tool": tool,
            "assistant": {
                "modelID": "m", "providerID": "p", "cost": 0.5, "system": [],
                "path": { "cwd": "/home/user/app", "root": "/home/user/app" },
                "tokens": { "input": 1, "output": 2, "reasoning": 0 },
            },
        },
        "parts": [
            { "type": "step-start" }, { "type": "reasoning", "text": "hm" },
            done, called("call", "call_2"), { "type": "text", "text": "done" },
        ],
    });
    write(&format!("message/{ID}/msg_b98e55c9d002.json"), answer);

    let test = TestStore::new().await;
    let imported = test.store.import_from(source.path()).await.unwrap();
    assert_eq!(imported.unreadable, []);
    assert_eq!(imported.added[0].directory, "/home/user/app");
    assert_eq!(
        part_types(&test, ID).await,
        [
            vec!["text", "file"],
            vec!["step-start", "reasoning", "tool", "tool", "text"]
        ]
    );
    let page = test.store.messages(&imported.added[0].id, None, 9).await;
    let page = serde_json::to_value(page.unwrap().messages).unwrap();
    let info = &page[1]["info"];
    assert_eq!(
        (&info["parentID"], &info["modelID"], &info["cost"]),
        (&json!("msg_b98e55c9d001"), &json!("m"), &json!(0.5))
    );
    let states: Vec<_> = [2, 3]
        .map(|at| page[1]["parts"][at]["state"].clone())
        .into();
    assert_eq!(
        states,
        [
            json!({
                "status": "completed", "input": { "filePath": "a" }, "output": "content",
                "title": "a", "metadata": { "preview": "c" }, "time": { "start": 2, "end": 3 },
            }),
            json!({
                "status": "error", "input": { "filePath": "a" },
                "error": "Tool execution aborted", "metadata": {},
                "time": { "start": 0, "end": 0 },
            }),
        ]
    );
}

#[tokio::test]
async fn diffs_inside_an_exported_session_get_their_own_record() {
    let test = TestStore::new().await;
    let mut document = exported();
    let diff = json!({
        "file": "a.txt", "before": "1\n", "after": "2\n", "additions": 1, "deletions": 1,
    });
    document["info"]["summary"] = json!({ "diffs": [diff] });
    document["diff"] = Value::Null;
    let imported = import(&test, document.to_string().as_bytes()).await;
    assert_eq!(imported.unreadable, []);
    let summary = serde_json::to_value(&imported.added[0].summary).unwrap();
    assert_eq!(
        summary,
        json!({ "additions": 1, "deletions": 1, "files": 1 })
    );
    let key = Key::session_diff(&SessionId::parse(SESSION).unwrap()).unwrap();
    let diffs: Option<Value> = test.store.read(&key).await.unwrap();
    assert_eq!(diffs, Some(json!([diff])));
}

#[tokio::test]
async fn a_missing_number_is_zero() {
    let test = TestStore::new().await;
    let mut document = exported();
    let answer = &mut document["messages"][1]["info"];
    answer["cost"] = Value::Null;
    answer["tokens"]["cache"] = Value::Null;
    let imported = import(&test, document.to_string().as_bytes()).await;
    assert_eq!(imported.unreadable, []);
    let page = test.store.messages(&imported.added[0].id, None, 9).await;
    let page = page.unwrap();
    let answer = page.messages[1].info.as_assistant().unwrap();
    assert_eq!((answer.cost, answer.tokens.cache.read.0), (0.0, 0));
}

#[tokio::test]
async fn a_session_that_was_redirected_to_a_file_by_a_windows_shell_is_read() {
    let text = exported().to_string();
    let units = || std::iter::once('\u{feff}').chain(text.chars());
    let utf16: Vec<u16> = units().collect::<String>().encode_utf16().collect();
    let marked = units().collect::<String>().into_bytes();
    let little = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big = utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    for bytes in [marked, little, big] {
        let test = TestStore::new().await;
        let imported = import(&test, &bytes).await;
        assert_eq!((imported.added.len(), imported.unreadable), (1, vec![]));
    }
}
