//! The session core through its public handle, as a specification of what it does.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod activity;
mod agents;
#[cfg(unix)]
mod asking;
mod attachments;
#[cfg(target_os = "linux")]
mod auto_mode;
mod change_summary;
mod clock_changes;
mod compaction;
mod concurrent_processes;
mod config;
mod export_and_import;
mod faults_on_every_wire;
mod first_turn;
mod fork;
mod handed_on;
mod instructions;
mod lifecycle;
mod limits;
mod media_and_cost;
mod mentions;
mod other_processes;
mod panic_log;
mod panics;
mod permissions;
mod plan_mode;
mod prompt_order;
mod prompt_queue;
#[cfg(unix)]
mod protected_paths;
mod provider_errors;
mod recovery;
mod repeated_reverts;
mod revert;
mod revert_interleavings;
mod search;
mod share;
#[cfg(unix)]
mod shell_commands_of_a_person;
mod slash_commands;
mod snapshot_cleanup;
#[cfg(unix)]
mod special_files;
mod stopped_queue;
mod subtasks;
mod tool_calls;
mod trust;
#[cfg(target_os = "linux")]
mod undo_credit;
#[cfg(target_os = "linux")]
mod undo_generator;
#[cfg(unix)]
mod undo_honest_ends;
#[cfg(target_os = "linux")]
mod undo_killed;
mod undo_last_turn;
#[cfg(unix)]
#[cfg(target_os = "linux")]
mod undo_stories;
mod undo_witness;
#[cfg(unix)]
mod unusual_work_trees;
#[cfg(unix)]
mod waiting_for_the_person;
mod wire_equivalence;
mod worktrees_and_clones;
