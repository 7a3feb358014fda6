//! May the agent do this? Rules decide: allow, ask or deny.
//!
//! Everything here is pure: no files, no clock, no async runtime. What a decision needs to
//! know of the file system it asks through [`shell::PathLookup`]. This crate knows neither
//! sessions nor tools; asking a person is the caller's job.

pub mod agents;
pub mod decision;
mod deny;
mod layers;
pub mod names;
mod narrow;
pub mod protected;
mod rules;
pub mod shell;
#[cfg(test)]
mod table;

pub use layers::Layers;
pub use narrow::narrow;
pub use rules::*;
