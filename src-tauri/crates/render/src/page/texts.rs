//! What a shared page itself says, in the words of `docs/words.md`.

pub(super) const ADDED: &str = "Added by Lathe";
pub(super) const THINKING: &str = "Thinking";
pub(super) const SNAPSHOT_BEFORE_REVERT: &str = "Snapshot before a revert";
pub(super) const COMPACTED: &str = "Session compacted";
pub(super) const CHANGES: &str = "Changes";
pub(super) const NOT_FINISHED: &str = "Not finished";
pub(super) const FAILED: &str = "Failed";
/// The state of a task in a list.
pub(super) const TASK_DONE: &str = "done";
pub(super) const TASK_IN_PROGRESS: &str = "in progress";
pub(super) const TASK_CANCELED: &str = "canceled";
pub(super) const TASK_TO_DO: &str = "to do";
pub(super) const YOU: &str = "You";

pub(super) fn snapshot(name: &str) -> String {
    format!("Snapshot “{name}”")
}

pub(super) fn changed(files: &str) -> String {
    format!("Changed {files}")
}

pub(super) fn attempt_failed(attempt: impl std::fmt::Display, error: &str) -> String {
    format!("Attempt {attempt} failed: {error}")
}

pub(super) fn attached(name: &str) -> String {
    format!("Attached: {name}")
}

pub(super) fn task(agent: &str, description: &str) -> String {
    format!("Task for {agent}: {description}")
}

pub(super) fn tokens(input: &str, output: &str) -> String {
    format!("{input} tokens in, {output} out")
}

pub(super) fn prompts(count: usize) -> String {
    match count {
        1 => "1 prompt".to_owned(),
        count => format!("{count} prompts"),
    }
}

pub(super) fn items(count: usize) -> String {
    match count {
        1 => "1 item".to_owned(),
        count => format!("{count} items"),
    }
}

/// The same names as in the window.
pub(super) fn tool(id: &str) -> &str {
    match id {
        "read" => "Read",
        "list" => "List",
        "glob" => "Find files",
        "grep" => "Search",
        "webfetch" => "Fetch",
        "task" => "Task",
        "bash" => "Run",
        "edit" => "Edit",
        "write" => "Write",
        "apply_patch" => "Patch",
        "todowrite" => "Update tasks",
        "todoread" => "Read tasks",
        "question" => "Question",
        other => other,
    }
}
