//! Parts of messages as what an editor draws. Pure, but for what was already sent of a part.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema as acp;
use lathe_protocol::ipc::CommandView;
use lathe_protocol::{
    FileDiff, FilePart, Map, Message, MessageId, MessageWithParts, Part, PartId, Session, Todo,
    ToolPart, ToolState,
};
use lathe_session::bus::Delta;
use lathe_session::data_url;
use serde_json::Value;

/// What was sent to the editor of one session.
pub struct Drawing {
    directory: PathBuf,
    /// The messages of the agent; what the person wrote is on the editor's screen already.
    answers: HashSet<MessageId>,
    /// Bytes of each text that were sent, and whether it is reasoning.
    texts: HashMap<PartId, Streamed>,
    /// The calls, and whether their end was sent.
    calls: HashMap<PartId, bool>,
}

struct Streamed {
    sent: usize,
    is_reasoning: bool,
}

impl Drawing {
    pub fn new(session: &Session) -> Self {
        Drawing {
            directory: PathBuf::from(&session.directory),
            answers: HashSet::new(),
            texts: HashMap::new(),
            calls: HashMap::new(),
        }
    }

    /// A message of the past, also of the person.
    pub fn whole(&mut self, message: &MessageWithParts) -> Vec<acp::SessionUpdate> {
        self.note(&message.info);
        if let Message::Assistant(_) = &message.info {
            return message
                .parts
                .iter()
                .flat_map(|part| self.part(part))
                .collect();
        }
        let shown = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) if text.synthetic != Some(true) && text.ignored != Some(true) => {
                Some(acp::ContentBlock::from(text.text.clone()))
            }
            Part::File(file) => Some(file_block(file)),
            _ => None,
        });
        let id = message.info.id().to_string();
        let chunk =
            |block| acp::ContentChunk::new(block).message_id(acp::MessageId::from(id.clone()));
        shown
            .map(|block| acp::SessionUpdate::UserMessageChunk(chunk(block)))
            .collect()
    }

    /// Takes note of who wrote a message.
    pub fn note(&mut self, info: &Message) {
        if let Message::Assistant(answer) = info
            && answer.summary != Some(true)
        {
            self.answers.insert(answer.id.clone());
        }
    }

    pub fn delta(&mut self, delta: &Delta) -> Option<acp::SessionUpdate> {
        let streamed = self.texts.get_mut(&delta.part_id)?;
        // What came before it is sent with the whole part.
        if streamed.sent != delta.at {
            return None;
        }
        streamed.sent += delta.text.len();
        let is_reasoning = streamed.is_reasoning;
        Some(chunk(&delta.message_id, delta.text.clone(), is_reasoning))
    }

    pub fn part(&mut self, part: &Part) -> Vec<acp::SessionUpdate> {
        if !self.answers.contains(part.message_id()) {
            return Vec::new();
        }
        match part {
            Part::Text(text) if text.ignored != Some(true) => {
                self.text(&text.id, &text.message_id, &text.text, false)
            }
            Part::Reasoning(reasoning) => {
                self.text(&reasoning.id, &reasoning.message_id, &reasoning.text, true)
            }
            Part::Tool(tool) => self.call(tool).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// What is new of a text.
    fn text(
        &mut self,
        id: &PartId,
        message: &MessageId,
        text: &str,
        is_reasoning: bool,
    ) -> Vec<acp::SessionUpdate> {
        let streamed = self.texts.entry(id.clone()).or_insert(Streamed {
            sent: 0,
            is_reasoning,
        });
        let new = text.get(streamed.sent..).unwrap_or_default();
        streamed.sent = streamed.sent.max(text.len());
        match new.is_empty() {
            true => Vec::new(),
            false => vec![chunk(message, new.to_owned(), is_reasoning)],
        }
    }

    fn call(&mut self, tool: &ToolPart) -> Option<acp::SessionUpdate> {
        let is_settled = tool.state().is_settled();
        let before = self.calls.insert(tool.id.clone(), is_settled);
        if before == Some(true) {
            return None;
        }
        let fields = self.fields(tool);
        if before.is_some() {
            let update = acp::ToolCallUpdate::new(tool.call_id.clone(), fields);
            return Some(acp::SessionUpdate::ToolCallUpdate(update));
        }
        let title = fields.title.unwrap_or_else(|| tool.tool.clone());
        let call = acp::ToolCall::new(tool.call_id.clone(), title)
            .name(tool.tool.clone())
            .kind(kind(&tool.tool))
            .status(fields.status.unwrap_or_default())
            .content(fields.content.unwrap_or_default())
            .locations(fields.locations.unwrap_or_default())
            .raw_input(fields.raw_input);
        Some(acp::SessionUpdate::ToolCall(call))
    }

    fn fields(&self, tool: &ToolPart) -> acp::ToolCallUpdateFields {
        let state = tool.state();
        let input = state.input();
        let mut fields = acp::ToolCallUpdateFields::new()
            .title(title(tool))
            .locations(self.locations(input));
        if !input.is_empty() {
            fields = fields.raw_input(Value::Object(input.clone()));
        }
        match state {
            ToolState::Pending(_) => fields.status(acp::ToolCallStatus::Pending),
            ToolState::Running(running) => {
                let content = running.metadata.as_ref();
                let content = content.map(|metadata| self.live_content(metadata));
                fields
                    .status(acp::ToolCallStatus::InProgress)
                    .content(content.filter(|content| !content.is_empty()))
            }
            ToolState::Completed(done) => {
                let mut content = self.diffs(&done.metadata);
                if content.is_empty() && !done.output.is_empty() {
                    content.push(acp::ToolCallContent::from(done.output.clone()));
                }
                let files = done.attachments.iter().flatten();
                content.extend(files.map(|file| {
                    acp::ToolCallContent::Content(acp::Content::new(file_block(file)))
                }));
                fields
                    .status(acp::ToolCallStatus::Completed)
                    .content(content)
            }
            ToolState::Error(failed) => fields
                .status(acp::ToolCallStatus::Failed)
                .content(vec![acp::ToolCallContent::from(failed.error.clone())]),
        }
    }

    /// What a call that runs shows: the change it makes, or its output so far.
    fn live_content(&self, metadata: &Map) -> Vec<acp::ToolCallContent> {
        let diffs = self.diffs(metadata);
        let output = metadata.get("output").and_then(Value::as_str);
        match output {
            Some(output) if diffs.is_empty() && !output.is_empty() => {
                vec![acp::ToolCallContent::from(output.to_owned())]
            }
            _ => diffs,
        }
    }

    /// The changes of files that a call or a request for permission names.
    pub fn diffs(&self, metadata: &Map) -> Vec<acp::ToolCallContent> {
        let one = metadata.get("filediff").into_iter();
        let many = metadata.get("files").and_then(Value::as_array);
        let diffs = one.chain(many.into_iter().flatten());
        let diffs = diffs.filter_map(|diff| serde_json::from_value(diff.clone()).ok());
        diffs.filter_map(|diff| self.diff(diff)).collect()
    }

    /// A change that is too long is stored without its texts, and is not drawn.
    fn diff(&self, diff: FileDiff) -> Option<acp::ToolCallContent> {
        let (before, after) = (diff.before?, diff.after?);
        let is_new = diff.status == Some(lathe_protocol::FileStatus::Added);
        let drawn = acp::Diff::new(self.directory.join(&diff.file), after);
        Some(drawn.old_text((!is_new).then_some(before)).into())
    }

    fn locations(&self, input: &Map) -> Vec<acp::ToolCallLocation> {
        let named = ["filePath", "path"]
            .iter()
            .find_map(|key| input.get(*key)?.as_str());
        let line = input.get("offset").and_then(Value::as_u64);
        let line = line.and_then(|line| u32::try_from(line).ok());
        let location = |path: &str| {
            let path = self.directory.join(Path::new(path));
            acp::ToolCallLocation::new(path).line(line.filter(|line| *line > 0))
        };
        named.map(location).into_iter().collect()
    }
}

fn title(tool: &ToolPart) -> String {
    let shown = match tool.state() {
        ToolState::Running(running) => running.title.clone(),
        ToolState::Completed(done) => Some(done.title.clone()),
        _ => None,
    };
    let input = tool.state().input();
    let named = || {
        let keys = [
            "command",
            "filePath",
            "pattern",
            "description",
            "url",
            "path",
        ];
        let found = keys.iter().find_map(|key| input.get(*key)?.as_str());
        found.map(|found| format!("{} {found}", tool.tool))
    };
    shown
        .filter(|shown| !shown.is_empty())
        .or_else(named)
        .unwrap_or_else(|| tool.tool.clone())
}

pub fn kind(tool: &str) -> acp::ToolKind {
    match tool {
        "read" | "list" => acp::ToolKind::Read,
        "glob" | "grep" => acp::ToolKind::Search,
        "edit" | "write" | "apply_patch" => acp::ToolKind::Edit,
        "bash" => acp::ToolKind::Execute,
        "webfetch" => acp::ToolKind::Fetch,
        "todowrite" | "todoread" => acp::ToolKind::Think,
        "plan_enter" | "plan_exit" => acp::ToolKind::SwitchMode,
        _ => acp::ToolKind::Other,
    }
}

fn chunk(message: &MessageId, text: String, is_reasoning: bool) -> acp::SessionUpdate {
    let id = acp::MessageId::from(message.to_string());
    let chunk = acp::ContentChunk::new(acp::ContentBlock::from(text)).message_id(id);
    match is_reasoning {
        true => acp::SessionUpdate::AgentThoughtChunk(chunk),
        false => acp::SessionUpdate::AgentMessageChunk(chunk),
    }
}

fn file_block(file: &FilePart) -> acp::ContentBlock {
    let name = file.filename.clone().unwrap_or_else(|| "file".to_owned());
    let is_picture = file.mime.starts_with("image/");
    let base64 = file.url.split_once(";base64,");
    match base64 {
        Some((_, data)) if is_picture => {
            acp::ContentBlock::Image(acp::ImageContent::new(data, file.mime.clone()))
        }
        Some(_) => {
            let text = data_url::decode(&file.url);
            let text = text.and_then(|decoded| String::from_utf8(decoded.bytes).ok());
            acp::ContentBlock::from(text.unwrap_or(name))
        }
        None => {
            let link = acp::ResourceLink::new(name, file.url.clone());
            acp::ContentBlock::ResourceLink(link.mime_type(file.mime.clone()))
        }
    }
}

pub fn plan(todos: &[Todo]) -> acp::SessionUpdate {
    let entries = todos.iter().map(|todo| {
        let priority = match todo.priority.as_deref() {
            Some("high") => acp::PlanEntryPriority::High,
            Some("low") => acp::PlanEntryPriority::Low,
            _ => acp::PlanEntryPriority::Medium,
        };
        let status = match todo.status.as_str() {
            "in_progress" => acp::PlanEntryStatus::InProgress,
            "completed" | "cancelled" => acp::PlanEntryStatus::Completed,
            _ => acp::PlanEntryStatus::Pending,
        };
        acp::PlanEntry::new(todo.content.clone(), priority, status)
    });
    acp::SessionUpdate::Plan(acp::Plan::new(entries.collect()))
}

pub fn commands(commands: &[CommandView]) -> acp::SessionUpdate {
    let commands = commands.iter().map(|command| {
        let hint = command
            .hint
            .clone()
            .unwrap_or_else(|| "arguments".to_owned());
        let input =
            acp::AvailableCommandInput::Unstructured(acp::UnstructuredCommandInput::new(hint));
        acp::AvailableCommand::new(command.name.clone(), command.description.clone()).input(input)
    });
    let update = acp::AvailableCommandsUpdate::new(commands.collect());
    acp::SessionUpdate::AvailableCommandsUpdate(update)
}

/// Says that tool servers of the editor are not used: what a project may start is decided here.
pub fn unused_servers(servers: &[acp::McpServer]) -> acp::SessionUpdate {
    let names = servers.iter().filter_map(|server| {
        let server = serde_json::to_value(server).ok()?;
        Some(server.get("name")?.as_str()?.to_owned())
    });
    let names: Vec<_> = names.collect();
    let text = format!(
        "Lathe does not use the MCP servers of the editor ({}). To use them, add them in Lathe.",
        names.join(", ")
    );
    acp::SessionUpdate::AgentMessageChunk(acp::ContentChunk::new(acp::ContentBlock::from(text)))
}
