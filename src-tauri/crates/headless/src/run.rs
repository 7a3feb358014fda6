//! `lathectl run`: one turn from a terminal.

mod follow;
mod model;
mod permission;
mod permission_text;
mod question;
mod start;
mod stop;
pub mod turn_result;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lathe_protocol::ipc::Limits;
use lathe_protocol::{Action, Rule};
use lathe_session::Sessions;

use crate::args::RunArgs;
use crate::{Outcome, output};
use follow::Follower;
use start::Start;
use stop::Stop;

/// How long to wait after the answer for the session's title.
const TITLE_TIMEOUT: Duration = Duration::from_secs(3);

pub async fn run(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome {
    // Subscribed first, so that no event is missed.
    let events = sessions.subscribe();
    sessions.grant(granted_rules(&args));
    if let Some(mode) = args.mode {
        sessions.override_mode(mode.into()).await?;
    }
    sessions.set_limits(limits(&args));
    let json = args.json;
    let start = Start::prepare(sessions, directory, args).await?;
    let stop = Stop::listen(sessions)?;
    let (session, prompt) = start.begin(sessions).await?;
    if stop.code().is_some() {
        // The signal came before the turn had started, so it did not stop it.
        sessions.close().await;
    }
    let mut follower = Follower::new(sessions, session.id.clone(), prompt, json, stop.clone());
    let followed = follower.follow(events).await;
    if followed.is_err() {
        // Its output can no longer be printed, so the turn is stopped.
        sessions.close().await;
    }
    if let Some(code) = stop.code() {
        return Ok(code);
    }
    follower.wait_for_title(followed?, TITLE_TIMEOUT).await?;
    let page = sessions.messages(&session.id, None, 1).await?;
    Ok(match turn_result::check(page.messages.last()) {
        Ok(()) if !follower.has_failed() => ExitCode::SUCCESS,
        Err(why) if !follower.has_failed() => {
            output::note(&format!("lathectl: {why}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    })
}

fn limits(args: &RunArgs) -> Limits {
    Limits {
        session_cost: args.max_cost,
        turn_steps: args.max_steps,
        turn_minutes: args.max_minutes,
        ..Limits::default()
    }
}

fn granted_rules(args: &RunArgs) -> Vec<Rule> {
    let allow = |permission: &str, pattern: &str| Rule {
        permission: permission.into(),
        pattern: pattern.into(),
        action: Action::Allow,
    };
    let named = args.allow.iter().map(|text| {
        let (permission, pattern) = text.split_once('=').unwrap_or((text, "*"));
        allow(permission, pattern)
    });
    named.chain(args.yes.then(|| allow("*", "*"))).collect()
}
