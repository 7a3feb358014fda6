//! The readers on fixtures and on damaged files.

#![allow(clippy::unwrap_used, reason = "a test may end at the first surprise")]

mod claude;
mod codex;
mod damaged;
mod large;
mod memory;
mod repeated;
