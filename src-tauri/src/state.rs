//! The state of the shell that commands share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lathe_changes::Changes;
use lathe_log::Log;
use lathe_protocol::Project;
use lathe_protocol::ipc::Settings;
use lathe_render::picture::fit_for_model;
use lathe_session::{ImportControl, Options, OtherProcesses, Sessions, ToolOptions};
use parking_lot::Mutex;
use tauri::AppHandle;

use crate::bridge::Bridge;
use crate::clipboard::SystemClipboard;
use crate::draft_store::DraftStore;
use crate::recent::RecentFile;
use crate::sample;
use crate::settings::SettingsFile;
use crate::staged_attachments::StagedAttachments;

pub struct Shell {
    pub sessions: Sessions,
    pub changes: Changes,
    pub attachments: StagedAttachments,
    pub drafts: DraftStore,
    pub clipboard: SystemClipboard,
    pub bridge: Arc<Bridge>,
    pub settings: SettingsFile,
    pub recent: RecentFile,
    /// The folder that the program was started with, until the window has opened it.
    pub wanted: Mutex<Option<PathBuf>>,
    /// The import that is running.
    pub import: Mutex<Option<ImportControl>>,
    /// Dropped with the shell.
    _others: Option<OtherProcesses>,
    /// `None` if it could not be started.
    pub log: Option<Log>,
    data_dir: PathBuf,
}

impl Shell {
    pub async fn open(
        app: &AppHandle,
        data_dir: PathBuf,
        log: Option<Log>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let settings = SettingsFile::open(&data_dir);
        let recent = RecentFile::open(app, &data_dir)?;
        let mut options = Options::new(&data_dir);
        options.fit_picture = Arc::new(fit_picture);
        options.draw_page = Some(Arc::new(lathe_render::page::render_session));
        let sessions = Sessions::open(options).await?;
        if let Some(log) = &log {
            log.set_redactor(sessions.text_redactor().await);
        }
        let bridge = Arc::new(Bridge::new(sessions.clone()));
        let around = sessions.clone();
        // Finds model servers on this machine while the window opens.
        tauri::async_runtime::spawn(async move { around.models().discover_local_servers().await });
        let index = sessions.clone();
        tauri::async_runtime::spawn(async move {
            if let Err(error) = index.start_indexing().await {
                tracing::warn!(%error, "sessions cannot be searched");
            }
        });
        let others = sessions.follow_other_processes();
        let wanted = folder_argument(std::env::args().skip(1), &std::env::current_dir()?);
        let attachments = StagedAttachments::new(&data_dir);
        attachments.sweep(SystemTime::now());
        let shell = Shell {
            changes: Changes::new(sessions.clone()),
            sessions,
            attachments,
            drafts: DraftStore::new(&data_dir),
            clipboard: SystemClipboard::default(),
            bridge,
            settings,
            recent,
            wanted: Mutex::new(wanted),
            import: Mutex::default(),
            _others: others,
            log,
            data_dir,
        };
        shell.apply(&shell.settings.settings());
        Ok(shell)
    }

    /// The known projects, or the sample project if there is none.
    pub async fn first_projects(&self) -> lathe_session::Result<Vec<Project>> {
        let projects = self.sessions.projects().await?;
        if !projects.is_empty() {
            return Ok(projects);
        }
        let folder = sample::write(&self.data_dir)?;
        Ok(vec![self.sessions.open_project(&folder).await?])
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Copies of attachments that are open in other programs. Removed when the program closes.
    pub fn opened_dir(&self) -> PathBuf {
        self.data_dir.join("opened")
    }

    /// Passes to the core the settings that concern it.
    pub fn apply(&self, settings: &Settings) {
        self.sessions.set_limits(settings.limits.clone());
        let shell = Some(settings.shell.clone()).filter(|shell| !shell.trim().is_empty());
        self.sessions.set_tool_options(ToolOptions {
            shell,
            private_hosts: settings.private_hosts.clone(),
        });
    }

    pub fn close(&self) {
        end_after(EXIT_LIMIT);
        // It may not exist.
        let _ = std::fs::remove_dir_all(self.opened_dir());
        self.drafts.write();
        tauri::async_runtime::block_on(self.sessions.close());
    }
}

/// Longer than everything takes that is waited for.
const EXIT_LIMIT: Duration = Duration::from_secs(25);

/// The program ends even if something that it closes never returns, as a disk that is gone. What is
/// left open is settled at the next start.
fn end_after(limit: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(limit);
        tracing::error!("the program did not end in time");
        std::process::exit(1);
    });
}

fn fit_picture(bytes: &[u8], max_edge: u32, max_bytes: usize) -> Option<(String, Vec<u8>)> {
    let fitted = fit_for_model(bytes, max_edge, max_bytes).ok()?;
    Some((fitted.mime.to_owned(), fitted.bytes))
}

/// The first argument that is not an option, relative to the working directory.
pub fn folder_argument(
    mut args: impl Iterator<Item = String>,
    cwd: &std::path::Path,
) -> Option<PathBuf> {
    args.find(|arg| !arg.starts_with('-'))
        .map(|folder| cwd.join(folder))
}
