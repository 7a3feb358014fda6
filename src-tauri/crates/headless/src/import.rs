//! The command that imports sessions of other programs.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use lathe_protocol::ipc::{ImportKind, ImportReport};
use lathe_render::escape::visible_line;
use lathe_session::{ImportControl, ImportFrom, Sessions};

use crate::args::Agent;
use crate::{Outcome, output, texts};

/// Fails if nothing at all could be imported.
pub async fn import(
    sessions: &Sessions,
    path: Option<PathBuf>,
    from: Option<Agent>,
    json: bool,
) -> Outcome {
    let paths = match (path, from) {
        (Some(path), _) => vec![path],
        (None, Some(from)) => usual_places(sessions, from).await,
        (None, None) => Vec::new(),
    };
    if paths.is_empty() {
        return Err(texts::NO_DATA.into());
    }
    let control = control();
    let mut report = ImportReport::default();
    for path in paths {
        let from = from.map(program);
        let import = sessions.import_watched(&path, from, control.clone());
        tokio::pin!(import);
        let one = loop {
            tokio::select! {
                done = &mut import => break done?,
                // The session that is being written is left out; the next import continues there.
                _ = tokio::signal::ctrl_c() => control.stop(),
            }
        };
        report.added += one.added;
        report.already += one.already;
        report.grown += one.grown;
        report.unreadable.extend(one.unreadable);
        report.left_out.extend(one.left_out);
        report.stopped |= one.stopped;
    }
    print(&report, json)?;
    let nothing =
        report.added + report.already + report.grown == 0 && !report.unreadable.is_empty();
    Ok(match nothing || report.stopped {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn print(report: &ImportReport, json: bool) -> Result<(), Box<dyn std::error::Error>> {
    for one in &report.unreadable {
        let line = texts::not_imported(&one.what, &one.why);
        output::note(&visible_line(&line));
    }
    for one in &report.left_out {
        let line = texts::import_skipped(one.count, &one.what, &one.why);
        output::note(&visible_line(&line));
    }
    if json {
        output::json(report)?;
        return Ok(());
    }
    let failed = report.unreadable.len();
    let mut line = texts::imported(report.added, report.already, failed, report.grown);
    if report.stopped {
        line.push_str(", stopped");
    }
    output::line(&line)?;
    Ok(())
}

/// Shows how far it is where a person can see it.
fn control() -> ImportControl {
    if !std::io::stderr().is_terminal() {
        return ImportControl::default();
    }
    let last = std::sync::atomic::AtomicUsize::new(0);
    ImportControl::new(move |progress| {
        let step = progress.done * 20 / progress.files.max(1);
        if last.swap(step, std::sync::atomic::Ordering::Relaxed) != step {
            output::note(&format!(
                "{} of {} files, {} sessions, {} messages",
                progress.done, progress.files, progress.sessions, progress.messages
            ));
        }
    })
}

async fn usual_places(sessions: &Sessions, from: Agent) -> Vec<PathBuf> {
    let found = sessions.find_imports().await.into_iter();
    let wanted = found.filter(|source| {
        let agent = match source.kind {
            ImportKind::Json | ImportKind::Sqlite => Agent::Opencode,
            ImportKind::Codex => Agent::Codex,
            ImportKind::Claude => Agent::Claude,
        };
        agent == from
    });
    wanted.map(|source| source.path.into()).collect()
}

fn program(agent: Agent) -> ImportFrom {
    match agent {
        Agent::Opencode => ImportFrom::OpenCode,
        Agent::Codex => ImportFrom::Codex,
        Agent::Claude => ImportFrom::Claude,
    }
}
