//! The sources of a command's environment variables.

use std::path::Path;
#[cfg(unix)]
use std::{process::Stdio, time::Duration};

use super::{Shell, Variables};

/// Tells programs that no person is there, so that they do not prompt or page.
pub(super) fn quiet(variables: &mut Variables) {
    for (name, value) in [
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        // A command that only looks needs no lock, and no right to write one.
        ("GIT_OPTIONAL_LOCKS", "0"),
        // Nor does it ask the registry for a newer npm, or keep a log.
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
        ("NPM_CONFIG_LOGS_MAX", "0"),
        ("TERM", "xterm-256color"),
    ] {
        variables.insert(name.to_owned(), value.to_owned());
    }
    variables.remove("SHLVL");
    variables.remove("_");
}

/// The variables that a login shell exports; `None` if it fails or takes too long.
#[cfg(unix)]
pub(super) async fn of_login(shell: &Shell, home: Option<&Path>) -> Option<Variables> {
    const TIMEOUT: Duration = Duration::from_secs(5);
    const MARK: &str = "__lathe_environment__";
    let script = format!("printf %s {MARK}; env -0; printf %s {MARK}");
    let mut command = tokio::process::Command::new(&shell.program);
    command.args(["-l", "-i", "-c", &script]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // In its own process group: an interactive shell must not take over our terminal.
    command.process_group(0).kill_on_drop(true);
    if let Some(home) = home {
        command.current_dir(home);
    }
    let output = tokio::time::timeout(TIMEOUT, command.output())
        .await
        .ok()?
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let listed = text.split(MARK).nth(1)?;
    let variables: Variables = listed
        .split('\0')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    (!variables.is_empty()).then_some(variables)
}

/// On Windows every program has the user's environment already.
#[cfg(not(unix))]
pub(super) async fn of_login(_: &Shell, _: Option<&Path>) -> Option<Variables> {
    None
}
