//! Databases of OpenCode 2.0: sessions in `session_v2` and `session_message`.

use lathe_protocol::{Message, Part, SessionId};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::TestStore;

const SCHEMA: &str = "
    CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
        fork_session_id text, slug text NOT NULL, directory text NOT NULL, title text,
        version text NOT NULL, permission text, time_created integer NOT NULL,
        time_updated integer NOT NULL, time_archived integer);
    CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL,
        seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
        data text NOT NULL);";
const TIME: i64 = 1_790_000_000_000;

fn add_session(database: &Connection, id: &str, parent: Option<&str>, fork: Option<&str>) {
    let sql = "INSERT INTO session_v2 VALUES (?1, 'p', ?2, ?3, 's', '/home/user/fern-shop', ?1,
               '2.0.3', '[]', ?4, ?4, NULL)";
    database.execute(sql, (id, parent, fork, TIME)).unwrap();
}

fn add_message(database: &Connection, session: &str, seq: i64, kind: &str, data: &str) {
    let sql = "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
    let id = format!("msg_{session}{seq}");
    database
        .execute(sql, (id, session, kind, seq, TIME + seq, data))
        .unwrap();
}

fn answer() -> Value {
    json!({
        "model": { "id": "opus", "providerID": "anthropic" },
        "content": [
            { "type": "reasoning", "text": "Hm" },
            { "type": "text", "text": "I count." },
            { "type": "tool", "id": "1", "name": "bash", "state": {
                "status": "completed", "input": { "command": "ls" },
                "content": [{ "type": "text", "text": "7" }], "structured": { "exit": 0 } } },
            { "type": "tool", "id": "2", "name": "read", "state": {
                "status": "error", "input": {}, "error": { "message": "no" } } },
            { "type": "tool", "id": "3", "name": "read", "state": {
                "status": "pending", "input": "{}" } },
        ],
        "cost": 0.5,
        "tokens": { "input": 1, "output": 2, "reasoning": 3, "cache": { "read": 4, "write": 5 } },
    })
}

#[tokio::test]
async fn sessions_that_were_born_in_2_0_are_imported_whole() {
    let folder = tempfile::tempdir().unwrap();
    let database = Connection::open(folder.path().join("opencode.db")).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    add_session(&database, "ses_main", None, None);
    add_session(&database, "ses_child", Some("ses_main"), None);
    add_session(&database, "ses_fork", None, Some("ses_main"));
    let file = json!({ "uri": "data:image/png;base64,aGk=", "mime": "image/png" });
    let rows = [
        ("user", json!({ "text": "Count ferns", "files": [file] })),
        ("system", json!({ "text": "x" })),
        ("assistant", answer()),
        ("shell", json!({ "command": "make", "output": "ok" })),
        (
            "compaction",
            json!({ "reason": "manual", "summary": "Seven" }),
        ),
        ("unheard-of", json!({})),
    ];
    for (seq, (kind, data)) in rows.iter().enumerate() {
        add_message(&database, "ses_main", seq as i64, kind, &data.to_string());
    }
    add_message(&database, "ses_main", 50, "user", "{damaged");
    let blob =
        "INSERT INTO session_message VALUES ('msg_b', 'ses_main', 'user', 51, 1, 1, x'7B7D')";
    database.execute(blob, ()).unwrap();
    for id in ["ses_child", "ses_fork"] {
        add_message(&database, id, 1, "user", "{\"text\":\"Hello\"}");
    }
    drop(database);

    let test = TestStore::new().await;
    let imported = test.store.import_from(folder.path()).await.unwrap();
    assert_eq!((imported.added.len(), imported.messages), (3, 8));
    let left_out: Vec<_> = imported
        .left_out
        .iter()
        .map(|one| (one.what.as_str(), one.count))
        .collect();
    assert_eq!(left_out, [("system", 1), ("unheard-of", 1), ("user", 2)]);
    assert_eq!(imported.unreadable, []);
    let by = |id: &str| imported.added.iter().find(|one| one.id.as_str() == id);
    let main = SessionId::parse("ses_main").unwrap();
    assert_eq!(by("ses_child").unwrap().parent_id, Some(main.clone()));
    let fork = by("ses_fork").unwrap().forked_from.clone().unwrap();
    assert_eq!(fork.session_id, main);

    let page = test.store.messages(&main, None, 100).await.unwrap();
    let parts = page.messages.iter().flat_map(|message| &message.parts);
    let calls: Vec<_> = parts
        .filter_map(|part| match part {
            Part::Tool(call) => Some((call.tool.as_str(), call.state().name())),
            _ => None,
        })
        .collect();
    let expected = [
        ("bash", "completed"),
        ("read", "error"),
        ("read", "error"),
        ("bash", "completed"),
    ];
    assert_eq!(calls, expected);
    let answers = page
        .messages
        .iter()
        .filter_map(|one| one.info.as_assistant());
    let costs: Vec<_> = answers
        .map(|answer| (answer.cost, answer.tokens.context(), answer.summary))
        .collect();
    assert_eq!(
        costs,
        [(0.5, 12, None), (0.0, 0, None), (0.0, 0, Some(true))]
    );
    assert!(matches!(page.messages[0].info, Message::User(_)));

    let again = test.store.import_from(folder.path()).await.unwrap();
    assert_eq!((again.added.len(), again.already), (0, 3));
}
