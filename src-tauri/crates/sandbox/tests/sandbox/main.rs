//! Commands that are really run in the sandbox: ways out, and usual work.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod attacker;
mod attempts;
mod engines;
mod escapes;
mod ordinary_user;
mod usual;
mod world;
