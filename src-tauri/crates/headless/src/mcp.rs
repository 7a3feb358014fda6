//! `lathectl mcp`: the sessions as an MCP server over standard input and output.
//!
//! Other agents search and read them. Only with `--allow-ask` may they also ask the agent here,
//! and what it would have to ask a person about is then rejected, because there is none.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use futures::{Sink, Stream, sink, stream};
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Event, MessageId, Part, SessionId, SessionStatus};
use lathe_session::bus::{BusItem, Notification};
use lathe_session::{Answer, Author, Sessions};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::run::turn_result;
use crate::serve::until_signal;
use crate::{Outcome, output, show};

const USUAL_HITS: usize = 20;
const MOST_HITS: usize = 200;
const USUAL_MESSAGES: usize = 20;
const MOST_MESSAGES: usize = 200;
/// How far back the answer to a question is looked for.
const ANSWER_TAIL: usize = 100;

pub async fn mcp(sessions: &Sessions, directory: &Path, may_ask: bool) -> Outcome {
    let server = Server {
        sessions: sessions.clone(),
        directory: std::path::absolute(directory)?,
        may_ask,
    };
    let running = server.serve((messages_out(), messages_in()));
    tokio::select! {
        ended = async { running.await?.waiting().await.map_err(Box::<dyn std::error::Error>::from) } => { ended?; }
        () = until_signal()? => {}
    }
    sessions.close().await;
    Ok(ExitCode::SUCCESS)
}

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// One message a line. A thread reads them, which the end of the program does not wait for.
fn messages_in() -> impl Stream<Item = Incoming> + Send + Unpin {
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str(&line) {
                Ok(message) => {
                    if sender.blocking_send(message).is_err() {
                        break;
                    }
                }
                Err(error) => tracing::warn!(%error, "a line is not a message"),
            }
        }
    });
    Box::pin(stream::unfold(receiver, async |mut receiver| {
        let message: Incoming = receiver.recv().await?;
        Some((message, receiver))
    }))
}

fn messages_out() -> impl Sink<Outgoing, Error = io::Error> + Send + Unpin {
    Box::pin(sink::unfold((), async |(), message: Outgoing| {
        output::json_line(&message)?;
        output::flush()
    }))
}

struct Server {
    sessions: Sessions,
    directory: PathBuf,
    may_ask: bool,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct Read {
    session: String,
    before: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct Ask {
    prompt: String,
    session: Option<String>,
    agent: Option<String>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(tools)
            .with_server_info(Implementation::new("lathe", env!("CARGO_PKG_VERSION")))
            .with_instructions("The person's earlier sessions with coding agents.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![search_tool(), read_tool()];
        if self.may_ask {
            tools.push(ask_tool());
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = Value::Object(request.arguments.unwrap_or_default());
        let said = match &*request.name {
            "search" => self.search(parse(input)?).await,
            "read" => self.read(parse(input)?).await,
            "ask" if self.may_ask => self.ask(parse(input)?).await,
            other => {
                let message = format!("there is no tool {other}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let content = |text: String| vec![ContentBlock::text(text)];
        Ok(match said {
            Ok(text) => CallToolResult::success(content(text)).into(),
            Err(error) => CallToolResult::error(content(error.to_string())).into(),
        })
    }
}

type Said = Result<String, Box<dyn std::error::Error + Send + Sync>>;

impl Server {
    async fn search(&self, input: Search) -> Said {
        self.sessions.index_all().await?;
        let limit = input.limit.unwrap_or(USUAL_HITS).min(MOST_HITS);
        let found = self.sessions.search_text(&input.query, limit).await?;
        let lines = found.hits.iter().map(|hit| {
            let snippet: String = hit
                .snippet
                .iter()
                .map(|piece| piece.text.as_str())
                .collect();
            let (session, message) = (&hit.session_id, &hit.message_id);
            let day = hit.at.date();
            format!("{session} {message} {day} {}\n  {snippet}", hit.title)
        });
        let lines: Vec<_> = lines.collect();
        Ok(match lines.is_empty() {
            true => "Nothing was found.".to_owned(),
            false => lines.join("\n"),
        })
    }

    /// The newest messages before one of them, oldest first.
    async fn read(&self, input: Read) -> Said {
        let id = SessionId::parse(&input.session)?;
        let session = self.sessions.get(&id).await?;
        let before = input.before.as_deref().map(MessageId::parse).transpose()?;
        let limit = input
            .limit
            .unwrap_or(USUAL_MESSAGES)
            .clamp(1, MOST_MESSAGES);
        let page = self.sessions.messages(&id, before.as_ref(), limit).await?;
        let mut text = format!("{} ({})\n", session.title, session.directory);
        if let Some(oldest) = page.messages.first().filter(|_| page.has_older) {
            text.push_str(&format!("There is more before {}.\n", oldest.info.id()));
        }
        for message in &page.messages {
            text.push_str(&format!("\n{}", show::as_text(message)));
        }
        Ok(text)
    }

    /// Sends a prompt, waits for the end of the turn, and returns the answer's text.
    async fn ask(&self, input: Ask) -> Said {
        let prompt = PromptInput {
            text: input.prompt,
            agent: input.agent,
            ..PromptInput::default()
        };
        let mut events = self.sessions.subscribe();
        let id = match input.session.as_deref().map(SessionId::parse).transpose()? {
            Some(id) => {
                self.sessions.prompt_by(Author::Agent, &id, prompt).await?;
                id
            }
            None => {
                let project = self.sessions.open_project(&self.directory).await?;
                let folder = self.directory.display().to_string();
                let sessions = &self.sessions;
                let begun = sessions.create_with_prompt(&project, &folder, Author::Agent, prompt);
                begun.await?.0.id
            }
        };
        while let Some(item) = events.next().await {
            self.reject_requests().await;
            let is_idle = || self.sessions.status(&id) == SessionStatus::Idle;
            let ended = match &item {
                BusItem::Missed => is_idle(),
                BusItem::Notification(numbered) => match &numbered.notification {
                    Notification::Event(event) => match &**event {
                        Event::SessionIdle { session_id } => *session_id == id && is_idle(),
                        Event::SessionDeleted { info } => info.id == id,
                        _ => false,
                    },
                    _ => false,
                },
            };
            if ended {
                break;
            }
        }
        let page = self.sessions.messages(&id, None, ANSWER_TAIL).await?;
        let newest = page.messages.last();
        turn_result::check(newest).map_err(|why| format!("{id}: {why}"))?;
        let parts = newest
            .map(|newest| newest.parts.as_slice())
            .unwrap_or_default();
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        Ok(format!("{}\n\n(session {id})", texts.join("\n\n")))
    }

    /// All turns of this process were started from here.
    async fn reject_requests(&self) {
        for request in self.sessions.permissions() {
            let message = Some("No person is connected who could allow it.".to_owned());
            let answer = Answer::Reject { message };
            if let Err(error) = self.sessions.answer_permission(&request.id, answer).await {
                tracing::debug!(%error, "a permission was already answered");
            }
        }
        for request in self.sessions.questions() {
            if let Err(error) = self.sessions.dismiss_question(&request.id) {
                tracing::debug!(%error, "a question was already answered");
            }
        }
    }
}

fn parse<T: DeserializeOwned>(input: Value) -> Result<T, ErrorData> {
    let read = serde_json::from_value(input);
    read.map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

fn search_tool() -> Tool {
    let properties = json!({
        "query": { "type": "string", "description": "Words that must all stand in a message" },
        "limit": { "type": "integer", "minimum": 1, "maximum": MOST_HITS },
    });
    let about = "Search the text of all sessions. Each hit has the ids of its session and message.";
    read_only("search", about, properties, &["query"])
}

fn read_tool() -> Tool {
    let properties = json!({
        "session": { "type": "string", "description": "The id of a session" },
        "before": { "type": "string", "description": "Only messages before this one" },
        "limit": { "type": "integer", "minimum": 1, "maximum": MOST_MESSAGES },
    });
    let about = "Read the newest messages of a session, or those before a message.";
    read_only("read", about, properties, &["session"])
}

fn ask_tool() -> Tool {
    let properties = json!({
        "prompt": { "type": "string" },
        "session": { "type": "string", "description": "Continue this session; a new one if left out" },
        "agent": { "type": "string", "description": "Who answers, such as plan" },
    });
    let about = "Ask the coding agent and wait for its answer. What needs a person's permission is rejected.";
    Tool::new("ask", about, schema(properties, &["prompt"]))
}

fn read_only(
    name: &'static str,
    about: &'static str,
    properties: Value,
    required: &[&str],
) -> Tool {
    let hints = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, about, schema(properties, required)).annotate(hints)
}

fn schema(properties: Value, required: &[&str]) -> Arc<Map<String, Value>> {
    Arc::new(Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties),
        ("required".to_owned(), json!(required)),
    ]))
}
