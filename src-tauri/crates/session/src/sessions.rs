//! The public handle: everything a window or a command line does with sessions.

mod clean_up;
mod commands;
mod environment;
mod fork;
mod lifecycle;
mod media;
mod prompts;
mod revert;
mod search;
mod servers;
mod share;
mod upkeep;
mod usage;
mod waiting;

pub use lifecycle::titled;
use usage::Counted;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{
    MessageId, Millis, Part, PartId, PermissionId, Project, ProjectId, QuestionId, Rule, Ruleset,
    Session, SessionId, SessionStatus, Todo,
};
use lathe_provider::catalog::Catalog;
use lathe_provider::client::{ModelClient, Timeouts};
use lathe_provider::demo::DemoPace;
use lathe_provider::keys::Keys;
use lathe_records::bus::{Bus, Subscription};
use lathe_records::clock::{Clock, SystemClock};
use lathe_records::{Failed, Records, Result};
use lathe_review::Review;
use lathe_search::LiveIndex;
use lathe_store::{CheckReport, Health, Key, Listing, Page, Store};
use lathe_tools::environment::EnvironmentSettings;
use lathe_tools::{Environment, Registry};
use lathe_workspace::config;
use lathe_workspace::mcp::Mcp;
use lathe_workspace::models::{DEMO, Models};
use lathe_workspace::tool_settings::ToolOptions;
use lathe_workspace::{Workspace, WorkspaceOptions};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};

use crate::core::{Core, ToolBox};
use crate::permission::{Answer, Permissions};
use crate::pictures::{FitPicture, Pictures};
use crate::question::QuestionBroker;
use crate::running::RunningSessions;
use crate::share::DrawPage;
use crate::title::Titles;
use crate::turn::Runner;

#[derive(Clone)]
pub struct Sessions {
    core: Arc<Core>,
    runner: Runner,
    index: Arc<OnceCell<Arc<LiveIndex>>>,
    draw_page: Option<DrawPage>,
    /// What was removed with each removed session, so that restoring brings all of it.
    removed: Arc<Mutex<HashMap<SessionId, Vec<SessionId>>>>,
    /// The cost of finished answers, so that a long session is added up once.
    spent: Arc<Mutex<HashMap<SessionId, Counted>>>,
}

pub struct Options {
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub timeouts: Timeouts,
    pub pace: DemoPace,
    pub tools: Registry,
    /// A config file that counts more than the global ones.
    pub config: Option<PathBuf>,
    /// The folder that holds the person's own `lathe/` and `opencode/`.
    pub config_home: Option<PathBuf>,
    /// Where keys come from, if not from environment, keyring and file.
    pub keys: Option<Keys>,
    /// How pictures are made to fit; without it they are sent as they are.
    pub fit_picture: FitPicture,
    /// How a session becomes a page; without it none can be shared as a file.
    pub draw_page: Option<DrawPage>,
    /// What commands run in.
    pub environment: Arc<Environment>,
    /// Whether it cleans up now and then. Whoever only looks changes nothing.
    pub cleans_up: bool,
}

impl Options {
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Options {
            data_dir: data_dir.into(),
            clock: Arc::new(SystemClock),
            timeouts: Timeouts::default(),
            pace: DemoPace::Realistic,
            tools: Registry::builtin(),
            config: None,
            config_home: config::config_home(),
            keys: None,
            fit_picture: Arc::new(as_it_is),
            draw_page: None,
            environment: Arc::new(Environment::of_user(EnvironmentSettings::default())),
            cleans_up: true,
        }
    }
}

/// For tests and tools that cannot scale pictures.
fn as_it_is(bytes: &[u8], _: u32, _: usize) -> Option<(String, Vec<u8>)> {
    let mime = lathe_protocol::media::sniff_picture(bytes)?;
    Some((mime.to_owned(), bytes.to_vec()))
}

/// Where data lives when nobody says otherwise: `LATHE_DATA_DIR`, else the platform's place.
pub fn default_data_dir() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("LATHE_DATA_DIR").filter(|dir| !dir.is_empty()) {
        return Ok(dir.into());
    }
    let dirs = directories::ProjectDirs::from("", "", "lathe");
    dirs.map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
        Failed::refused("There is no home directory to keep data in; set LATHE_DATA_DIR")
    })
}

impl Sessions {
    pub async fn open(options: Options) -> Result<Self> {
        let store = Store::open(&options.data_dir, lathe_store::Options::default()).await?;
        let client = ModelClient::new(options.timeouts, options.pace);
        let records = Records::new(store, Bus::default(), options.clock);
        let keys = options.keys.unwrap_or_else(|| Keys::new(&options.data_dir));
        let workspace = Workspace::new(WorkspaceOptions {
            records: records.clone(),
            data_dir: options.data_dir.clone(),
            config_home: options.config_home,
            named_config: config::named_file(options.config.as_deref()),
            client,
            keys,
            environment: options.environment.clone(),
        });
        let output_dir = options.data_dir.join("tool-output");
        sweep(output_dir.clone(), records.now());
        let core = Arc::new(Core {
            workspace,
            review: Arc::new(Review::new(records.clone(), options.data_dir.clone())),
            running: RunningSessions::new(records.clone()),
            permissions: Permissions::new(records.clone()),
            questions: QuestionBroker::new(records.clone()),
            tools: ToolBox::new(options.tools, options.environment, output_dir),
            pictures: Pictures::new(options.fit_picture),
            titles: Titles::default(),
            data_dir: options.data_dir,
            records,
        });
        let sessions = Sessions {
            runner: Runner::new(core.clone()),
            core,
            index: Arc::default(),
            draw_page: options.draw_page,
            removed: Arc::default(),
            spent: Arc::default(),
        };
        if options.cleans_up {
            let tidying = sessions.clone();
            // Nobody waits for it.
            tokio::spawn(async move { tidying.clean_up_if_due().await });
        }
        Ok(sessions)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The search index, opened on first use.
    async fn indexing(&self) -> Result<&Arc<LiveIndex>> {
        let open = || {
            let path = self.core.data_dir.join("index").join("search.db");
            LiveIndex::open(self.core.records.clone(), path)
        };
        Ok(self.index.get_or_try_init(open).await?)
    }

    pub fn subscribe(&self) -> Subscription {
        self.core.records.bus().subscribe()
    }

    /// The newest notice told about a session; a snapshot taken after this call holds it.
    pub fn sequence(&self, session: &SessionId) -> u64 {
        self.core.records.bus().sequence(session)
    }

    /// Whether the store can write.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.core.records.store().health()
    }

    pub async fn open_project(&self, folder: &Path) -> Result<Project> {
        let project = self.core.workspace.open(folder).await?;
        let (core, opened) = (self.core.clone(), project.clone());
        // Servers take their time to start; no caller waits for them here.
        tokio::spawn(async move {
            core.workspace.setup_of(&opened).await;
            core.workspace.mcp().start(&opened.id);
        });
        Ok(project)
    }

    /// The project of a folder. Nothing is remembered of it, and nothing is started.
    pub async fn project_at(&self, folder: &Path) -> Result<Project> {
        self.core.workspace.find(folder).await
    }

    /// Last used first, each in the checkout that was opened last.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        self.core.workspace.projects().await
    }

    pub async fn project(&self, id: &ProjectId) -> Result<Project> {
        self.core.workspace.project(id).await
    }

    /// A project's sessions, last used first. Those of its directory count too, so that a
    /// changed project id never hides history.
    pub async fn list(&self, project: &Project) -> Result<Vec<Session>> {
        let Listing { items, .. } = self.core.records.store().all_sessions().await?;
        let belongs = |session: &Session| {
            session.project_id == project.id
                || Path::new(&session.directory).starts_with(&project.worktree)
        };
        let mut sessions: Vec<_> = items.into_iter().filter(belongs).collect();
        newest_first(&mut sessions);
        Ok(sessions)
    }

    pub async fn list_all(&self) -> Result<Vec<Session>> {
        let mut sessions = self.core.records.store().all_sessions().await?.items;
        newest_first(&mut sessions);
        Ok(sessions)
    }

    pub async fn get(&self, id: &SessionId) -> Result<Session> {
        self.core.records.session(id).await
    }

    /// The newest messages before `before`, oldest first.
    pub async fn messages(
        &self,
        id: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        self.core.records.messages(id, before, limit).await
    }

    pub async fn part(
        &self,
        session: &SessionId,
        message: &MessageId,
        part: &PartId,
    ) -> Result<Option<Part>> {
        let found = self.core.records.store().part(message, part).await?;
        Ok(found.filter(|part| part.session_id() == session))
    }

    /// A part that text is streaming into, as it is now.
    pub fn streaming(&self, part: &PartId) -> Option<Part> {
        self.core.records.streaming(part)
    }

    pub async fn todos(&self, id: &SessionId) -> Result<Vec<Todo>> {
        Ok(self
            .core
            .records
            .store()
            .read(&Key::todo(id)?)
            .await?
            .unwrap_or_default())
    }

    pub fn status(&self, id: &SessionId) -> SessionStatus {
        self.core.running.status(id)
    }

    /// The status of every session that is not idle.
    pub fn statuses(&self) -> Vec<(SessionId, SessionStatus)> {
        self.core.running.statuses()
    }

    pub async fn answer_permission(&self, id: &PermissionId, answer: Answer) -> Result<()> {
        self.core.permissions.broker.reply(id, answer).await
    }

    pub async fn approved(&self, project: &ProjectId) -> Result<Ruleset> {
        self.core.permissions.broker.approved(project).await
    }

    pub async fn revoke(&self, project: &ProjectId, rule: &Rule) -> Result<()> {
        self.core.permissions.broker.revoke(project, rule).await
    }

    /// What the window's settings say of tools; it holds from the next call on.
    pub fn set_tool_options(&self, options: ToolOptions) {
        self.core.workspace.tool_settings().set(options);
    }

    pub fn set_rules(&self, rules: Ruleset) {
        self.core.permissions.set_rules(rules);
    }

    /// What is allowed while this program runs, without a question: it takes the place of a
    /// yes, so what a rule denies stays denied.
    pub fn grant(&self, rules: Ruleset) {
        self.core.permissions.broker.grant(rules);
    }

    /// Nothing is asked any more, in any project.
    pub fn set_allow_all(&self, allow: bool) {
        self.core.permissions.set_allow_all(allow);
    }

    /// No model is set up: the built-in one answers.
    pub async fn answers_with_demo(&self) -> bool {
        self.core.workspace.models().default().await.provider_id == DEMO
    }

    pub fn catalog(&self) -> Arc<Catalog> {
        self.core.workspace.models().catalog()
    }

    /// Keys, connections and what is found on this machine.
    pub fn models(&self) -> &Arc<Models> {
        self.core.workspace.models()
    }

    /// Servers that offer tools and resources.
    pub fn mcp(&self) -> &Mcp {
        self.core.workspace.mcp()
    }

    /// Looks over every stored file; a repair moves aside what is damaged or stray.
    pub async fn check(&self, repair: bool) -> Result<CheckReport> {
        let store = self.core.records.store();
        Ok(if repair {
            store.repair().await?
        } else {
            store.check().await?
        })
    }

    /// Ends every turn, so that nothing is left open when the program goes.
    pub async fn close(&self) {
        for id in self.core.running.ids() {
            self.abort(&id).await;
        }
        self.core.workspace.mcp().close().await;
        self.kill_commands();
    }

    /// Ends what the agent runs at once, for a program that cannot wait for its turns.
    pub fn kill_commands(&self) {
        self.core.tools.environment.processes().kill_all();
    }

    /// Waits for titles that are still being asked for, for a program that ends with its turn.
    pub async fn settle_titles(&self, patience: Duration) {
        // A title that takes longer is not worth the wait.
        let _ = tokio::time::timeout(patience, self.core.titles.settle()).await;
    }

    pub fn answer_question(&self, id: &QuestionId, answers: Vec<Vec<String>>) -> Result<()> {
        self.core.questions.reply(id, answers)
    }

    pub fn dismiss_question(&self, id: &QuestionId) -> Result<()> {
        self.core.questions.dismiss(id)
    }
}

/// Old tool output goes in the background: nobody waits for it.
fn sweep(folder: PathBuf, now: Millis) {
    tokio::task::spawn_blocking(move || lathe_tools::truncate::sweep(&folder, now.0));
}

fn newest_first(sessions: &mut [Session]) {
    sessions.sort_by(|a, b| {
        let newer = b.time.updated.cmp(&a.time.updated);
        newer.then_with(|| a.id.as_str().cmp(b.id.as_str()))
    });
}
