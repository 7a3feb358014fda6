//! The requests of an editor about sessions: new, load, list, modes, prompts, cancel.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client, Error};
use lathe_protocol::ipc::{AgentMode, AgentView, CommandView};
use lathe_protocol::{Project, Session, SessionId};
use lathe_session::{Failed, Sessions};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::prompt;
use crate::turn::{self, Editor};
use crate::updates::{self, Drawing};

/// Sessions in one answer to a list; the next ones are asked for with a cursor.
const LISTED: usize = 100;
/// Messages that are read at once when a session is loaded.
const LOADED: usize = 200;

pub struct Agent {
    pub sessions: Sessions,
    /// The agent that the person chose for the next prompts of a session.
    modes: Mutex<HashMap<SessionId, String>>,
    /// What stops the prompts that are not answered yet, by their sessions.
    running: Arc<Mutex<Tokens>>,
}

type Tokens = HashMap<acp::SessionId, Vec<Arc<CancellationToken>>>;

/// A prompt that is not answered yet, also while it is only prepared.
pub struct Running {
    cancel: Arc<CancellationToken>,
    session: acp::SessionId,
    all: Arc<Mutex<Tokens>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(tokens) = all.get_mut(&self.session) {
            tokens.retain(|token| !Arc::ptr_eq(token, &self.cancel));
            if tokens.is_empty() {
                all.remove(&self.session);
            }
        }
    }
}

pub fn capabilities() -> acp::InitializeResponse {
    let prompts = acp::PromptCapabilities::new()
        .image(true)
        .embedded_context(true);
    let listing = acp::SessionListCapabilities::new();
    let sessions = acp::SessionCapabilities::new().list(listing);
    let capabilities = acp::AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(prompts)
        .session_capabilities(sessions);
    let info =
        acp::Implementation::new("lathe", env!("CARGO_PKG_VERSION")).title("Lathe".to_owned());
    acp::InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(info)
}

impl Agent {
    pub fn new(sessions: Sessions) -> Self {
        Agent {
            sessions,
            modes: Mutex::default(),
            running: Arc::default(),
        }
    }

    /// From here on a cancel stops the prompt.
    pub fn note_prompt(&self, session: &acp::SessionId) -> Running {
        let cancel = Arc::new(CancellationToken::new());
        let mut all = self.running.lock();
        let tokens = all.entry(session.clone()).or_default();
        tokens.push(cancel.clone());
        Running {
            cancel,
            session: session.clone(),
            all: self.running.clone(),
        }
    }

    pub async fn new_session(
        &self,
        request: acp::NewSessionRequest,
    ) -> Result<(acp::NewSessionResponse, Session), Error> {
        let folder = folder(&request.cwd)?;
        let project = self.sessions.open_project(&request.cwd).await;
        let project = project.map_err(failed)?;
        let session = self.sessions.create_in(&project, folder, None).await;
        let session = session.map_err(failed)?;
        let modes = self.modes(&session, &project).await?;
        let answer = acp::NewSessionResponse::new(session.id.to_string()).modes(modes);
        Ok((answer, session))
    }

    /// Sends the whole conversation, oldest first, and then answers.
    pub async fn load_session(
        &self,
        request: acp::LoadSessionRequest,
        connection: &ConnectionTo<Client>,
    ) -> Result<(acp::LoadSessionResponse, Session), Error> {
        let session = self.session(&request.session_id).await?;
        let editor = Editor::new(connection.clone(), &session);
        let mut drawing = Drawing::new(&session);
        // Pages are read from the newest back.
        let mut pages = Vec::new();
        let mut before = None;
        loop {
            let page = self.sessions.messages(&session.id, before.as_ref(), LOADED);
            let page = page.await.map_err(failed)?;
            before = page.messages.first().map(|oldest| oldest.info.id().clone());
            let has_older = page.has_older;
            pages.push(page.messages);
            if !has_older {
                break;
            }
        }
        for message in pages.into_iter().rev().flatten() {
            for update in drawing.whole(&message) {
                editor.send(update)?;
            }
        }
        let todos = self.sessions.todos(&session.id).await.map_err(failed)?;
        if !todos.is_empty() {
            editor.send(updates::plan(&todos))?;
        }
        let project = self.project(&session).await?;
        let modes = self.modes(&session, &project).await?;
        Ok((acp::LoadSessionResponse::new().modes(modes), session))
    }

    /// What an editor shows beside a session that it has just opened.
    pub async fn announce(
        &self,
        connection: &ConnectionTo<Client>,
        session: &Session,
        servers: &[acp::McpServer],
    ) -> Result<(), Error> {
        let editor = Editor::new(connection.clone(), session);
        if !servers.is_empty() {
            editor.send(updates::unused_servers(servers))?;
        }
        let commands = match self.project(session).await {
            Ok(project) => self.sessions.commands(&project).await.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        editor.send(updates::commands(&commands))
    }

    pub async fn list_sessions(
        &self,
        request: acp::ListSessionsRequest,
    ) -> Result<acp::ListSessionsResponse, Error> {
        let sessions = match &request.cwd {
            Some(cwd) => {
                folder(cwd)?;
                let project = self.sessions.project_at(cwd).await.map_err(failed)?;
                self.sessions.list(&project).await
            }
            None => self.sessions.list_all().await,
        };
        let mut sessions = sessions.map_err(failed)?;
        sessions.retain(|session| session.parent_id.is_none() && session.time.archived.is_none());
        let begin = match &request.cursor {
            None => 0,
            Some(cursor) => {
                let last = sessions.iter().position(|one| one.id.as_str() == cursor);
                last.map_or(sessions.len(), |last| last + 1)
            }
        };
        let page = &sessions[begin..sessions.len().min(begin + LISTED)];
        let listed = page.iter().map(|session| {
            let time = jiff::Timestamp::from_millisecond(session.time.updated.0);
            acp::SessionInfo::new(session.id.to_string(), &session.directory)
                .title(session.title.clone())
                .updated_at(time.ok().map(|time| time.to_string()))
        });
        let more = page.last().filter(|_| begin + LISTED < sessions.len());
        let cursor = more.map(|last| last.id.to_string());
        Ok(acp::ListSessionsResponse::new(listed.collect()).next_cursor(cursor))
    }

    pub async fn set_mode(
        &self,
        request: acp::SetSessionModeRequest,
    ) -> Result<acp::SetSessionModeResponse, Error> {
        let session = self.session(&request.session_id).await?;
        let project = self.project(&session).await?;
        let wanted = request.mode_id.0.to_string();
        let agents = self.choosable(&project).await?;
        if !agents.iter().any(|agent| agent.name == wanted) {
            return Err(refused(format!("There is no mode {wanted}")));
        }
        self.modes.lock().insert(session.id, wanted);
        Ok(acp::SetSessionModeResponse::new())
    }

    pub async fn prompt(
        &self,
        request: acp::PromptRequest,
        running: &Running,
        connection: ConnectionTo<Client>,
    ) -> Result<acp::PromptResponse, Error> {
        let session = self.session(&request.session_id).await?;
        let mut input = prompt::read(request.prompt)?;
        input.agent = Some(self.current_mode(&session).await?);
        let command = self.command(&session, &input.text).await?;
        let editor = Editor::new(connection, &session);
        let turn = turn::Turn::begin(&self.sessions, session, editor);
        turn.run(input, command, &running.cancel).await
    }

    /// Ends the turn, and the prompts from which none has come yet. They are then answered.
    pub async fn cancel(&self, cancelled: &acp::CancelNotification) {
        for cancel in self
            .running
            .lock()
            .get(&cancelled.session_id)
            .into_iter()
            .flatten()
        {
            cancel.cancel();
        }
        if let Ok(session) = self.session(&cancelled.session_id).await {
            self.sessions.abort(&session.id).await;
        }
    }

    async fn session(&self, id: &acp::SessionId) -> Result<Session, Error> {
        let id = SessionId::parse(&id.0).map_err(|error| refused(error.to_string()))?;
        self.sessions.get(&id).await.map_err(failed)
    }

    async fn project(&self, session: &Session) -> Result<Project, Error> {
        let project = self.sessions.project_at(session.directory.as_ref()).await;
        project.map_err(failed)
    }

    /// The command that a prompt begins with, and its arguments.
    async fn command(
        &self,
        session: &Session,
        text: &str,
    ) -> Result<Option<(CommandView, String)>, Error> {
        let Some(line) = text.strip_prefix('/') else {
            return Ok(None);
        };
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let project = self.project(session).await?;
        let commands = self.sessions.commands(&project).await.map_err(failed)?;
        let found = commands.into_iter().find(|command| command.name == name);
        Ok(found.map(|command| (command, arguments.to_owned())))
    }

    /// The agents that a person may choose; the usual one first.
    async fn choosable(&self, project: &Project) -> Result<Vec<AgentView>, Error> {
        let mut agents = self.sessions.agents(project).await.map_err(failed)?;
        agents.retain(|agent| agent.mode != AgentMode::Subagent);
        agents.sort_by_key(|agent| !agent.default);
        Ok(agents)
    }

    async fn modes(
        &self,
        session: &Session,
        project: &Project,
    ) -> Result<acp::SessionModeState, Error> {
        let agents = self.choosable(project).await?;
        let current = self.current_mode(session).await?;
        let modes = agents.into_iter().map(|agent| {
            let description = Some(agent.description).filter(|text| !text.is_empty());
            acp::SessionMode::new(agent.name.clone(), agent.name).description(description)
        });
        Ok(acp::SessionModeState::new(current, modes.collect()))
    }

    /// What was chosen, else the agent of the newest prompt, else the usual one.
    async fn current_mode(&self, session: &Session) -> Result<String, Error> {
        let chosen = self.modes.lock().get(&session.id).cloned();
        if let Some(chosen) = chosen {
            return Ok(chosen);
        }
        let project = self.project(session).await?;
        let agents = self.choosable(&project).await?;
        let newest = self.sessions.newest_prompt(session).await.map_err(failed)?;
        let used = newest.and_then(|prompt| prompt.agent);
        let used = used.filter(|used| agents.iter().any(|agent| agent.name == *used));
        let usual = || agents.first().map(|agent| agent.name.clone());
        used.or_else(usual)
            .ok_or_else(|| refused("There is no agent".to_owned()))
    }
}

/// The folder as text; editors name it in full.
fn folder(path: &Path) -> Result<&str, Error> {
    let text = path
        .to_str()
        .filter(|_| path.is_absolute() && path.is_dir());
    text.ok_or_else(|| {
        refused(format!(
            "{} is not the full path of a folder",
            path.display()
        ))
    })
}

pub fn refused(message: String) -> Error {
    said(Error::invalid_params(), message)
}

pub fn failed(error: Failed) -> Error {
    let kind = match &error {
        Failed::Store(_) => Error::internal_error(),
        _ => Error::invalid_params(),
    };
    said(kind, error.to_string())
}

/// The error with a sentence for the person: editors show the message.
pub fn said(mut error: Error, message: String) -> Error {
    error.message = message;
    error
}
