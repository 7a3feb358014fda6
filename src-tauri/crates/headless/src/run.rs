//! One turn from a terminal.

mod answer;
mod follow;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{Action, Rule, Session, SessionId};
use lathe_session::{Sessions, parse_model_ref};
use url::Url;

use crate::Outcome;
use crate::args::RunArgs;
use follow::Follower;

/// A title may come after the answer, and nobody likes to wait for one.
const FOR_A_TITLE: Duration = Duration::from_secs(3);

pub async fn run(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome {
    let model = match &args.model {
        None => None,
        Some(text) => {
            let parsed = parse_model_ref(text);
            Some(parsed.ok_or_else(|| format!("{text:?} is not of the form provider/model"))?)
        }
    };
    let files = args.file.iter().map(|path| attached(path));
    let files = files.collect::<Outcome<Vec<_>>>()?;
    let session = choose(sessions, directory, &args).await?;
    if let Some(agent) = &args.agent {
        check_agent(sessions, &session, agent).await?;
    }
    sessions.set_rules(rules(&args));
    let events = sessions.subscribe();
    let input = PromptInput {
        text: args.prompt.join(" "),
        agent: args.agent,
        model,
        variant: args.variant,
        files,
    };
    let prompt = sessions.prompt(&session.id, input).await?;
    Follower::new(sessions, &session.id, prompt, args.json)
        .follow(events)
        .await?;
    sessions.settle_titles(FOR_A_TITLE).await;
    verdict(sessions, &session.id).await
}

fn attached(path: &Path) -> Outcome<PromptFile> {
    let found = path.canonicalize();
    let found = found.map_err(|error| format!("{}: {error}", path.display()))?;
    let url = Url::from_file_path(&found);
    let url = url.map_err(|()| format!("{} cannot be attached", path.display()))?;
    Ok(PromptFile {
        url: url.into(),
        ..PromptFile::default()
    })
}

/// History may name an agent that is gone; a person who does made a mistake.
async fn check_agent(sessions: &Sessions, session: &Session, agent: &str) -> Outcome<()> {
    let project = match sessions.project(&session.project_id).await {
        Ok(project) => project,
        Err(_) => sessions.open_project(session.directory.as_ref()).await?,
    };
    let agents = sessions.agents(&project).await?;
    if agents.iter().any(|one| one.name == agent) {
        return Ok(());
    }
    let names: Vec<_> = agents.iter().map(|one| one.name.as_str()).collect();
    Err(format!(
        "there is no agent {agent:?}; there are: {}",
        names.join(", ")
    )
    .into())
}

async fn choose(sessions: &Sessions, directory: &Path, args: &RunArgs) -> Outcome<Session> {
    if let Some(id) = &args.session {
        return Ok(sessions.get(id).await?);
    }
    let project = sessions.open_project(directory).await?;
    if args.continue_last {
        let last = sessions
            .list(&project)
            .await?
            .into_iter()
            .find(|one| one.parent_id.is_none());
        return last.ok_or_else(|| "there is no session here to go on with".into());
    }
    let directory = directory.canonicalize()?;
    Ok(sessions
        .create_in(&project, &directory.display().to_string(), None)
        .await?)
}

fn rules(args: &RunArgs) -> Vec<Rule> {
    let mut rules: Vec<_> = args
        .allow
        .iter()
        .map(|text| {
            let (permission, pattern) = text.split_once('=').unwrap_or((text, "*"));
            allow(permission, pattern)
        })
        .collect();
    if args.yes {
        rules.push(allow("*", "*"));
    }
    rules
}

fn allow(permission: &str, pattern: &str) -> Rule {
    Rule {
        permission: permission.into(),
        pattern: pattern.into(),
        action: Action::Allow,
    }
}

/// Well only if the newest answer came to its own end.
async fn verdict(sessions: &Sessions, id: &SessionId) -> Outcome {
    let page = sessions.messages(id, None, 1).await?;
    let last = page
        .messages
        .last()
        .and_then(|message| message.info.as_assistant());
    Ok(match last {
        Some(answer) if answer.error.is_none() && answer.finish.is_some() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
