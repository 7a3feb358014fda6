//! Forks and reverts sessions.

use std::process::ExitCode;

use lathe_protocol::ipc::{RevertChange, RevertFile, RevertTarget};
use lathe_protocol::{MessageId, SessionId};
use lathe_render::escape::visible_line;
use lathe_session::Sessions;

use crate::{Outcome, output};

/// Prints the new session's id, for use in scripts.
pub async fn fork(sessions: &Sessions, id: &SessionId, at: Option<&MessageId>) -> Outcome {
    let forked = sessions.fork(id, at, false).await?;
    sessions.wait_for_summary(&forked.id).await?;
    output::line(forked.id.as_str())?;
    Ok(ExitCode::SUCCESS)
}

pub async fn revert(
    sessions: &Sessions,
    id: &SessionId,
    to: MessageId,
    keep_files: bool,
    preview: bool,
) -> Outcome {
    let target = RevertTarget::Message {
        message_id: to,
        keep_files,
    };
    if preview {
        let preview = sessions.preview_revert(id, &target).await?;
        print(&preview.files)?;
        output::line(&format!(
            "{} messages would be hidden",
            preview.hides_messages
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = sessions.revert(id, &target).await?;
    print(&outcome.files)?;
    output::line(&format!("{} messages are hidden", outcome.hides_messages))?;
    Ok(exit_code(&outcome.files))
}

pub async fn unrevert(sessions: &Sessions, id: &SessionId) -> Outcome {
    let outcome = sessions.unrevert(id).await?;
    print(&outcome.files)?;
    Ok(exit_code(&outcome.files))
}

/// One line per file. Names are escaped because a project may contain any name.
fn print(files: &[RevertFile]) -> Outcome<()> {
    for file in files {
        let change = match file.change {
            RevertChange::Restore => "restore",
            RevertChange::Delete => "delete",
            RevertChange::Create => "create",
            RevertChange::Conflict => "conflict",
        };
        let why = file.reason.as_deref().map(|why| format!(" ({why})"));
        let line = format!(
            "{change} {} +{} -{}{}",
            file.path,
            file.additions,
            file.deletions,
            why.unwrap_or_default()
        );
        output::line(&visible_line(&line))?;
    }
    Ok(())
}

/// Conflicts are failures: those files were not reverted.
fn exit_code(files: &[RevertFile]) -> ExitCode {
    let left = files
        .iter()
        .any(|file| file.change == RevertChange::Conflict);
    if left {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
