//! The app as a person has it: the built binary, its real window, the real core behind it.
//!
//! Run by `cargo xtask test e2e`, one test at a time.
#![cfg(target_os = "linux")]

mod gallery;
mod look;
mod restart;
mod sessions;
mod start;
mod steps;
mod turn;
