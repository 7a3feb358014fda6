//! Reports problems in the config files.

use std::path::Path;

use lathe_protocol::ipc::{ConfigProblem, TrustState, TrustView, WantKind};
use lathe_render::escape::visible_line;
use lathe_session::config::named_problem;

use crate::args::{Command, Form};
use crate::{Outcome, output, texts};

/// Fails if the explicitly named config file is unusable and the command depends on it: without
/// it, another model might answer, or a key in it would not be redacted.
pub fn check_named(command: &Command, named: Option<&Path>) -> Outcome<()> {
    let uses_config = match command {
        Command::Run(_) | Command::Serve(_) | Command::Acp | Command::Models { .. } => true,
        Command::Mcp { allow_ask } => *allow_ask,
        Command::Show { form, .. } => matches!(form, Form::Model | Form::Request | Form::Html),
        _ => false,
    };
    match named_problem(named) {
        Some(problem) if uses_config => Err(texts::config_problem(sentence(&problem)).into()),
        _ => Ok(()),
    }
}

/// Prints problems that affect single keys only.
pub fn note(problems: &[ConfigProblem]) {
    for problem in problems {
        output::note(&format!("! config: {}", sentence(problem)));
    }
}

/// Says what git does not run here until the person trusts it in the window.
pub fn note_git(trust: &TrustView) {
    let is_open = matches!(trust.state, TrustState::Untrusted | TrustState::Changed);
    let of_git = trust.wants.iter().filter(|want| want.kind == WantKind::Git);
    for want in of_git.filter(|_| is_open) {
        let (text, file) = (visible_line(&want.text), visible_line(&want.file));
        output::note(&format!(
            "! git: off until you trust the project: {text} ({file})"
        ));
    }
}

fn sentence(problem: &ConfigProblem) -> String {
    visible_line(&problem.to_string())
}
