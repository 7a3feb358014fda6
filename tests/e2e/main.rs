//! The app as people use it: the built binary with its real window and the real core.
//!
//! Run by `cargo xtask test e2e`, one test at a time.
#![cfg(target_os = "linux")]

mod accessibility;
mod actions;
mod appearance;
mod compaction;
mod composer;
mod context_menus;
mod copy;
mod crashes;
mod edit_prompt;
mod fork;
mod gallery;
mod git_bar;
mod hostile_content;
mod languages;
mod links_and_paths;
mod long_session;
mod long_texts;
mod model_and_agent_pickers;
mod modes;
mod named_snapshots;
mod narrow_window;
mod notifications;
mod prompt_history;
mod prompt_queue;
mod questions;
mod readme_screenshot;
mod restart;
mod retry;
mod review;
mod review_views;
mod search;
mod sessions;
mod settings;
mod share_and_export;
mod signals;
mod soak;
mod startup;
mod steady;
mod steps;
mod streaming;
mod subtasks;
mod timeline;
mod todo_list;
mod tool_cards;
mod tool_servers;
mod trust;
mod turn;
