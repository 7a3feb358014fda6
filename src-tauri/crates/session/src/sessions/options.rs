//! What a program hands in when it opens the sessions.

use std::path::PathBuf;
use std::sync::Arc;

use lathe_provider::client::Timeouts;
use lathe_provider::demo::DemoPace;
use lathe_provider::keys::Keys;
use lathe_records::clock::{Clock, SystemClock};
use lathe_records::{Failed, Result};
use lathe_tools::environment::EnvironmentSettings;
use lathe_tools::{Environment, Registry};
use lathe_workspace::config;

use crate::share::DrawPage;
use crate::turn::BeforePoll;
use lathe_conversation::pictures::FitPicture;

pub struct Options {
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub timeouts: Timeouts,
    pub pace: DemoPace,
    pub tools: Registry,
    /// A config file that overrides the global ones.
    pub config: Option<PathBuf>,
    /// The folder with the person's own `lathe/` and `opencode/` folders.
    pub config_home: Option<PathBuf>,
    /// Replaces the keys of environment, keyring and file.
    pub keys: Option<Keys>,
    /// Scales pictures to a provider's limits; by default they are sent as they are.
    pub fit_picture: FitPicture,
    /// Renders a session as a page; without it no session can be shared as a file.
    pub draw_page: Option<DrawPage>,
    /// The environment that commands run in.
    pub environment: Arc<Environment>,
    /// Whether old data is cleaned up once a day; off for a program that only reads.
    pub cleans_up: bool,
    /// Bytes that must stay free on the disk when a snapshot is taken; by default what the
    /// environment says.
    pub keep_free: Option<u64>,
    /// Called before the work of a turn is continued, for tests that let it fail there.
    pub before_poll: Option<BeforePoll>,
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
            fit_picture: Arc::new(unscaled),
            draw_page: None,
            environment: Arc::new(Environment::of_user(EnvironmentSettings::default())),
            cleans_up: true,
            keep_free: None,
            before_poll: None,
        }
    }
}

/// For tests and tools that cannot scale pictures.
fn unscaled(bytes: &[u8], _: u32, _: usize) -> Option<(String, Vec<u8>)> {
    let mime = lathe_protocol::media::sniff_picture(bytes)?;
    Some((mime.to_owned(), bytes.to_vec()))
}

/// The default data directory: `LATHE_DATA_DIR`, else the platform's.
pub fn default_data_dir() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("LATHE_DATA_DIR").filter(|dir| !dir.is_empty()) {
        return Ok(dir.into());
    }
    let dirs = directories::ProjectDirs::from("", "", "lathe");
    dirs.map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
        Failed::refused("There is no home directory to keep data in; set LATHE_DATA_DIR")
    })
}
