//! Support for tests: the fake model server, test projects and the window driver.

pub mod app;
pub mod dice;
pub mod disk;
pub mod fake_model;
pub mod git;
pub mod mcp_server;
pub mod meeting;
pub mod outside;
pub mod scripted_agent;
#[cfg(unix)]
pub mod side_by_side;
#[cfg(target_os = "linux")]
pub mod window;
