//! The log of the window, and what it does about a fault.

use std::path::Path;

use lathe_log::{Log, OnScreen, Options};
use tauri::{AppHandle, Emitter};

use crate::window::MAIN;

/// The event that carries the message of a panic.
const FAULT: &str = "fault";

/// A program that cannot write its log works without one.
pub fn start(data_dir: &Path) -> Option<Log> {
    let started = Log::start(&Options {
        folder: &data_dir.join("logs"),
        program: "lathe",
        on_screen: OnScreen::Quiet,
    });
    let log = started.ok()?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "the program starts");
    Some(log)
}

/// Logs every panic and reports it to the page, which can offer to load itself again.
pub fn report_faults(app: &AppHandle) {
    let app = app.clone();
    lathe_log::log_panics(move |fault| {
        // A page that is not there yet has lost nothing.
        let _ = app.emit_to(MAIN, FAULT, &fault.message);
    });
}
