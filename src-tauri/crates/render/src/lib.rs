//! Rendering: turns Markdown, diffs, code, terminal output and images into what a browser shows.
//!
//! Everything is pure and synchronous: no files, no network, and no clock except for the deadline
//! of a diff. All input is hostile, because a model or a program wrote it. HTML leaves this crate
//! only through [`sanitize`], and characters that a browser would hide or reorder are replaced by
//! visible escapes.
//!
//! This crate must not know tauri, sessions or the store.

pub mod ansi;
pub mod details;
pub mod diagram;
pub mod diff;
pub mod escape;
pub mod highlight;
mod html;
pub mod markdown;
mod math;
pub mod page;
mod paths;
pub mod picture;
pub mod sanitize;
