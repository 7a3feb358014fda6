//! The session core through its public handle, as a specification of what it does.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod activity;
mod agents;
mod attachments;
mod change_summary;
mod clock_changes;
mod compaction;
mod concurrent_processes;
mod config;
mod export_and_import;
mod faults_on_every_wire;
mod first_turn;
mod fork;
mod instructions;
mod lifecycle;
mod media_and_cost;
mod mentions;
mod permissions;
mod plan_mode;
mod prompt_queue;
mod provider_errors;
mod recovery;
mod repeated_reverts;
mod revert;
mod revert_interleavings;
mod scripted_agent;
mod search;
mod share;
mod slash_commands;
mod snapshot_cleanup;
mod subtasks;
mod tool_calls;
mod trust;
#[cfg(unix)]
mod unusual_work_trees;
mod wire_equivalence;
mod worktrees_and_clones;
