//! The message service over gRPC, with the client that tonic generates.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lathe_contract::message::message_service_client::MessageServiceClient;
use lathe_contract::message::{
    self as proto, AbortSessionRequest, GetMessagesRequest, ModelSelection, SendMessageRequest,
    StreamEventsRequest,
};
use lathe_contract::{to_json, to_protobuf};
use lathe_server::Limits;
use lathe_test_support::fake_model::{Gate, call, hold, text};
use serde_json::{Value, json};
use tonic::metadata::MetadataValue;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};

use crate::door::{Door, PASSWORD};

const PATIENCE: Duration = Duration::from_secs(20);

type Client<F> = MessageServiceClient<InterceptedService<Channel, F>>;

async fn client_with(
    door: &Door,
    password: Option<&str>,
) -> Client<impl FnMut(Request<()>) -> Result<Request<()>, Status> + Clone> {
    let endpoint = Endpoint::from_shared(door.url("")).unwrap();
    let channel = endpoint.timeout(PATIENCE).connect().await.unwrap();
    let credentials = password.map(|password| {
        let credentials = STANDARD.encode(format!("opencode:{password}"));
        let header = format!("Basic {credentials}");
        header.parse::<MetadataValue<_>>().unwrap()
    });
    MessageServiceClient::with_interceptor(channel, move |mut request: Request<()>| {
        if let Some(credentials) = &credentials {
            let metadata = request.metadata_mut();
            metadata.insert("authorization", credentials.clone());
        }
        Ok(request)
    })
}

async fn client(
    door: &Door,
) -> Client<impl FnMut(Request<()>) -> Result<Request<()>, Status> + Clone> {
    client_with(door, Some(PASSWORD)).await
}

async fn new_session(door: &Door) -> String {
    let path = door.new_session().await;
    path.rsplit('/').next().unwrap().to_owned()
}

fn part(json: Value) -> proto::Part {
    to_protobuf("Part", &json).unwrap()
}

/// Without its field `type`, as other clients send it.
fn text_part(words: &str) -> proto::Part {
    let text = proto::TextPart {
        text: words.into(),
        ..proto::TextPart::default()
    };
    proto::Part {
        part: Some(proto::part::Part::Text(text)),
        ..proto::Part::default()
    }
}

fn prompt(session: &str, words: &str) -> SendMessageRequest {
    SendMessageRequest {
        session_id: session.into(),
        parts: vec![text_part(words)],
        ..SendMessageRequest::default()
    }
}

fn of_session(session: &str) -> GetMessagesRequest {
    GetMessagesRequest {
        session_id: session.into(),
        ..GetMessagesRequest::default()
    }
}

fn abort(session: &str) -> AbortSessionRequest {
    AbortSessionRequest {
        session_id: session.into(),
    }
}

/// The JSON of the events up to the one of this kind.
async fn until(events: &mut Streaming<proto::Event>, kind: &str) -> Vec<Value> {
    let mut seen = Vec::new();
    loop {
        let event = tokio::time::timeout(PATIENCE, events.message()).await;
        let event = event.expect("an event comes in time").unwrap();
        let event = to_json("Event", &event.expect("the stream goes on")).unwrap();
        let found = event["type"] == kind;
        seen.push(event);
        if found {
            return seen;
        }
    }
}

#[tokio::test]
async fn a_message_is_sent_and_the_messages_are_those_of_the_http_route() {
    let door = Door::open().await;
    door.model.reply([text("Hello back")]);
    let session = new_session(&door).await;
    let mut client = client(&door).await;
    let mut request = prompt(&session, "Hello");
    request.model = Some(ModelSelection {
        provider_id: "fake".into(),
        model_id: "m".into(),
        ..ModelSelection::default()
    });
    request.agent = Some("plan".into());
    client.send_message(request).await.unwrap();

    let list = client.get_messages(of_session(&session)).await.unwrap();
    let list = list.into_inner();
    let own: Vec<_> = list
        .with_parts
        .iter()
        .map(|message| to_json("MessageWithParts", message).unwrap())
        .collect();
    let http = door.get(&format!("/session/{session}/message")).await;
    assert_eq!(Value::Array(own), http);
    assert_eq!(http[0]["info"]["agent"], "plan");
    assert_eq!(http[0]["parts"][0]["text"], "Hello");
    assert_eq!(http[1]["info"]["finish"], "stop");
    assert_eq!(list.before, None);
    let infos: Vec<_> = list
        .with_parts
        .into_iter()
        .filter_map(|message| message.info)
        .collect();
    assert_eq!(list.messages, infos);
}

#[tokio::test]
async fn ids_that_the_client_chose_are_used() {
    let door = Door::open().await;
    door.model.reply([text("yes")]);
    let session = new_session(&door).await;
    let mut client = client(&door).await;
    let mut request = prompt(&session, "");
    request.parts = vec![part(json!({
        "id": "prt_chosen", "messageID": "msg_chosen", "sessionID": session,
        "type": "text", "text": "Ready?",
    }))];
    client.send_message(request).await.unwrap();
    let path = format!("/session/{session}/message/msg_chosen");
    assert_eq!(door.get(&path).await["parts"][0]["id"], "prt_chosen");
}

#[tokio::test]
async fn messages_are_paged_from_the_newest_back() {
    let door = Door::open().await;
    let session = new_session(&door).await;
    let mut client = client(&door).await;
    for word in ["one", "two"] {
        door.model.reply([text(word)]);
        client.send_message(prompt(&session, word)).await.unwrap();
    }
    let all = client.get_messages(of_session(&session)).await.unwrap();
    let all = all.into_inner().messages;
    let mut request = of_session(&session);
    request.limit = Some(3);
    let newest = client.get_messages(request.clone()).await.unwrap();
    let newest = newest.into_inner();
    assert_eq!(newest.messages, all[1..]);
    request.before = newest.before;
    let oldest = client.get_messages(request).await.unwrap().into_inner();
    assert_eq!(oldest.messages, all[..1]);
    assert_eq!(oldest.before, None);
}

#[tokio::test]
async fn an_abort_ends_the_turn_and_the_waiting_call() {
    let door = Door::open().await;
    let gate = Gate::closed();
    let asked = door.model.reply([text("beginning"), hold(&gate)]);
    let session = new_session(&door).await;
    let (mut sending, mut aborting) = (client(&door).await, client(&door).await);
    let (sent, aborted) = tokio::join!(sending.send_message(prompt(&session, "hi")), async {
        asked.asked().await;
        aborting.abort_session(abort(&session)).await
    });
    sent.unwrap();
    aborted.unwrap();
    let list = sending.get_messages(of_session(&session)).await.unwrap();
    let last = list.into_inner().messages.pop().unwrap();
    let last = to_json("Message", &last).unwrap();
    assert_eq!(last["error"]["name"], "MessageAbortedError");
}

#[tokio::test]
async fn the_stream_has_the_events_of_its_session_only() {
    let door = Door::open().await;
    let (session, other) = (new_session(&door).await, new_session(&door).await);
    let mut client = client(&door).await;
    let request = StreamEventsRequest {
        session_id: Some(session.clone()),
    };
    let mut events = client.stream_events(request).await.unwrap().into_inner();
    until(&mut events, "server.connected").await;
    door.model.reply([text("elsewhere")]);
    client.send_message(prompt(&other, "hi")).await.unwrap();
    door.model.reply([text("Hel"), text("lo")]);
    let request = prompt(&session, "hi");
    let (sent, seen) = tokio::join!(
        client.send_message(request),
        until(&mut events, "session.idle")
    );
    sent.unwrap();
    let sessions = seen.iter().map(|event| &event["properties"]["sessionID"]);
    assert!(sessions.into_iter().all(|id| *id == session), "{seen:#?}");
    let deltas = seen
        .iter()
        .filter(|event| event["type"] == "message.part.delta");
    let whole: String = deltas
        .map(|event| event["properties"]["delta"].as_str().unwrap())
        .collect();
    assert_eq!(whole, "Hello");
}

#[tokio::test]
async fn a_permission_is_asked_for_over_the_stream_of_all_events() {
    let door = Door::open().await;
    let command = json!({ "command": "touch made", "description": "d" });
    door.model.reply([call("bash", command)]);
    let session = new_session(&door).await;
    let mut client = client(&door).await;
    let request = StreamEventsRequest::default();
    let mut events = client.stream_events(request).await.unwrap().into_inner();
    let answering = async {
        let seen = until(&mut events, "permission.asked").await;
        let id = seen.last().unwrap()["properties"]["id"].clone();
        let path = format!("/permission/{}/reply", id.as_str().unwrap());
        door.post(&path, json!({ "reply": "reject" })).await
    };
    let (sent, _) = tokio::join!(client.send_message(prompt(&session, "go")), answering);
    sent.unwrap();
    assert!(!door.app.path("made").exists());
}

#[tokio::test]
async fn no_call_is_answered_without_the_password() {
    let door = Door::open().await;
    let session = new_session(&door).await;
    for password in [None, Some("wrong")] {
        let mut client = client_with(&door, password).await;
        let codes = [
            client.send_message(prompt(&session, "hi")).await.err(),
            client.get_messages(of_session(&session)).await.err(),
            client.abort_session(abort(&session)).await.err(),
            client
                .stream_events(StreamEventsRequest::default())
                .await
                .err(),
        ];
        let codes = codes.map(|error| error.map(|status| status.code()));
        assert_eq!(codes, [Some(Code::Unauthenticated); 4]);
    }
    let path = format!("/session/{session}/message");
    assert_eq!(door.get(&path).await, json!([]));
}

#[tokio::test]
async fn a_page_of_another_origin_makes_no_call_even_with_the_password() {
    let door = Door::open().await;
    let mut client = client(&door).await;
    let mut request = Request::new(StreamEventsRequest::default());
    let origin = MetadataValue::from_static("https://evil.example");
    request.metadata_mut().insert("origin", origin);
    let refused = client.stream_events(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
}

#[tokio::test]
async fn what_cannot_be_done_has_its_code() {
    let limits = Limits {
        body_bytes: 4096,
        ..Limits::default()
    };
    let door = Door::with_limits(limits).await;
    let session = new_session(&door).await;
    let mut client = client(&door).await;
    let mut odd = prompt(&session, "hi");
    odd.parts = vec![part(json!({ "type": "patch", "hash": "h", "files": [] }))];
    let mut foreign = prompt(&session, "hi");
    foreign.parts = vec![part(
        json!({ "type": "text", "text": "hi", "sessionID": "ses_other" }),
    )];
    let codes = [
        client.send_message(prompt("ses_none", "hi")).await.err(),
        client.send_message(prompt("../etc", "hi")).await.err(),
        client.send_message(odd).await.err(),
        client.send_message(foreign).await.err(),
        client
            .send_message(prompt(&session, &"x".repeat(5000)))
            .await
            .err(),
        client.get_messages(of_session("ses_none")).await.err(),
        client.abort_session(abort("ses_none")).await.err(),
    ];
    let codes = codes.map(|error| error.unwrap().code());
    let expected = [
        Code::NotFound,
        Code::InvalidArgument,
        Code::InvalidArgument,
        Code::InvalidArgument,
        Code::ResourceExhausted,
        Code::NotFound,
        Code::NotFound,
    ];
    assert_eq!(codes, expected);
}
