//! Prepares a turn: its session, agent, model and prompt. All arguments are checked before
//! anything is stored.

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{AgentMode, AgentView, PromptFile, PromptInput};
use lathe_protocol::{MessageId, Project, Session, UserMessage};
use lathe_session::{Author, Sessions};
use url::Url;

use super::model::{ModelChoice, ModelSelector, parse_model};
use crate::args::RunArgs;
use crate::{Outcome, config, texts};

pub struct Start {
    target: Target,
    input: PromptInput,
}

enum Target {
    New(PathBuf),
    Existing(Box<Session>),
}

impl Target {
    fn folder(&self) -> &Path {
        match self {
            Target::New(folder) => folder,
            Target::Existing(session) => session.directory.as_ref(),
        }
    }
}

impl Start {
    pub async fn prepare(sessions: &Sessions, directory: &Path, args: RunArgs) -> Outcome<Self> {
        let model = args.model.as_deref().map(parse_model).transpose()?;
        let files = args.file.iter().map(|path| attachment(path));
        let files = files.collect::<Outcome<Vec<_>>>()?;
        let (target, project) = target(sessions, directory, &args).await?;
        config::note(&sessions.config_problems_in(&project, target.folder()).await);
        let worktree = match &target {
            Target::New(_) => project.worktree.clone(),
            Target::Existing(session) => sessions.worktree(session).await?.display().to_string(),
        };
        let here = Project {
            worktree,
            ..project.clone()
        };
        config::note_git(&sessions.trust(&here).await?);
        let last = match &target {
            Target::New(_) => None,
            Target::Existing(session) => sessions.newest_prompt(session).await?,
        };
        let agent = agent(sessions, &project, args.agent, last.as_ref()).await?;
        let selector = ModelSelector {
            sessions,
            project: &project,
            folder: target.folder(),
        };
        let wanted = ModelChoice {
            model,
            variant: args.variant,
        };
        let ModelChoice { model, variant } =
            selector.choose(wanted, agent.as_deref(), last).await?;
        let input = PromptInput {
            text: args.prompt.join(" "),
            agent,
            model,
            variant,
            files,
            discard_reverted: args.discard_reverted,
        };
        Ok(Start { target, input })
    }

    pub async fn begin(self, sessions: &Sessions) -> Outcome<(Session, MessageId)> {
        match self.target {
            Target::New(directory) => {
                let project = sessions.open_project(&directory).await?;
                let folder = directory.display().to_string();
                let begun = sessions
                    .create_with_prompt(&project, &folder, Author::Person, self.input)
                    .await;
                Ok(begun?)
            }
            Target::Existing(session) => {
                let prompt = sessions.prompt(&session.id, self.input).await?;
                Ok((*session, prompt))
            }
        }
    }
}

async fn target(
    sessions: &Sessions,
    directory: &Path,
    args: &RunArgs,
) -> Outcome<(Target, Project)> {
    if let Some(id) = &args.session {
        let session = sessions.get(id).await?;
        let project = match sessions.project(&session.project_id).await {
            Ok(project) => project,
            Err(_) => sessions.project_at(session.directory.as_ref()).await?,
        };
        return Ok((Target::Existing(Box::new(session)), project));
    }
    let project = sessions.project_at(directory).await?;
    if !args.continue_last {
        return Ok((Target::New(directory.canonicalize()?), project));
    }
    let session = last_in_checkout(sessions, &project).await?;
    Ok((Target::Existing(Box::new(session)), project))
}

/// The last session in this checkout. Other clones and worktrees belong to the same project, but
/// their sessions work in other folders.
async fn last_in_checkout(sessions: &Sessions, project: &Project) -> Outcome<Session> {
    let mut found = sessions.list(project).await?;
    found.retain(|one| one.parent_id.is_none());
    for session in &found {
        if sessions.worktree(session).await? == Path::new(&project.worktree) {
            return Ok(session.clone());
        }
    }
    let elsewhere = found.first().map(|one| {
        let (folder, id) = (&one.directory, &one.id);
        texts::session_elsewhere(folder, id)
    });
    let elsewhere = elsewhere.unwrap_or_default();
    Err(texts::no_session(&elsewhere).into())
}

fn attachment(path: &Path) -> Outcome<PromptFile> {
    let found = path.canonicalize();
    let found = found.map_err(|error| format!("{}: {error}", path.display()))?;
    let url = Url::from_file_path(&found);
    let url = url.map_err(|()| texts::not_attached(path.display()))?;
    Ok(PromptFile {
        url: url.into(),
        ..PromptFile::default()
    })
}

/// The requested agent, which must exist; otherwise the agent of the newest prompt, if it still
/// exists.
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
    Err(texts::no_agent(&wanted, &names).into())
}
