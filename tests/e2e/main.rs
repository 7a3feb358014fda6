//! The app as a person has it: the built binary, its real window, the real core behind it.
//!
//! Run by `cargo xtask test e2e`, one test at a time.
#![cfg(target_os = "linux")]

mod accessible;
mod again;
mod cards;
mod composer;
mod frame;
mod gallery;
mod hand_over;
mod hostile;
mod leads;
mod long;
mod look;
mod meanwhile;
mod narrow;
mod notified;
mod pickers;
mod picture;
mod restart;
mod review;
mod servers;
mod sessions;
mod settings;
mod start;
mod steps;
mod stream;
mod trust;
mod turn;
