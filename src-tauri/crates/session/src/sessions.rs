//! The public handle: everything that a window or a command line does with sessions.

mod answer_requests;
mod attachments;
mod clean_up;
mod commands;
mod context_use;
mod data_use;
mod diagnostics;
mod environment;
mod fork;
mod foundation;
mod lifecycle;
mod options;
mod outline;
mod pending_revert;
mod projects;
mod providers;
mod queued_prompts;
mod read;
mod revert;
mod search;
mod send;
mod share;
mod shell_command;
mod tool_servers;
mod usage;

pub use diagnostics::RedactText;
pub use foundation::Foundation;
pub use lifecycle::title_contains;
pub use options::{Options, default_data_dir};
pub use outline::OutlineEntry;
use usage::CountedMessages;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use lathe_protocol::{Millis, SessionId};
use lathe_provider::client::ModelClient;
use lathe_provider::keys::Keys;
use lathe_records::bus::{Bus, Subscription};
use lathe_records::other_processes::OtherProcesses;
use lathe_records::{Records, Result};
use lathe_review::Review;
use lathe_review::snapshots::Snapshots;
use lathe_search::LiveIndex;
use lathe_store::{CheckReport, Health, Store};
use lathe_workspace::config;
use lathe_workspace::{Workspace, WorkspaceOptions};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};

use crate::active_sessions::ActiveSessions;
use crate::core::{Core, ToolBox};
use crate::share::DrawPage;
use crate::title::Titles;
use crate::turn::Runner;
use lathe_conversation::pictures::Pictures;
use lathe_permission::Permissions;
use lathe_permission::QuestionBroker;

/// How long the end of the program waits for turns, and then for tool servers.
const CLOSE_LIMIT: Duration = Duration::from_secs(8);

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
        let workspace = Arc::new(Workspace::new(WorkspaceOptions {
            records: records.clone(),
            data_dir: options.data_dir.clone(),
            config_home: options.config_home,
            named_config: config::named_file(options.config.as_deref()),
            client,
            keys,
            environment: options.environment.clone(),
        }));
        let output_dir = options.data_dir.join("tool-output");
        delete_old_output(output_dir.clone(), records.now());
        let permissions = Permissions::new(
            records.clone(),
            workspace.clone(),
            options.environment.clone(),
            options.data_dir.clone(),
        );
        let mut review = Review::new(records.clone(), options.data_dir.clone());
        if let Some(keep_free) = options.keep_free {
            let limits = lathe_snapshot::Options {
                keep_free,
                ..lathe_snapshot::Options::default()
            };
            review.snapshots = Snapshots::with_options(options.data_dir.clone(), limits);
        }
        let core = Arc::new(Core {
            workspace,
            review: Arc::new(review),
            active: ActiveSessions::new(records.clone(), options.before_poll),
            permissions: Arc::new(permissions),
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

    /// Publishes what other processes do with the same data, as long as the result is held.
    pub fn follow_other_processes(&self) -> Option<OtherProcesses> {
        let following = OtherProcesses::follow(self.core.records.clone());
        following
            .inspect_err(|error| tracing::warn!(%error, "other processes cannot be followed"))
            .ok()
    }

    /// The sequence number of the last notification about a session; a snapshot taken after
    /// this call includes it.
    pub fn sequence(&self, session: &SessionId) -> u64 {
        self.core.records.bus().sequence(session)
    }

    /// Counts how often a session was created, changed or removed; a list read after this call
    /// has all of them.
    pub fn session_changes(&self) -> u64 {
        self.core.records.bus().session_changes()
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

    /// Stops every turn and tool server, before the program ends. Returns in time, whatever
    /// hangs: what is left open is settled at the next start.
    pub async fn close(&self) {
        let ids = self.core.active.ids();
        let turns = join_all(ids.iter().map(|id| self.abort(id)));
        if tokio::time::timeout(CLOSE_LIMIT, turns).await.is_err() {
            tracing::error!("a turn did not end with the program");
        }
        let servers = self.core.workspace.mcp().close();
        if tokio::time::timeout(CLOSE_LIMIT, servers).await.is_err() {
            tracing::error!("a tool server did not end with the program");
        }
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
