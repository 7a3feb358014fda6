//! What `lathectl` says, besides its help (see `args.rs`), in the words of `docs/words.md`.

use std::fmt::Display;

pub const NOT_DOLLARS: &str = "enter an amount above 0, in dollars";
pub const NO_TARGET: &str = "specify what to revert: --to, --last or --file";
pub const NO_PROMPT: &str = "no prompt to revert";
pub const NOT_THE_AGENTS: &str = "not the agent's";
pub const REPAIRED: &str = "moved damaged and stray files to quarantine/";
pub const BUILT_IN_MODEL: &str = "the built-in model has no request to show";
pub const NO_DATA: &str = "no sessions found in the usual place; specify a PATH";

pub const UNANSWERED: &str = "the prompt wasn't answered";
pub const DENIED: &str = "the turn stopped because a call was denied";
pub const TOO_LONG: &str = "the answer reached the model's output limit";
pub const FILTERED: &str = "the provider blocked the answer (content filter)";
pub const BROKEN_OFF: &str = "the model stopped before it finished";
pub const INCOMPLETE: &str = "the answer isn't complete";

pub const NUMBER: &str = "A number";
pub const NUMBER_OR_OWN: &str = "A number, or your own answer";
pub const NUMBERS: &str = "Numbers, such as 1,2";
pub const NUMBERS_OR_OWN: &str = "Numbers, such as 1,2, or your own answer";
pub const YOUR_ANSWER: &str = "Your answer";
pub const ONLY_ONE: &str = "choose only one option";
pub const CHOOSE: &str = "choose an option by its number";

pub const ALLOW_OR_YES: &str = "use --allow or --yes";
pub const DESCRIPTION: &str = "description";
pub const OUTSIDE: &str = "outside the project";
pub const REPEATED: &str = "repeated call";
pub const SERVER: &str = "MCP server";
pub const COMPACTED: &str = "── session compacted ──";

pub fn would_hide(messages: &str) -> String {
    format!("{messages} would be hidden")
}

pub fn hidden(messages: &str) -> String {
    format!("{messages} hidden")
}

pub fn list_reverted(session: impl Display) -> String {
    format!("lathectl: to see what can be restored: lathectl reverted list {session}")
}

pub fn restore_again(session: impl Display, item: impl Display) -> String {
    format!("lathectl: to retry: lathectl reverted restore {session} {item}")
}

pub fn files_left(count: usize) -> String {
    match count {
        1 => "1 file is left as it is".to_owned(),
        count => format!("{count} files are left as they are"),
    }
}

pub fn unknown_calls(calls: &str) -> String {
    format!("{calls} unknown")
}

/// `done`: what was to be done with all, such as "reverted".
pub fn not_all(done: &str, left: &str) -> String {
    format!("lathectl: not everything was {done}: {left}")
}

pub fn would_not_all(left: &str) -> String {
    format!("lathectl: not everything would be reverted: {left}")
}

pub fn hidden_until_prompt(messages: &str) -> String {
    format!("({messages} hidden until the next prompt; to undo: lathectl unrevert)")
}

pub fn skipped(what: impl Display) -> String {
    format!("lathectl: skipped: {what}")
}

pub fn no_problems(records: impl Display) -> String {
    format!("{records} records checked")
}

pub fn needs_password(host: &str, variable: &str) -> String {
    format!("to listen on {host}, set a password in {variable}")
}

pub fn access(user: impl Display, password: impl Display, file: impl Display) -> String {
    format!("user {user}, password {password} (also in {file})")
}

pub fn no_log(why: impl Display) -> String {
    format!("! no log: {why}")
}

pub fn config_problem(why: impl Display) -> String {
    format!("config problem: {why}")
}

pub fn no_variant(model: &str, wanted: &str, known: &str) -> String {
    format!("{model} has no variant \"{wanted}\"; available: {known}")
}

pub fn not_a_model(text: &str) -> String {
    format!("\"{text}\" isn't in the form provider/model")
}

pub fn no_session(elsewhere: &str) -> String {
    format!("no session to continue here{elsewhere}")
}

pub fn session_elsewhere(folder: &str, session: impl Display) -> String {
    format!("; the most recent one of this project is in {folder} (--session {session})")
}

pub fn not_attached(path: impl Display) -> String {
    format!("couldn't attach {path}")
}

pub fn no_agent(wanted: &str, known: &str) -> String {
    format!("no agent \"{wanted}\"; available: {known}")
}

pub fn only_allow(permission: &str) -> String {
    format!("only --allow {permission} or --yes can allow it")
}

pub fn denied(what: &str, reasons: &str) -> String {
    format!("! denied {what} ({reasons})")
}

/// `[brackets]` mark the letter to type.
pub fn allow(permission: &str, always: &str) -> String {
    format!("Allow {permission}? [y]es, {always}[N]o: ")
}

pub fn also_needs(permission: &str) -> String {
    format!("also needs {permission}")
}

pub fn no_option(number: &str, takes_custom: bool) -> String {
    match takes_custom {
        true => format!("no option {number} (type \"{number}\" in quotes for your own answer)"),
        false => format!("no option {number}"),
    }
}

pub fn not_imported(what: impl Display, why: impl Display) -> String {
    format!("not imported: {what}: {why}")
}

pub fn import_skipped(count: impl Display, what: impl Display, why: impl Display) -> String {
    format!("skipped: {count} × {what}: {why}")
}

/// `grown`: sessions that were here and have new messages.
pub fn imported(added: usize, already: usize, failed: usize, grown: usize) -> String {
    let mut line = format!("{added} added, {already} already imported, {failed} not imported");
    if grown > 0 {
        line.push_str(&format!(", {grown} updated"));
    }
    line
}
