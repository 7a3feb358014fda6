//! Confines a child process.
//!
//! A [`Confinement`] says what a command may reach. [`prepare`] chooses the strongest engine that
//! a [`Probe`] has shown to work on this machine, and gives a [`Launch`] that starts a command
//! inside. Where nothing works, or a promise that the caller requires cannot be held, it fails:
//! a command is never started with less than was asked for.
//!
//! Inside, the whole system is readable but for the person's secrets, only the given folders are
//! writable, protected paths in them are read-only, and there is no network.
//!
//! Knows nothing of sessions, tools or permissions.

mod confinement;
mod explain;
mod git;
mod home;
mod plan;
mod probe;
mod promise;
mod rules;
mod seatbelt;
mod secrets;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
use other as system;

pub use confinement::{Confinement, Grant};
pub use explain::{Denial, Refused, explain};
pub use plan::{Engine, Launch, Limit, Plan, SandboxError, prepare};
pub use probe::Probe;
pub use promise::Promise;
pub use seatbelt::seatbelt_profile;

/// Removes what commands of processes that were killed have left in the place of protected paths.
/// `notes` is the folder that their confinements named.
pub fn remove_leftovers(notes: &std::path::Path) {
    system::remove_leftovers(notes);
}
