//! The log: what a program does and what goes wrong in it, in a file that stays small.
//!
//! Lines go through a redactor before they are written. This crate decides where, how much and
//! how lines look; it knows nothing of sessions, and the callers never log prompts, answers or
//! the content of files.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod file;
mod line;
mod panic;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry};

use file::RotatingFile;
use line::CleanLines;

pub use panic::{Fault, hold_panics, log_panics};

/// Removes secrets from a line.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

type AnyLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// What goes to the file unless `RUST_LOG` says otherwise.
const USUAL: &str = "warn,lathe=info";
const VARIABLE: &str = "RUST_LOG";

pub struct Options<'a> {
    /// The folder for log files; created if it is missing.
    pub folder: &'a Path,
    /// The program, which names its file.
    pub program: &'a str,
    /// The lines that also go to standard error.
    pub on_screen: OnScreen,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnScreen {
    /// Nothing, unless `RUST_LOG` is set.
    #[default]
    Quiet,
    /// What goes to the file.
    Usual,
    /// Details for finding a fault.
    Debug,
}

/// A running log.
#[derive(Clone)]
pub struct Log {
    path: PathBuf,
    redact: Arc<RwLock<Option<Redact>>>,
}

impl Log {
    /// Starts to log everything that this process says. Can be done once.
    pub fn start(options: &Options<'_>) -> io::Result<Log> {
        let (log, layers) = Self::prepare(options);
        let installed = tracing_subscriber::registry().with(layers).try_init();
        installed.map_err(|error: TryInitError| io::Error::other(error.to_string()))?;
        Ok(log)
    }

    fn prepare(options: &Options<'_>) -> (Log, Vec<AnyLayer>) {
        let file = RotatingFile::new(options.folder, options.program);
        let log = Log {
            path: file.path().to_owned(),
            redact: Arc::default(),
        };
        let wanted = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
        let file = CleanLines::new(file, log.redact.clone());
        let mut layers = vec![layer(file, filter(wanted.as_deref().unwrap_or(USUAL)))];
        let on_screen = match (options.on_screen, &wanted) {
            (OnScreen::Quiet, wanted) => wanted.as_deref(),
            (OnScreen::Usual, _) => Some(USUAL),
            (OnScreen::Debug, _) => Some("info,lathe=debug"),
        };
        if let Some(wanted) = on_screen {
            let screen = CleanLines::new(io::stderr(), log.redact.clone());
            layers.push(layer(screen, filter(wanted)));
        }
        (log, layers)
    }

    /// The newest file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes secrets from every line from now on.
    pub fn set_redactor(&self, redact: Redact) {
        *self.redact.write() = Some(redact);
    }
}

/// A mistake in the variable must not turn the log off.
fn filter(wanted: &str) -> Targets {
    let usual = || {
        Targets::new()
            .with_default(Level::WARN)
            .with_target("lathe", Level::INFO)
    };
    wanted.parse().unwrap_or_else(|_| usual())
}

fn layer<W>(writer: W, filter: Targets) -> AnyLayer
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(writer)
        // A line when a turn, a step or a call has ended, with how long it took.
        .with_span_events(FmtSpan::CLOSE)
        .with_filter(filter)
        .boxed()
}

#[cfg(test)]
mod tests;
