//! The public handle: everything that a window or a command line does with sessions.

mod answer_requests;
mod attachments;
mod clean_up;
mod commands;
mod context_use;
mod data_use;
mod environment;
mod fork;
mod lifecycle;
mod options;
mod projects;
mod queued_prompts;
mod read;
mod revert;
mod search;
mod send;
mod share;
mod tool_servers;
mod usage;

pub use lifecycle::title_contains;
pub use options::{Options, default_data_dir};
use usage::CountedMessages;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{Millis, SessionId};
use lathe_provider::client::ModelClient;
use lathe_provider::keys::Keys;
use lathe_records::bus::{Bus, Subscription};
use lathe_records::{Records, Result};
use lathe_review::Review;
use lathe_search::LiveIndex;
use lathe_store::{CheckReport, Health, Store};
use lathe_workspace::config;
use lathe_workspace::{Workspace, WorkspaceOptions};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};

use crate::active_sessions::ActiveSessions;
use crate::core::{Core, ToolBox};
use crate::permission::Permissions;
use crate::pictures::Pictures;
use crate::question::QuestionBroker;
use crate::share::DrawPage;
use crate::title::Titles;
use crate::turn::Runner;

#[derive(Clone)]
pub struct Sessions {
    core: Arc<Core>,
    runner: Runner,
    index: Arc<OnceCell<Arc<LiveIndex>>>,
    draw_page: Option<DrawPage>,
    /// The tasks that were removed with each session, so that restoring it restores them too.
    removed: Arc<Mutex<HashMap<SessionId, Vec<SessionId>>>>,
    /// The cost of finished messages, so that a long session is read once.
    counted: Arc<Mutex<HashMap<SessionId, CountedMessages>>>,
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
        delete_old_output(output_dir.clone(), records.now());
        let core = Arc::new(Core {
            workspace,
            review: Arc::new(Review::new(records.clone(), options.data_dir.clone())),
            active: ActiveSessions::new(records.clone()),
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
            counted: Arc::default(),
        };
        if options.cleans_up {
            let cleaning = sessions.clone();
            // In the background: opening does not wait for it.
            tokio::spawn(async move { cleaning.clean_up_if_due().await });
        }
        Ok(sessions)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The search index, opened on first use.
    async fn live_index(&self) -> Result<&Arc<LiveIndex>> {
        let open = || {
            let path = self.core.data_dir.join("index").join("search.db");
            LiveIndex::open(self.core.records.clone(), path)
        };
        Ok(self.index.get_or_try_init(open).await?)
    }

    pub fn subscribe(&self) -> Subscription {
        self.core.records.bus().subscribe()
    }

    /// The sequence number of the last notification about a session; a snapshot taken after
    /// this call includes it.
    pub fn sequence(&self, session: &SessionId) -> u64 {
        self.core.records.bus().sequence(session)
    }

    /// Whether the store can write.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.core.records.store().health()
    }

    /// Checks every stored file; a repair moves damaged and stray files aside.
    pub async fn check(&self, repair: bool) -> Result<CheckReport> {
        let store = self.core.records.store();
        Ok(if repair {
            store.repair().await?
        } else {
            store.check().await?
        })
    }

    /// Stops every turn and tool server, before the program ends.
    pub async fn close(&self) {
        for id in self.core.active.ids() {
            self.abort(&id).await;
        }
        self.core.workspace.mcp().close().await;
        self.kill_commands();
    }

    /// Kills the commands that the agent runs, for a program that cannot wait for its turns.
    pub fn kill_commands(&self) {
        self.core.tools.environment.processes().kill_all();
    }

    /// Waits for titles that are being requested, for a program that ends with its turn.
    pub async fn wait_for_titles(&self, patience: Duration) {
        // A title that takes longer is not worth the wait.
        let _ = tokio::time::timeout(patience, self.core.titles.wait()).await;
    }
}

/// Deletes old tool output in the background.
fn delete_old_output(folder: PathBuf, now: Millis) {
    tokio::task::spawn_blocking(move || lathe_tools::truncate::sweep(&folder, now.0));
}
