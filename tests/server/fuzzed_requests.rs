//! Random bodies and queries: no route answers with an error that is not intended.

use lathe_protocol::Event;
use lathe_server::ROUTES;
use lathe_session::Answer;
use lathe_session::bus::{BusItem, Notification};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::door::Door;

/// Requests of each route.
fn cases() -> u32 {
    match std::env::var_os("LATHE_SOAK") {
        Some(_) => 1000,
        None => 8,
    }
}

fn some_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(json!("ses_../../x")),
        Just(json!("msg_1")),
        Just(json!("file:///etc/passwd")),
        Just(json!("text")),
    ];
    let key = prop_oneof![
        Just("parts".to_owned()),
        Just("messageID".to_owned()),
        Just("title".to_owned()),
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("url".to_owned()),
        Just("model".to_owned()),
        Just("command".to_owned()),
        Just("reply".to_owned()),
        Just("answers".to_owned()),
        ".{0,5}",
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// A command that is asked about would wait for ever.
fn reject_all(door: &Door) -> tokio_util::task::AbortOnDropHandle<()> {
    let sessions = door.app.sessions.clone();
    let mut events = sessions.subscribe();
    let rejecting = tokio::spawn(async move {
        while let Some(item) = events.next().await {
            if let BusItem::Notification(numbered) = item
                && let Notification::Event(event) = &numbered.notification
                && let Event::PermissionAsked(asked) = &**event
            {
                let no = Answer::Reject { message: None };
                let _ = sessions.answer_permission(&asked.id, no).await;
            }
        }
    });
    tokio_util::task::AbortOnDropHandle::new(rejecting)
}

#[tokio::test]
async fn no_route_fails_on_anything() {
    let door = Door::open().await;
    let session = door.new_session().await;
    let session = session.rsplit('/').next().unwrap();
    let _rejecting = reject_all(&door);
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let id = prop_oneof![
        Just(session.to_owned()),
        Just("ses_none".to_owned()),
        Just("per_x".to_owned()),
        Just("msg_x".to_owned()),
        "[^/?#{}]{1,12}",
    ];
    let inputs = (
        some_json(),
        id,
        ".{0,12}",
        prop::collection::vec(any::<u8>(), 0..40),
        any::<bool>(),
    );
    for route in ROUTES {
        // These wait for events, which is not what is tested here.
        if route.path.ends_with("/event") {
            continue;
        }
        for _ in 0..cases() {
            let (body, id, query, bytes, is_json) = inputs.new_tree(&mut runner).unwrap().current();
            let path: Vec<_> = route.path.split('/').collect();
            let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
            let id = id.replace('+', "%20");
            let path: Vec<_> = path
                .into_iter()
                .map(|segment| {
                    if segment.starts_with('{') {
                        &id
                    } else {
                        segment
                    }
                })
                .collect();
            let path = path.join("/");
            let method = Method::from_bytes(route.method.as_bytes()).unwrap();
            let names = ["limit", "path", "query", "search", "start", "before", "x"];
            let pairs: Vec<_> = names.iter().map(|name| (*name, query.as_str())).collect();
            let request = door.request(method, &path).query(&pairs[bytes.len() % 7..]);
            let request = if is_json {
                request.json(&body)
            } else {
                request.body(bytes)
            };
            let response = request.send().await.unwrap();
            let status = response.status();
            let text = response.text().await.unwrap();
            let intended = !status.is_server_error();
            assert!(
                intended,
                "{} {path} {query:?} {body}: {status} {text}",
                route.method
            );
            // One route answers a patch as it is.
            if status != StatusCode::NO_CONTENT && route.path != "/vcs/diff/raw" {
                serde_json::from_str::<Value>(&text).unwrap();
            }
        }
    }
}
