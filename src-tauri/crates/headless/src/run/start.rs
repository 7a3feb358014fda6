//! What a turn begins with: which session, who answers, with what. Everything is looked at
//! first; only what will be asked leaves a trace.

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{AgentMode, AgentView, PromptFile, PromptInput};
use lathe_protocol::{MessageId, Project, Session, UserMessage};
use lathe_session::Sessions;
use url::Url;

use super::model::{Site, Use, model_named};
use crate::args::RunArgs;
use crate::{Outcome, config};

pub struct Start {
    place: Place,
    input: PromptInput,
}

enum Place {
    New(PathBuf),
    Old(Box<Session>),
}

impl Place {
    fn folder(&self) -> &Path {
        match self {
            Place::New(folder) => folder,
            Place::Old(session) => session.directory.as_ref(),
        }
    }
}

impl Start {
    pub async fn of(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome<Self> {
        let model = args.model.as_deref().map(model_named).transpose()?;
        let files = args.file.iter().map(|path| attached(path));
        let files = files.collect::<Outcome<Vec<_>>>()?;
        let (place, project) = place(sessions, directory, &args).await?;
        config::note(&sessions.config_problems_in(&project, place.folder()).await);
        let last = match &place {
            Place::New(_) => None,
            Place::Old(session) => sessions.newest_prompt(session).await?,
        };
        let agent = agent(sessions, &project, args.agent, last.as_ref()).await?;
        let site = Site {
            sessions,
            project: &project,
            folder: place.folder(),
        };
        let wanted = Use {
            model,
            variant: args.variant,
        };
        let Use { model, variant } = site.choose(wanted, agent.as_deref(), last).await?;
        let input = PromptInput {
            text: args.prompt.join(" "),
            agent,
            model,
            variant,
            files,
        };
        Ok(Start { place, input })
    }

    pub async fn begin(self, sessions: &Sessions) -> Outcome<(Session, MessageId)> {
        match self.place {
            Place::New(directory) => {
                let project = sessions.open_project(&directory).await?;
                let folder = directory.display().to_string();
                let begun = sessions.begin_with(&project, &folder, self.input).await;
                Ok(begun?)
            }
            Place::Old(session) => {
                let prompt = sessions.prompt(&session.id, self.input).await?;
                Ok((*session, prompt))
            }
        }
    }
}

async fn place(sessions: &Sessions, directory: &Path, args: &RunArgs) -> Outcome<(Place, Project)> {
    if let Some(id) = &args.session {
        let session = sessions.get(id).await?;
        let project = match sessions.project(&session.project_id).await {
            Ok(project) => project,
            Err(_) => sessions.project_at(session.directory.as_ref()).await?,
        };
        return Ok((Place::Old(Box::new(session)), project));
    }
    let project = sessions.project_at(directory).await?;
    if !args.continue_last {
        return Ok((Place::New(directory.canonicalize()?), project));
    }
    let session = last_here(sessions, &project).await?;
    Ok((Place::Old(Box::new(session)), project))
}

/// Clones and worktrees of a repository share their sessions; each works in its own folder.
async fn last_here(sessions: &Sessions, project: &Project) -> Outcome<Session> {
    let mut found = sessions.list(project).await?;
    found.retain(|one| one.parent_id.is_none());
    for session in &found {
        if sessions.worktree(session).await? == Path::new(&project.worktree) {
            return Ok(session.clone());
        }
    }
    let elsewhere = found.first().map(|one| {
        let (folder, id) = (&one.directory, &one.id);
        format!("; the last one of this project works in {folder} (--session {id})")
    });
    let elsewhere = elsewhere.unwrap_or_default();
    Err(format!("there is no session here to go on with{elsewhere}").into())
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

/// A session goes on with the agent of its newest prompt, unless that is gone; a person who
/// names one that is not there made a mistake.
async fn agent(
    sessions: &Sessions,
    project: &Project,
    wanted: Option<String>,
    last: Option<&UserMessage>,
) -> Outcome<Option<String>> {
    let before = last.and_then(|prompt| prompt.agent.clone());
    if wanted.is_none() && before.is_none() {
        return Ok(None);
    }
    let agents = sessions.agents(project).await?;
    let Some(wanted) = wanted else {
        let talks = |one: &AgentView| one.mode != AgentMode::Subagent;
        let is_there = |name: &String| agents.iter().any(|one| one.name == *name && talks(one));
        return Ok(before.filter(is_there));
    };
    if agents.iter().any(|one| one.name == wanted) {
        return Ok(Some(wanted));
    }
    let names: Vec<_> = agents.iter().map(|one| one.name.as_str()).collect();
    let names = names.join(", ");
    Err(format!("there is no agent \"{wanted}\"; there are: {names}").into())
}
