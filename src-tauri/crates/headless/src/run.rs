//! One turn from a terminal.

mod answer;
mod choose;
mod follow;
mod model;
mod start;
mod stop;
mod verdict;
mod what;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lathe_protocol::{Action, Rule};
use lathe_session::Sessions;

use crate::args::RunArgs;
use crate::{Outcome, output};
use follow::Follower;
use start::Start;
use stop::Stop;

/// A title may come after the answer, and nobody likes to wait for one.
const FOR_A_TITLE: Duration = Duration::from_secs(3);

pub async fn run(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome {
    // Before anything happens, so that all of it is heard.
    let events = sessions.subscribe();
    sessions.grant(granted(&args));
    let json = args.json;
    let start = Start::of(sessions, directory, args).await?;
    let stop = Stop::listen(sessions)?;
    let (session, prompt) = start.begin(sessions).await?;
    if stop.code().is_some() {
        // The signal was quicker than the turn.
        sessions.close().await;
    }
    let mut follower = Follower::new(sessions, session.id.clone(), prompt, json, stop.clone());
    let followed = follower.follow(events).await;
    if followed.is_err() {
        // Nobody sees what it does any more.
        sessions.close().await;
    }
    if let Some(code) = stop.code() {
        return Ok(code);
    }
    follower.wait_for_title(followed?, FOR_A_TITLE).await?;
    let page = sessions.messages(&session.id, None, 1).await?;
    Ok(match verdict::of(page.messages.last()) {
        Ok(()) if !follower.has_failed() => ExitCode::SUCCESS,
        Err(why) if !follower.has_failed() => {
            output::note(&format!("lathectl: {why}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    })
}

fn granted(args: &RunArgs) -> Vec<Rule> {
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
