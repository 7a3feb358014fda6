//! Forks and reverts sessions.

use std::process::ExitCode;

use lathe_protocol::ipc::{
    RevertChange, RevertChoice, RevertFile, RevertOptions, RevertOutcome, RevertTarget,
};
use lathe_protocol::{Message, MessageId, Millis, SessionId};
use lathe_render::escape::visible_line;
use lathe_session::Sessions;

use crate::args::RevertArgs;
use crate::{Outcome, output, texts};

/// Prints the new session's id, for use in scripts.
pub async fn fork(sessions: &Sessions, id: &SessionId, at: Option<&MessageId>) -> Outcome {
    let forked = sessions.fork(id, at, false).await?;
    sessions.wait_for_summary(&forked.id).await?;
    output::line(forked.id.as_str())?;
    Ok(ExitCode::SUCCESS)
}

pub async fn revert(sessions: &Sessions, args: RevertArgs) -> Outcome {
    let to = match args.last {
        true => {
            let decides = args.force
                || [&args.mine, &args.before, &args.both]
                    .iter()
                    .any(|paths| !paths.is_empty());
            Some(last_prompt(sessions, &args.id, decides).await?)
        }
        false => args.to,
    };
    let target = match (args.file, to) {
        (Some(path), message_id) => RevertTarget::File { message_id, path },
        (None, Some(message_id)) => RevertTarget::Message {
            message_id,
            keep_files: args.keep_files,
        },
        (None, None) => return Err(texts::NO_TARGET.into()),
    };
    let choices = [
        (args.mine, RevertChoice::Mine),
        (args.before, RevertChoice::Before),
        (args.both, RevertChoice::Both),
    ];
    let choices = choices
        .into_iter()
        .flat_map(|(paths, choice)| paths.into_iter().map(move |path| (path, choice)));
    let options = RevertOptions {
        force: args.force,
        choices: choices.collect(),
    };
    if args.preview {
        let preview = sessions
            .preview_revert_with(&args.id, &target, &options)
            .await?;
        print(&preview.files, &preview.unknown, &preview.not_kept)?;
        let hidden = messages(preview.hides_messages);
        output::line(&texts::would_hide(&hidden))?;
        if preview.complete {
            return Ok(ExitCode::SUCCESS);
        }
        let left = left(&preview.files, &preview.unknown);
        output::note(&texts::would_not_all(&left));
        return Ok(ExitCode::FAILURE);
    }
    let outcome = sessions.revert_with(&args.id, &target, &options).await?;
    print(&outcome.files, &outcome.unknown, &outcome.not_kept)?;
    if !matches!(target, RevertTarget::File { .. }) {
        output::line(&texts::hidden(&messages(outcome.hides_messages)))?;
    }
    Ok(finish(&outcome, "reverted"))
}

pub async fn unrevert(sessions: &Sessions, id: &SessionId, force: bool) -> Outcome {
    let options = RevertOptions {
        force,
        ..RevertOptions::default()
    };
    let outcome = match sessions.unrevert_with(id, &options).await {
        Ok(outcome) => outcome,
        Err(error) => {
            if !sessions.reverted(id).await?.is_empty() {
                output::note(&texts::list_reverted(id));
            }
            return Err(error.into());
        }
    };
    restored(id, &outcome)
}

/// One line each: the number to restore it by, the time, what it was.
pub async fn list(sessions: &Sessions, id: &SessionId, json: bool) -> Outcome {
    let items = sessions.reverted(id).await?;
    if json {
        output::json(&items)?;
        return Ok(ExitCode::SUCCESS);
    }
    for item in items {
        let line = format!(
            "{}  {}  {}, {}  {}",
            item.id,
            minute(item.time),
            messages(item.messages),
            counted(item.files.len(), "file"),
            item.title
        );
        output::line(&visible_line(&line))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn restore(sessions: &Sessions, id: &SessionId, item: &str, force: bool) -> Outcome {
    let options = RevertOptions {
        force,
        ..RevertOptions::default()
    };
    let outcome = sessions.restore_reverted(id, item, &options).await?;
    restored(id, &outcome)
}

/// What was restored, and how to go on with what was not.
fn restored(id: &SessionId, outcome: &RevertOutcome) -> Outcome {
    print(&outcome.files, &outcome.unknown, &outcome.not_kept)?;
    let code = finish(outcome, "restored");
    if let Some(item) = &outcome.left_in {
        output::note(&texts::restore_again(id, item));
    }
    Ok(code)
}

/// The last prompt that is not hidden already. Where the person decides about files that a
/// pending revert has left, the prompt of that revert.
async fn last_prompt(sessions: &Sessions, id: &SessionId, decides: bool) -> Outcome<MessageId> {
    let session = sessions.get(id).await?;
    if let Some(pending) = session.revert.as_ref().filter(|_| decides) {
        return Ok(pending.message_id.clone());
    }
    let visible = sessions.visible_messages(&session).await?;
    let prompts = visible.iter().rev();
    let mut prompts = prompts.filter(|message| matches!(message.info, Message::User(_)));
    match prompts.next() {
        Some(prompt) => Ok(prompt.info.id().clone()),
        None => Err(texts::NO_PROMPT.into()),
    }
}

/// One line per file. Names are escaped because a project may contain any name.
fn print(files: &[RevertFile], unknown: &[String], not_kept: &[String]) -> Outcome<()> {
    for file in files {
        let change = match file.change {
            RevertChange::Restore => "restore",
            RevertChange::Delete => "delete",
            RevertChange::Create => "create",
            RevertChange::Conflict => "conflict",
            RevertChange::Shared => "shared",
            RevertChange::Unknown => "unknown",
            RevertChange::Others => texts::NOT_THE_AGENTS,
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
    for sentence in unknown.iter().chain(not_kept) {
        output::line(&visible_line(sentence))?;
    }
    Ok(())
}

/// What was not `done` is a failure.
fn finish(outcome: &RevertOutcome, done: &str) -> ExitCode {
    if outcome.complete {
        return ExitCode::SUCCESS;
    }
    let left = left(&outcome.files, &outcome.unknown);
    output::note(&texts::not_all(done, &left));
    ExitCode::FAILURE
}

/// `2 files are left as they are, 1 call unknown`
fn left(files: &[RevertFile], unknown: &[String]) -> String {
    let open = files.iter().filter(|file| file.change.is_open()).count();
    let mut left = Vec::new();
    if open > 0 {
        left.push(texts::files_left(open));
    }
    if !unknown.is_empty() {
        let calls = counted(unknown.len(), "call");
        left.push(texts::unknown_calls(&calls));
    }
    left.join(", ")
}

/// `2026-11-16 09:41 UTC`
fn minute(time: Millis) -> String {
    let minutes = time.0.div_euclid(60_000).rem_euclid(24 * 60);
    let (hour, minute) = (minutes / 60, minutes % 60);
    format!("{} {hour:02}:{minute:02} UTC", time.date())
}

fn messages(count: usize) -> String {
    counted(count, "message")
}

/// `1 message`, `2 messages`
pub fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_to_the_minute() {
        let times = [0, 1_786_706_395_136, -1];
        assert_eq!(
            times.map(|time| minute(Millis(time))),
            [
                "1970-01-01 00:00 UTC",
                "2026-08-14 11:19 UTC",
                "1969-12-31 23:59 UTC"
            ]
        );
    }
}
