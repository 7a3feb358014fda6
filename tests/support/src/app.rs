//! The session core as a test drives it: a temporary project, a temporary store, no window.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Event, MessageId, MessageWithParts, Millis, Part, Project, Session, SessionId,
};
use lathe_session::bus::{Heard, Subscription, Told};
use lathe_session::clock::ManualClock;
use lathe_session::{DemoPace, Options, Sessions};
use tempfile::TempDir;

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
        let data = tempfile::tempdir().expect("a data directory");
        let folder = tempfile::tempdir().expect("a project");
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

    /// The same data after the program ended and began again.
    pub async fn restart(self) -> Self {
        let TestApp {
            project,
            session,
            clock,
            data,
            folder,
            sessions,
        } = self;
        drop(sessions);
        let sessions = open(data.path(), &clock).await;
        TestApp {
            sessions,
            project,
            session,
            clock,
            data,
            folder,
        }
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

    pub async fn send(&self, text: &str) -> MessageId {
        let input = PromptInput {
            text: text.into(),
            ..PromptInput::default()
        };
        self.sessions
            .prompt(&self.session.id, input)
            .await
            .expect("the prompt is taken")
    }

    pub async fn messages(&self) -> Vec<MessageWithParts> {
        let page = self
            .sessions
            .messages(&self.session.id, None, usize::MAX)
            .await;
        page.expect("the messages load").messages
    }

    /// Who said what: `user: text`, `assistant: step-start reasoning text step-finish`.
    pub async fn outline(&self) -> Vec<String> {
        self.messages().await.iter().map(outline).collect()
    }
}

async fn open(data: &Path, clock: &ManualClock) -> Sessions {
    let mut options = Options::new(data);
    options.pace = DemoPace::Instant;
    options.clock = Arc::new(clock.clone());
    Sessions::open(options).await.expect("the store opens")
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

/// Everything told up to and including the first event that is wanted.
pub async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Vec<Told> {
    let mut told = Vec::new();
    loop {
        match events.next().await.expect("the program is running") {
            Heard::Missed => panic!("the test fell behind"),
            Heard::Notice(notice) => {
                let found = matches!(&notice.told, Told::Event(event) if wanted(event));
                told.push(notice.told);
                if found {
                    return told;
                }
            }
        }
    }
}
