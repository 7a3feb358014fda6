//! An editor for one test: it takes note of what it is sent, and answers requests.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{
    Agent, Channel, Client, Error, on_receive_notification, on_receive_request,
};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::FakeModel;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What hangs is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Default)]
pub struct Seen {
    updates: Arc<Mutex<Vec<Value>>>,
    /// Notified after each update.
    more: Arc<Notify>,
    pub asked: Arc<Mutex<Vec<Value>>>,
}

impl Seen {
    /// The updates of this kind, oldest first.
    pub fn of_kind(&self, kind: &str) -> Vec<Value> {
        let updates = self.updates.lock();
        let found = updates.iter().filter(|one| one["sessionUpdate"] == kind);
        found.cloned().collect()
    }

    /// Waits for the first update of this kind.
    pub async fn first_of_kind(&self, kind: &str) -> Value {
        loop {
            let more = self.more.notified();
            tokio::pin!(more);
            more.as_mut().enable();
            if let Some(first) = self.of_kind(kind).into_iter().next() {
                return first;
            }
            more.await;
        }
    }

    fn push(&self, update: Value) {
        self.updates.lock().push(update);
        self.more.notify_waiters();
    }

    pub fn text(&self, kind: &str) -> String {
        let chunks = self.of_kind(kind);
        let texts = chunks
            .iter()
            .filter_map(|one| one["content"]["text"].as_str());
        texts.collect()
    }

    pub fn forget(&self) {
        self.updates.lock().clear();
    }
}

pub struct Editor {
    pub app: TestApp,
    pub model: FakeModel,
    pub seen: Seen,
    /// The option that is chosen when a permission is asked for; none is a cancelled request.
    answer: Arc<Mutex<Option<String>>>,
}

impl Editor {
    pub async fn new() -> Self {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
        Editor {
            app,
            model,
            seen: Seen::default(),
            answer: Arc::default(),
        }
    }

    pub fn answer(&self, option: &str) {
        *self.answer.lock() = Some(option.to_owned());
    }

    /// Connects, says hello and does what a person does there.
    pub async fn run<R>(
        &self,
        actions: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<R, Error>,
    ) -> R {
        let (ours, theirs) = Channel::duplex();
        let serving = tokio::spawn(lathe_acp::serve(self.app.sessions.clone(), theirs));
        let (seen, asked) = (self.seen.clone(), self.seen.asked.clone());
        let answer = self.answer.clone();
        let client = Client
            .v1()
            .on_receive_notification(
                async move |sent: acp::SessionNotification, _| {
                    seen.push(serde_json::to_value(sent.update)?);
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: acp::RequestPermissionRequest, responder, _| {
                    asked.lock().push(serde_json::to_value(&request)?);
                    let outcome = match answer.lock().clone() {
                        Some(option) => acp::RequestPermissionOutcome::Selected(
                            acp::SelectedPermissionOutcome::new(option),
                        ),
                        None => acp::RequestPermissionOutcome::Cancelled,
                    };
                    responder.respond(acp::RequestPermissionResponse::new(outcome))
                },
                on_receive_request!(),
            );
        let done = client.connect_with(ours, async |agent: ConnectionTo<Agent>| {
            let hello = acp::InitializeRequest::new(ProtocolVersion::V1);
            agent.send_request(hello).block_task().await?;
            actions(agent).await
        });
        let done = tokio::time::timeout(PATIENCE, done).await;
        serving.abort();
        done.expect("the agent answers in time").unwrap()
    }

    pub async fn new_session(&self, agent: &ConnectionTo<Agent>) -> Result<Value, Error> {
        let request = acp::NewSessionRequest::new(self.app.path("."));
        let session = agent.send_request(request).block_task().await?;
        Ok(serde_json::to_value(session)?)
    }
}

pub async fn prompt(
    agent: &ConnectionTo<Agent>,
    session: &Value,
    blocks: Vec<acp::ContentBlock>,
) -> Result<Value, Error> {
    let id = session["sessionId"].as_str().unwrap().to_owned();
    let request = acp::PromptRequest::new(id, blocks);
    let answer = agent.send_request(request).block_task().await?;
    Ok(serde_json::to_value(answer)?)
}

pub async fn say(
    agent: &ConnectionTo<Agent>,
    session: &Value,
    words: &str,
) -> Result<Value, Error> {
    prompt(agent, session, vec![acp::ContentBlock::from(words)]).await
}

pub fn ended(reason: &str) -> Value {
    json!({ "stopReason": reason })
}
