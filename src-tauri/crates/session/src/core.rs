//! What every part of the session core works with.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lathe_protocol::{
    Event, ModelRef, Project, ProjectId, Ruleset, Session, SessionId, SessionStatus, UserMessage,
};
use lathe_tools::{Environment, FileReads, Registry};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::agents::Agent;
use crate::error::Result;
use crate::hands::Hands;
use crate::indexing::Indexing;
use crate::instructions::Instructions;
use crate::mcp::Mcp;
use crate::mentions::Finder;
use crate::models::Models;
use crate::permission::{self, Freedom, PermissionDesk};
use crate::pictures::Pictures;
use crate::question::QuestionDesk;
use crate::queue::Queue;
use crate::records::Records;
use crate::sessions::Counted;
use crate::setup::{Setup, Setups};
use crate::share::DrawPage;
use crate::snapshots::Snapshots;
use crate::summary::Summaries;

pub struct Core {
    pub records: Records,
    pub data_dir: PathBuf,
    pub models: Arc<Models>,
    pub setups: Setups,
    pub instructions: Instructions,
    pub finder: Finder,
    pub tools: Registry,
    pub mcp: Mcp,
    pub permissions: PermissionDesk,
    pub questions: QuestionDesk,
    pub pictures: Pictures,
    pub draw_page: Option<DrawPage>,
    pub snapshots: Snapshots,
    pub summaries: Summaries,
    pub environment: Arc<Environment>,
    pub hands: Hands,
    /// Rules from the person's settings, over those of every agent.
    pub user_rules: Mutex<Ruleset>,
    /// Nothing is asked any more; off unless the person says so.
    pub allow_all: AtomicBool,
    /// The checkout of each project that was opened last: where its next session begins.
    pub opened: Mutex<HashMap<ProjectId, String>>,
    pub running: Mutex<HashMap<SessionId, Running>>,
    /// One prompt at a time per session, so that ids, files and queue have one order.
    pub prompting: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
    /// Requests for titles that go on beside turns.
    pub titling: Mutex<tokio::task::JoinSet<()>>,
    /// What went with each removed session, so that taking it back brings all of it.
    pub removed: Mutex<HashMap<SessionId, Vec<SessionId>>>,
    /// What answers cost that are finished, so that a long session is added up once.
    pub spent: Mutex<HashMap<SessionId, Counted>>,
    reads: Mutex<HashMap<SessionId, Arc<FileReads>>>,
    indexing: tokio::sync::OnceCell<Arc<Indexing>>,
}

/// A session that is being worked on in this process.
pub struct Running {
    pub cancel: CancellationToken,
    /// The session that handed this one its work.
    pub parent: Option<SessionId>,
    pub queue: Queue,
    pub status: SessionStatus,
    /// Wakes a turn that waits to try again.
    pub retry_now: Arc<Notify>,
}

impl Running {
    pub fn by_itself() -> Self {
        Running::new(CancellationToken::new(), None)
    }

    pub fn new(cancel: CancellationToken, parent: Option<SessionId>) -> Self {
        Running {
            cancel,
            parent,
            queue: Queue::default(),
            status: SessionStatus::Busy,
            retry_now: Arc::default(),
        }
    }
}

/// What is drawn for us: the core itself knows no rendering.
pub struct Drawing {
    pub pictures: Pictures,
    pub page: Option<DrawPage>,
}

impl Core {
    pub fn new(
        records: Records,
        data_dir: PathBuf,
        models: Arc<Models>,
        setups: Setups,
        tools: Registry,
        hands: Hands,
        drawing: Drawing,
    ) -> Self {
        let environment = hands.environment().clone();
        Core {
            snapshots: Snapshots::new(data_dir.clone()),
            summaries: Summaries::default(),
            mcp: Mcp::new(&data_dir, environment.clone()),
            data_dir,
            models,
            setups,
            instructions: Instructions::default(),
            allow_all: AtomicBool::new(false),
            finder: Finder::default(),
            tools,
            permissions: PermissionDesk::new(records.clone()),
            questions: QuestionDesk::new(records.clone()),
            environment,
            hands,
            pictures: drawing.pictures,
            draw_page: drawing.page,
            user_rules: Mutex::default(),
            opened: Mutex::default(),
            running: Mutex::default(),
            prompting: Mutex::default(),
            removed: Mutex::default(),
            titling: Mutex::default(),
            spent: Mutex::default(),
            reads: Mutex::default(),
            indexing: tokio::sync::OnceCell::new(),
            records,
        }
    }

    /// What holds where a session works, as the files say now.
    pub async fn setup(&self, session: &Session, project: &Project) -> Arc<Setup> {
        let (directory, worktree) = (Path::new(&session.directory), Path::new(&project.worktree));
        let setup = self.setups.of(directory, worktree).await;
        if directory == worktree {
            self.adopt(project, &setup);
        }
        setup
    }

    /// Tools and servers follow the files.
    pub fn adopt(&self, project: &Project, setup: &Setup) {
        self.hands.configure(&setup.person.settings);
        self.mcp.configure(project, &setup.person.mcp, &setup.mcp);
    }

    /// Defaults, then the agent, then the person, then their word on this agent, then the
    /// session. A project that is not trusted can only take away from that.
    pub fn rules(&self, setup: &Setup, agent: &Agent, session: &Session) -> Ruleset {
        self.rules_in(Ruleset::new(), setup, agent, session)
    }

    /// The same in a mode, whose rules count more than the person's general ones.
    pub fn rules_in(
        &self,
        mode: Ruleset,
        setup: &Setup,
        agent: &Agent,
        session: &Session,
    ) -> Ruleset {
        let freedom = Freedom {
            edits: setup.edits,
            all: self.allow_all.load(Ordering::Relaxed),
        };
        let mut rules = permission::defaults(freedom);
        rules.extend(permission::freed(&agent.rules, freedom));
        rules.extend(self.user_rules.lock().iter().cloned());
        rules.extend(setup.rules.iter().cloned());
        rules.extend(mode);
        rules.extend(agent.overrides.iter().cloned());
        rules.extend(session.permission.iter().flatten().cloned());
        let rules = permission::narrow(rules, &setup.wishes);
        permission::narrow(rules, &agent.wishes)
    }

    /// The message's own choice, else the agent's, else what is set up.
    pub async fn model_for(&self, setup: &Setup, user: &UserMessage, agent: &Agent) -> ModelRef {
        match user.model.clone().or_else(|| agent.model.clone()) {
            Some(model) => model,
            None => setup.models.default().await,
        }
    }

    pub fn reads_of(&self, session: &SessionId) -> Arc<FileReads> {
        self.reads
            .lock()
            .entry(session.clone())
            .or_default()
            .clone()
    }

    /// Opened by whoever searches first.
    pub async fn indexing(&self) -> Result<&Arc<Indexing>> {
        let open = || {
            let path = self.data_dir.join("index").join("search.db");
            Indexing::open(self.records.clone(), path)
        };
        self.indexing.get_or_try_init(open).await
    }

    pub fn status(&self, session: &SessionId) -> SessionStatus {
        self.running
            .lock()
            .get(session)
            .map_or(SessionStatus::Idle, |one| one.status.clone())
    }

    pub fn set_status(&self, session: &SessionId, status: SessionStatus) {
        if let Some(running) = self.running.lock().get_mut(session) {
            running.status = status.clone();
        }
        let session_id = session.clone();
        self.records
            .publish(Event::SessionStatus { session_id, status });
    }

    /// False when the turn was stopped while it waited.
    pub async fn wait_for_retry(
        &self,
        session: &SessionId,
        wait: Duration,
        cancel: &CancellationToken,
    ) -> bool {
        let now = self
            .running
            .lock()
            .get(session)
            .map(|one| one.retry_now.clone());
        let now = now.unwrap_or_default();
        tokio::select! {
            () = cancel.cancelled() => false,
            () = self.records.clock().sleep(wait) => true,
            () = now.notified() => true,
        }
    }
}
