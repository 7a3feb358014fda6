//! `lathectl` as people and scripts call it: the built binary, real processes, a fake model.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod commands;
mod concurrent_processes;
mod config_errors;
mod crash_recovery;
mod disk_faults;
mod exit_and_signals;
mod fork_and_revert;
mod hostile_input;
mod import;
mod large_history;
mod lathectl;
mod log;
#[cfg(unix)]
mod modes;
#[cfg(unix)]
mod permission_prompts;
mod real_model;
mod run_output;
mod services;
mod session_and_model_choice;
#[cfg(unix)]
mod terminal;
mod undo_faults;
