//! The session core for tests: a temporary project and a temporary store, no window.

#![allow(clippy::expect_used, reason = "test support: to stop is to report")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::ipc::{PromptInput, TrustView};
use lathe_protocol::{
    Action, CallOutcome, Event, MessageId, MessageWithParts, Millis, Part, PermissionMode,
    PermissionRequest, Project, QuestionRequest, Rule, Session, SessionId, ToolPart, ToolState,
};
use lathe_provider::WireKind;
use lathe_provider::keys::{Keyring, KeyringError};
use lathe_session::bus::{BusItem, Notification, Subscription};
use lathe_session::clock::ManualClock;
use lathe_session::models::{ApiKey, Keys};
use lathe_session::{DemoPace, Options, Sessions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_model::FakeModel;

const CONFIG: &str = "config.json";
const CONFIG_HOME: &str = "config-home";

/// Must never be seen outside a request's headers.
pub const CANARY_KEY: &str = "sk-canary-4f9d2c7b8a61";

/// A moment some time before the ids wrapped.
pub const BEFORE_WRAP: Millis = Millis(1_767_806_134_140);

pub struct TestApp {
    pub sessions: Sessions,
    pub project: Project,
    pub session: Session,
    pub clock: ManualClock,
    data: TempDir,
    folder: TempDir,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_at(BEFORE_WRAP).await
    }

    pub async fn start_at(now: Millis) -> Self {
        Self::configured(now, json!({ "model": "demo/demo" })).await
    }

    /// Answered by a fake model server over one of its wires.
    pub async fn with_model(model: &FakeModel, wire: WireKind) -> Self {
        Self::with_config(model, wire, json!({})).await
    }

    /// In a folder that git knows.
    pub async fn with_git(model: &FakeModel, wire: WireKind) -> Self {
        let mut app = Self::with_model(model, wire).await;
        std::fs::create_dir(app.path(".git")).expect("a repository");
        let project = app.sessions.open_project(app.folder.path()).await;
        app.project = project.expect("the project opens");
        app
    }

    /// With this timeout for a silent model.
    pub async fn with_patience(model: &FakeModel, wire: WireKind, patience: Duration) -> Self {
        let mut config = config_for(model, wire);
        config["provider"]["fake"]["options"]["timeout"] = json!(patience.as_millis() as u64);
        Self::configured(BEFORE_WRAP, config).await
    }

    /// The same, with more in its config.
    pub async fn with_config(model: &FakeModel, wire: WireKind, more: Value) -> Self {
        let mut config = config_for(model, wire);
        merge(&mut config, more);
        Self::configured(BEFORE_WRAP, config).await
    }

    /// Changes the config; the next start reads it.
    pub fn configure(&self, more: Value) {
        let path = self.data.path().join(CONFIG);
        let text = std::fs::read_to_string(&path).expect("there is a config");
        let mut config = serde_json::from_str(&text).expect("the config is JSON");
        merge(&mut config, more);
        std::fs::write(path, config.to_string()).expect("the config is written");
    }

    async fn configured(now: Millis, config: Value) -> Self {
        let data = tempfile::tempdir().expect("a data directory");
        let folder = tempfile::tempdir().expect("a project");
        std::fs::write(data.path().join(CONFIG), config.to_string()).expect("a config");
        let clock = ManualClock::at(now);
        let sessions = open(data.path(), &clock).await;
        let project = sessions
            .open_project(folder.path())
            .await
            .expect("the project opens");
        let session = sessions.create(&project, None).await.expect("a session");
        TestApp {
            sessions,
            project,
            session,
            clock,
            data,
            folder,
        }
    }

    /// Writes a file of the project.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(folder).expect("the folder is made");
        std::fs::write(path, content).expect("the file is written");
    }

    /// A file of the person's own config, such as `lathe/lathe.json`.
    pub fn config(&self, name: &str) -> PathBuf {
        self.data.path().join(CONFIG_HOME).join(name)
    }

    pub fn write_config(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.config(name);
        let folder = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(folder).expect("the folder is made");
        std::fs::write(path, content).expect("the config is written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    /// Trusts the project as it is shown now.
    pub async fn trust(&self) -> TrustView {
        let shown = self.sessions.trust(&self.project).await;
        let hash = shown.expect("the files can be looked at").hash;
        let trusted = self.sessions.set_trust(&self.project, Some(&hash)).await;
        trusted.expect("nothing has changed")
    }

    /// Adds a permission rule of the person.
    pub fn rule(self, permission: &str, pattern: &str, action: Action) -> Self {
        let (permission, pattern) = (permission.to_owned(), pattern.to_owned());
        self.sessions.set_rules(vec![Rule {
            permission,
            pattern,
            action,
        }]);
        self
    }

    pub async fn set_mode(&self, mode: PermissionMode) {
        self.sessions
            .set_mode(&self.project, mode)
            .await
            .expect("the mode is set");
    }

    /// The next request for a permission.
    pub async fn next_permission(&self, events: &mut Subscription) -> PermissionRequest {
        let published = until(events, |event| matches!(event, Event::PermissionAsked(_))).await;
        match published.last() {
            Some(Notification::Event(event)) => match &**event {
                Event::PermissionAsked(request) => request.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// The next question of the agent.
    pub async fn next_question(&self, events: &mut Subscription) -> QuestionRequest {
        let published = until(events, |event| matches!(event, Event::QuestionAsked(_))).await;
        match published.last() {
            Some(Notification::Event(event)) => match &**event {
                Event::QuestionAsked(request) => request.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// The tool calls so far, as `tool: state`.
    pub async fn calls(&self) -> Vec<String> {
        self.calls_of(&self.session.id).await
    }

    pub async fn calls_of(&self, session: &SessionId) -> Vec<String> {
        let calls = self.tool_calls(session).await.into_iter();
        calls
            .map(|call| format!("{}: {}", call.tool, call.state().name()))
            .collect()
    }

    /// The same, with what became of calls that did not fail by themselves.
    pub async fn outcomes(&self) -> Vec<String> {
        let calls = self.tool_calls(&self.session.id).await.into_iter();
        calls
            .map(|call| {
                let outcome = match call.state() {
                    ToolState::Error(state) => state.metadata.as_ref(),
                    _ => None,
                };
                let outcome = outcome.and_then(|metadata| metadata.get(CallOutcome::KEY));
                let outcome = outcome.and_then(|outcome| outcome.as_str());
                let state = outcome.unwrap_or(call.state().name());
                format!("{}: {state}", call.tool)
            })
            .collect()
    }

    async fn tool_calls(&self, session: &SessionId) -> Vec<ToolPart> {
        let page = self.sessions.messages(session, None, usize::MAX).await;
        let parts = page
            .expect("the messages load")
            .messages
            .into_iter()
            .flat_map(|one| one.parts);
        parts
            .filter_map(|part| match part {
                Part::Tool(call) => Some(call),
                _ => None,
            })
            .collect()
    }

    /// The tasks of the session.
    pub async fn children(&self) -> Vec<Session> {
        self.sessions
            .children(&self.session.id)
            .await
            .expect("the tasks load")
    }

    /// The same data after a restart of the program.
    pub async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    /// The same with other options.
    pub async fn restart_with(self, edit: impl FnOnce(&mut Options)) -> Self {
        let TestApp {
            project,
            session,
            clock,
            data,
            folder,
            sessions,
        } = self;
        drop(sessions);
        let mut options = options(data.path(), &clock);
        edit(&mut options);
        let sessions = Sessions::open(options).await.expect("the store opens");
        TestApp {
            sessions,
            project,
            session,
            clock,
            data,
            folder,
        }
    }

    /// Another process on the same data.
    pub async fn second_process(&self) -> Sessions {
        open(self.data.path(), &self.clock).await
    }

    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends a prompt and waits until the session has nothing left to do.
    pub async fn ask(&self, text: &str) -> MessageId {
        let mut events = self.sessions.subscribe();
        let id = self.send(text).await;
        until_idle(&mut events, &self.session.id).await;
        id
    }

    /// The same with everything a prompt can carry.
    pub async fn ask_with(&self, input: PromptInput) -> MessageId {
        let mut events = self.sessions.subscribe();
        let id = self.sessions.prompt(&self.session.id, input).await;
        let id = id.expect("the prompt is taken");
        until_idle(&mut events, &self.session.id).await;
        id
    }

    pub async fn send(&self, text: &str) -> MessageId {
        let input = PromptInput {
            text: text.into(),
            discard_reverted: true,
            ..PromptInput::default()
        };
        self.sessions
            .prompt(&self.session.id, input)
            .await
            .expect("the prompt is taken")
    }

    /// The same to this agent.
    pub async fn ask_as(&self, agent: &str, text: &str) -> MessageId {
        let mut events = self.sessions.subscribe();
        let id = self.send_as(agent, text).await;
        until_idle(&mut events, &self.session.id).await;
        id
    }

    pub async fn send_as(&self, agent: &str, text: &str) -> MessageId {
        let input = PromptInput {
            text: text.into(),
            agent: Some(agent.into()),
            ..PromptInput::default()
        };
        let sent = self.sessions.prompt(&self.session.id, input).await;
        sent.expect("the prompt is taken")
    }

    pub async fn messages(&self) -> Vec<MessageWithParts> {
        let page = self
            .sessions
            .messages(&self.session.id, None, usize::MAX)
            .await;
        page.expect("the messages load").messages
    }

    /// The messages as `user: text`, `assistant: step-start reasoning text step-finish`.
    pub async fn outline(&self) -> Vec<String> {
        self.messages().await.iter().map(outline).collect()
    }
}

fn merge(config: &mut Value, more: Value) {
    match (config, more) {
        (Value::Object(config), Value::Object(more)) => {
            for (key, value) in more {
                merge(config.entry(key).or_insert(Value::Null), value);
            }
        }
        (config, more) => *config = more,
    }
}

fn config_for(model: &FakeModel, wire: WireKind) -> Value {
    json!({
        "provider": { "fake": {
            "wire": wire,
            "options": { "baseURL": model.base_url(wire), "apiKey": CANARY_KEY },
            "models": { "m2": {}, "m": {
                "limit": { "context": 200_000, "output": 8_000 },
                "cost": { "input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75 },
                "reasoning": true,
            } },
        } },
        "model": "fake/m",
    })
}

async fn open(data: &Path, clock: &ManualClock) -> Sessions {
    let options = options(data, clock);
    Sessions::open(options).await.expect("the store opens")
}

fn options(data: &Path, clock: &ManualClock) -> Options {
    let mut options = Options::new(data);
    // Selects the model independently of the developer's own config.
    options.config = Some(data.join(CONFIG));
    options.config_home = Some(data.join(CONFIG_HOME));
    options.pace = DemoPace::Instant;
    options.draw_page = Some(Arc::new(|session| {
        serde_json::to_string(session).expect("a session is JSON")
    }));
    options.clock = Arc::new(clock.clone());
    // The developer's own keys must not change the result of a test.
    let no_variables = Box::new(|_: &str| None);
    options.keys = Some(Keys::with(
        data,
        no_variables,
        Arc::new(NoKeyring),
        Duration::ZERO,
    ));
    options
}

struct NoKeyring;

impl Keyring for NoKeyring {
    fn read(&self, _: &str) -> Result<Option<ApiKey>, KeyringError> {
        Ok(None)
    }

    fn write(&self, _: &str, _: &ApiKey) -> Result<(), KeyringError> {
        Err(KeyringError::Absent("this is a test".into()))
    }

    fn remove(&self, _: &str) -> Result<(), KeyringError> {
        Ok(())
    }
}

fn outline(message: &MessageWithParts) -> String {
    let role = if message.info.as_user().is_some() {
        "user"
    } else {
        "assistant"
    };
    let kinds: Vec<_> = message.parts.iter().map(kind).collect();
    format!("{role}: {}", kinds.join(" "))
}

/// The part's type as it is stored.
pub fn kind(part: &Part) -> String {
    let value = serde_json::to_value(part).expect("a part is JSON");
    value["type"].as_str().unwrap_or("?").to_owned()
}

pub async fn until_idle(events: &mut Subscription, session: &SessionId) {
    until(
        events,
        |event| matches!(event, Event::SessionIdle { session_id } if session_id == session),
    )
    .await;
}

/// Everything published up to and including the first event that matches.
pub async fn until(
    events: &mut Subscription,
    wanted: impl Fn(&Event) -> bool,
) -> Vec<Notification> {
    let mut published = Vec::new();
    loop {
        match events.next().await.expect("the program is running") {
            BusItem::Missed => panic!("the test fell behind"),
            BusItem::Notification(notice) => {
                let found =
                    matches!(&notice.notification, Notification::Event(event) if wanted(event));
                published.push(notice.notification);
                if found {
                    return published;
                }
            }
        }
    }
}
