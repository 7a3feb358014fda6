//! `/` commands: turns a template into a prompt.

use std::sync::Arc;

use lathe_protocol::ipc::{CommandView, PromptInput};
use lathe_protocol::{Event, MessageId, Project, Session, SessionId};
use lathe_tools::bash::Bash;
use lathe_tools::{DynTool, ToolContext};
use serde_json::json;

use super::Sessions;
use crate::prompt::{Author, Chosen, NewSubtask, Prompt, PromptHost, tool_context};
use lathe_permission::Gate;
use lathe_records::{Failed, Result};
use lathe_workspace::agents::Mode;
use lathe_workspace::commands::{Command, Piece};
use lathe_workspace::setup::Setup;

/// The agent of a subtask if the command names none.
const DEFAULT_AGENT: &str = "general";

impl Sessions {
    pub async fn commands(&self, project: &Project) -> Result<Vec<CommandView>> {
        let setup = self.core.workspace.setup_of(project).await;
        Ok(setup.commands.iter().map(Command::view).collect())
    }

    /// Fills the command's template with the arguments and sends it. The command's agent and
    /// model override the input's.
    pub async fn run_command(
        &self,
        id: &SessionId,
        name: &str,
        arguments: &str,
        input: PromptInput,
    ) -> Result<MessageId> {
        let prompt = Prompt::by(Author::Person, input);
        self.send_command(id, name, arguments, prompt).await
    }

    /// The same for a client, with ids that it chose.
    pub async fn run_command_as(
        &self,
        id: &SessionId,
        name: &str,
        arguments: &str,
        input: PromptInput,
        chosen: Chosen,
    ) -> Result<MessageId> {
        let prompt = Prompt {
            chosen,
            ..Prompt::by(Author::Client, input)
        };
        self.send_command(id, name, arguments, prompt).await
    }

    async fn send_command(
        &self,
        id: &SessionId,
        name: &str,
        arguments: &str,
        prompt: Prompt,
    ) -> Result<MessageId> {
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = self.core.workspace.setup(&session, &project).await;
        let command = setup.command(name);
        let command = command.ok_or_else(|| Failed::missing("command", name))?;
        if let Some(agent) = &command.agent
            && setup.agents.find(agent).is_none()
        {
            let message = format!("/{name} is for the agent {agent}, which does not exist");
            return Err(Failed::refused(message));
        }
        let agent = command.agent.clone().or_else(|| prompt.input.agent.clone());
        let pieces = command.template.fill(arguments);
        let text = self.expand(
            &setup,
            &session,
            &project,
            command,
            agent.as_deref(),
            pieces,
        );
        let text = text.await?;
        let prompt = build_prompt(command, &setup, agent, text, prompt);
        let message_id = self.submit(id, prompt).await?;
        self.core.records.publish(Event::CommandExecuted {
            name: name.to_owned(),
            session_id: id.clone(),
            arguments: arguments.to_owned(),
            message_id: message_id.clone(),
        });
        Ok(message_id)
    }

    /// Runs the template's shell commands one after the other, each with the usual permission.
    async fn expand(
        &self,
        setup: &Setup,
        session: &Session,
        project: &Project,
        command: &Command,
        agent: Option<&str>,
        pieces: Vec<Piece>,
    ) -> Result<String> {
        let core = &self.core;
        let agent = setup.agents.get(agent);
        let authority = core.authority(setup, project, session, &agent).await?;
        let gate = Gate::new(
            &core.permissions,
            Arc::new(authority),
            session,
            project,
            None,
        );
        let host = PromptHost::Asking(gate);
        let message = core.records.ids().message(core.records.now());
        let runs = pieces.iter().any(|piece| matches!(piece, Piece::Shell(_)));
        // It is shown as work, so that the person can stop it.
        let preparation = runs.then(|| core.active.prepare_shown(&session.id));
        let mut cx = tool_context(core, session, project, message, host);
        if let Some(preparation) = &preparation {
            cx.cancel = preparation.cancel.clone();
        }
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(words) => text.push_str(&words),
                Piece::Shell(_) if command.is_untrusted => {
                    let message = format!(
                        "/{} would run a command of this project, which you have not trusted",
                        command.name
                    );
                    return Err(Failed::refused(message));
                }
                Piece::Shell(line) => text.push_str(&run(&cx, &command.name, &line).await?),
            }
        }
        Ok(text.trim().to_owned())
    }
}

async fn run(cx: &ToolContext, name: &str, line: &str) -> Result<String> {
    let input = json!({ "command": line, "description": format!("For /{name}") });
    let ran = Bash.call(input, cx).await;
    ran.map(|output| output.output).map_err(|failure| {
        Failed::refused(format!("/{name} could not run {line:?}: {}", failure.text))
    })
}

fn build_prompt(
    command: &Command,
    setup: &Setup,
    agent: Option<String>,
    text: String,
    prompt: Prompt,
) -> Prompt {
    let input = prompt.input;
    let worker = agent.as_deref().and_then(|name| setup.agents.find(name));
    let is_subagent = worker.is_some_and(|agent| agent.mode == Mode::Subagent);
    if !command.subtask.unwrap_or(is_subagent) {
        // The input's model is for the input's agent; an agent of the command has its own.
        let named = worker.filter(|_| command.agent.is_some());
        let own = named.and_then(|agent| agent.model.clone());
        let input = PromptInput {
            text,
            agent,
            model: command.model.clone().or(own).or(input.model),
            ..input
        };
        return Prompt { input, ..prompt };
    }
    let callable = agent.filter(|name| setup.agents.callable(name).is_some());
    let description = match command.description.as_str() {
        "" => format!("/{}", command.name),
        description => description.to_owned(),
    };
    let subtask = Some(NewSubtask {
        prompt: text,
        description,
        agent: callable.unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
        model: command.model.clone(),
        command: command.name.clone(),
    });
    let input = PromptInput {
        text: String::new(),
        ..input
    };
    Prompt {
        input,
        subtask,
        ..prompt
    }
}
