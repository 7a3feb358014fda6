//! What each route does.

pub mod absent;
pub mod changes;
pub mod files;
pub mod messages;
pub mod newer;
pub mod project;
pub mod requests;
pub mod sessions;
pub mod terminals;
