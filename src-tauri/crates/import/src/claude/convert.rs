//! Converts the records of one line of a session.

use std::collections::{HashMap, HashSet};

use lathe_protocol::{Map, MessageError, MessageId, Millis, ModelRef, SessionId};
use serde_json::Value;

use super::results;
use super::tree::{Path, Tree};
use crate::lines::Jsonl;
use crate::transcript::{Call, Content, Stop, Transcript};
use crate::value::{input, is_true, list, number, text, time, tokens};
use crate::writer::Writer;

const PROVIDER: &str = "anthropic";
/// The model of messages that Claude Code wrote itself.
const SYNTHETIC: &str = "<synthetic>";
const NOTHING: &str = "it is not part of the session";

/// What belongs to a session besides its records.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The sessions of subagents, by the call that started each.
    pub children: &'a HashMap<String, SessionId>,
    /// The folder of long results.
    pub results: &'a std::path::Path,
}

struct State<'a> {
    file: &'a mut Jsonl,
    tree: &'a Tree,
    around: Around<'a>,
    cwd: String,
    model: Option<ModelRef>,
    answered: HashSet<String>,
    /// A compaction whose summary follows: its key and time, and whether it was automatic.
    boundary: Option<(String, Option<Millis>, bool)>,
}

/// Returns the first message that each record of the line became.
pub fn convert<W: Writer>(
    out: &mut Transcript<W>,
    file: &mut Jsonl,
    tree: &Tree,
    line: &Path,
    around: Around,
) -> Result<HashMap<usize, MessageId>, Stop<W::Error>> {
    let mut state = State {
        file,
        tree,
        around,
        cwd: tree.directory().to_owned(),
        model: None,
        answered: HashSet::new(),
        boundary: None,
    };
    let mut written = HashMap::new();
    // What another line has as well is counted there.
    let own = line.nodes.iter().position(|node| *node == line.first);
    let is_copy = line.leaves_at.is_some();
    for (position, node) in line.nodes.iter().enumerate() {
        out.set_counting(!is_copy || own.is_none_or(|own| position >= own));
        let before = out.newest().0;
        let record = state.file.read(tree.nodes[*node].at)?;
        state.convert(out, *node, &record)?;
        out.flush()?;
        if let (count, Some(newest)) = out.newest()
            && count > before
        {
            written.insert(*node, newest.clone());
        }
    }
    Ok(written)
}

impl State<'_> {
    fn convert<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        node: usize,
        record: &Value,
    ) -> Result<(), Stop<W::Error>> {
        let at = time(record, "timestamp");
        if let Some(cwd) = text(record, "cwd") {
            self.cwd = cwd.to_owned();
        }
        let key = text(record, "uuid").unwrap_or_default().to_owned();
        match text(record, "type").unwrap_or_default() {
            "user" => self.user(out, &key, at, record),
            "assistant" => match self.tree.nodes[node].answer.clone() {
                Some(answer) if self.answered.insert(answer.clone()) => {
                    self.answer(out, &key, &answer)
                }
                // A line of an answer that was written with its first one.
                _ => Ok(()),
            },
            "system" => self.system(out, &key, at, record),
            "attachment" => self.attachment(out, &key, at, record),
            "progress" => {
                out.leave_out("progress", NOTHING);
                Ok(())
            }
            other => {
                out.leave_out(other, "it is not known");
                Ok(())
            }
        }
    }

    fn user<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        record: &Value,
    ) -> Result<(), Stop<W::Error>> {
        let Some(message) = record.get("message") else {
            out.leave_out("user", "it has no message");
            return Ok(());
        };
        let mut content = Vec::new();
        match message.get("content") {
            Some(Value::String(text)) => content.push(Content::text(text.clone())),
            Some(Value::Array(items)) => {
                for item in items {
                    match text(item, "type").unwrap_or_default() {
                        "tool_result" => {
                            let call = text(item, "tool_use_id").unwrap_or_default();
                            if !self.tree.has_call(call) {
                                out.leave_out("tool_result", "its call is not there");
                            }
                        }
                        _ => self.content(out, item, &mut content),
                    }
                }
            }
            _ => out.leave_out("user", "it has no content"),
        }
        if is_true(record, "isCompactSummary") {
            let summary = joined(&content);
            let (key, at, auto) = match self.boundary.take() {
                Some(boundary) => boundary,
                None => (key.to_owned(), at, true),
            };
            let model = self.model();
            return out.compaction(&key, at, model, auto, summary);
        }
        if is_true(record, "isMeta") {
            for one in &mut content {
                if let Content::Text { synthetic, .. } = one {
                    *synthetic = true;
                }
            }
        }
        content.retain(|one| !matches!(one, Content::Text { text, .. } if text.is_empty()));
        content.iter_mut().for_each(read_command);
        let model = self.model.clone();
        out.user(key, at, model.as_ref(), content)
    }

    /// Text, a picture or a document.
    fn content<W: Writer>(
        &self,
        out: &mut Transcript<W>,
        item: &Value,
        content: &mut Vec<Content>,
    ) {
        match text(item, "type").unwrap_or_default() {
            "text" => content.extend(text(item, "text").map(Content::text)),
            kind @ ("image" | "document") => {
                let source = item.get("source").unwrap_or(&Value::Null);
                let mime = text(source, "media_type").unwrap_or("application/octet-stream");
                match (text(source, "type"), text(source, "data")) {
                    (Some("base64"), Some(data)) => {
                        content.push(Content::data(mime, data, text(item, "title")));
                    }
                    (Some("text"), Some(data)) => content.push(Content::text(data)),
                    _ => out.leave_out(kind, "only its address is stored"),
                }
            }
            other => out.leave_out(&format!("content {other}"), "it is not known"),
        }
    }

    fn answer<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        answer: &str,
    ) -> Result<(), Stop<W::Error>> {
        let mut usage = None;
        let mut cost = 0.0_f64;
        for (number, line) in self.tree.answer(answer).to_vec().into_iter().enumerate() {
            let record = self.file.read(self.tree.nodes[line].at)?;
            let message = record.get("message").unwrap_or(&Value::Null);
            let at = time(&record, "timestamp");
            let model = text(message, "model").unwrap_or("unknown");
            let is_synthetic = model == SYNTHETIC;
            if !is_synthetic {
                self.model = Some(ModelRef::new(PROVIDER, model));
            }
            if number == 0 {
                out.answer(key, at, self.model(), &self.cwd)?;
            }
            out.seen(at);
            let is_error = is_true(&record, "isApiErrorMessage");
            if is_error {
                let words = list(message, "content").iter();
                let words: Vec<_> = words.filter_map(|item| text(item, "text")).collect();
                let why = match words.as_slice() {
                    [] => text(&record, "error")
                        .unwrap_or("The API failed")
                        .to_owned(),
                    words => words.join("\n"),
                };
                out.set_error(MessageError::unknown(why));
                continue;
            }
            if let Some(text) = text(message, "content") {
                out.push(Content::text(text));
            }
            for item in list(message, "content") {
                self.answer_item(out, item, at)?;
            }
            if !is_synthetic {
                // Every line repeats the usage; the last one has the final number.
                usage = message.get("usage").cloned().or(usage);
                let line_cost = record.get("costUSD").and_then(Value::as_f64);
                cost = cost.max(line_cost.unwrap_or(0.0));
            }
        }
        if let Some(usage) = usage {
            let count = tokens(
                number(&usage, "input_tokens"),
                number(&usage, "output_tokens"),
                0,
                number(&usage, "cache_read_input_tokens"),
                number(&usage, "cache_creation_input_tokens"),
            );
            out.set_usage(count, cost);
        }
        out.flush()
    }

    fn answer_item<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        item: &Value,
        at: Option<Millis>,
    ) -> Result<(), Stop<W::Error>> {
        match text(item, "type").unwrap_or_default() {
            "thinking" => {
                let signature = text(item, "signature");
                let metadata = signature
                    .map(|signature| Map::from_iter([("signature".to_owned(), signature.into())]));
                let thought = text(item, "thinking").unwrap_or_default();
                out.push(Content::Reasoning(thought.to_owned(), metadata));
            }
            "redacted_thinking" => {
                let data = item.get("data").cloned().unwrap_or_default();
                let metadata = Map::from_iter([("redacted".to_owned(), data)]);
                out.push(Content::Reasoning(String::new(), Some(metadata)));
            }
            "tool_use" | "server_tool_use" => {
                let call = self.call(out, item, at)?;
                out.push(Content::Call(Box::new(call)));
            }
            // Read with its call.
            "tool_result" | "web_search_tool_result" => {}
            _ => {
                let mut content = Vec::new();
                self.content(out, item, &mut content);
                content.into_iter().for_each(|one| out.push(one));
            }
        }
        Ok(())
    }

    fn call<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        item: &Value,
        at: Option<Millis>,
    ) -> Result<Call, Stop<W::Error>> {
        let id = text(item, "id").unwrap_or_default();
        let mut call = Call {
            id: id.to_owned(),
            tool: text(item, "name").unwrap_or("unknown").to_owned(),
            input: input(item.get("input").cloned().unwrap_or_default()),
            start: at,
            compacted: self.tree.is_compacted(id),
            ..Call::default()
        };
        if let Some(child) = self.around.children.get(id) {
            call.metadata
                .insert("sessionId".to_owned(), child.as_str().into());
        }
        let Some(place) = self.tree.result(id) else {
            return Ok(call);
        };
        let record = self.file.read(place)?;
        call.end = time(&record, "timestamp");
        if let Some(extra) = record.get("toolUseResult") {
            add_details(&mut call.metadata, extra);
        }
        let items = record.pointer("/message/content");
        let items = items.and_then(Value::as_array).into_iter().flatten();
        for result in items.filter(|item| text(item, "tool_use_id") == Some(id)) {
            let mut content = Vec::new();
            match result.get("content") {
                Some(Value::String(text)) => content.push(Content::text(text.clone())),
                Some(Value::Array(items)) => {
                    for item in items {
                        match text(item, "type") {
                            Some("tool_reference" | "web_search_result") => {
                                content.push(Content::text(item.to_string()));
                            }
                            _ => self.content(out, item, &mut content),
                        }
                    }
                }
                _ => {}
            }
            let mut output = joined(&content);
            if let Some(name) = results::file_of(&output) {
                match results::read(self.around.results, name) {
                    Some(whole) => output = whole,
                    None => out.leave_out("tool_result", "the file of its text is not there"),
                }
            }
            let files = content.into_iter();
            call.attachments
                .extend(files.filter(|one| matches!(one, Content::File { .. })));
            call.result = Some(match is_true(result, "is_error") {
                true => Err(output),
                false => Ok(output),
            });
        }
        Ok(call)
    }

    fn system<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        record: &Value,
    ) -> Result<(), Stop<W::Error>> {
        match text(record, "subtype").unwrap_or("without a subtype") {
            "compact_boundary" => {
                let trigger = record.pointer("/compactMetadata/trigger");
                let auto = trigger.and_then(Value::as_str) != Some("manual");
                self.boundary = Some((key.to_owned(), at, auto));
                Ok(())
            }
            // The index has its calls.
            "microcompact_boundary" => Ok(()),
            "api_error" => {
                let error = record.get("error").unwrap_or(&Value::Null);
                let message = error.pointer("/error/error/message");
                let message = message.or(error.pointer("/error/message"));
                let message = message.and_then(Value::as_str).or(text(error, "message"));
                let why = message.or(text(record, "content"));
                let why = why.unwrap_or("The API failed").to_owned();
                out.answer(key, at, self.model(), &self.cwd)?;
                out.set_error(MessageError::unknown(why));
                out.flush()
            }
            "local_command" => {
                let mut content = vec![Content::Text {
                    text: text(record, "content").unwrap_or_default().to_owned(),
                    synthetic: true,
                    ignored: true,
                }];
                content.iter_mut().for_each(read_command);
                out.user(key, at, None, content)
            }
            other => {
                out.leave_out(&format!("system {other}"), NOTHING);
                Ok(())
            }
        }
    }

    fn attachment<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        record: &Value,
    ) -> Result<(), Stop<W::Error>> {
        let attachment = record.get("attachment").unwrap_or(&Value::Null);
        let mut content = Vec::new();
        match text(attachment, "type").unwrap_or_default() {
            "queued_command" => match attachment.get("prompt") {
                Some(Value::String(prompt)) => content.push(Content::text(prompt.clone())),
                Some(Value::Array(items)) => items
                    .iter()
                    .for_each(|item| self.content(out, item, &mut content)),
                _ => out.leave_out("attachment queued_command", "it has no text"),
            },
            "file" => {
                let name = text(attachment, "filename").unwrap_or("file");
                let file = attachment.pointer("/content/file");
                let body = file.and_then(|file| text(file, "content"));
                let picture = file.and_then(|file| text(file, "base64"));
                let mime = file.and_then(|file| text(file, "type"));
                match (picture, body) {
                    (Some(data), _) => {
                        let mime = mime.unwrap_or("application/octet-stream");
                        content.push(Content::data(mime, data, Some(name)));
                    }
                    (None, Some(body)) => content.push(Content::File {
                        mime: "text/plain".to_owned(),
                        filename: Some(name.to_owned()),
                        url: lathe_protocol::data_url::encode("text/plain", body.as_bytes()),
                    }),
                    (None, None) => out.leave_out("attachment file", "only its name is stored"),
                }
            }
            other => out.leave_out(&format!("attachment {other}"), NOTHING),
        }
        out.user(key, at, self.model.clone().as_ref(), content)
    }

    fn model(&self) -> ModelRef {
        let model = self.model.clone();
        model.unwrap_or_else(|| ModelRef::new(PROVIDER, "unknown"))
    }
}

/// A slash command is stored as tags; the person typed `/name arguments`.
fn read_command(content: &mut Content) {
    let Content::Text { text, .. } = content else {
        return;
    };
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (inner, _) = rest.split_once(&format!("</{name}>"))?;
        Some(inner.trim().to_owned())
    };
    if let Some(name) = tag("command-name") {
        let arguments = tag("command-args").unwrap_or_default();
        let command = format!("/{} {arguments}", name.trim_start_matches('/'));
        *text = command.trim_end().to_owned();
    } else if let Some(output) = tag("local-command-stdout") {
        *text = output;
    }
}

/// What Claude Code noted about a result. The output itself is not stored a second time.
fn add_details(metadata: &mut Map, details: &Value) {
    let Value::Object(fields) = details else {
        return;
    };
    const REPEATED: [&str; 6] = [
        "stdout",
        "content",
        "file",
        "originalFile",
        "oldString",
        "newString",
    ];
    for (name, value) in fields {
        if !REPEATED.contains(&name.as_str()) && !value.is_null() {
            metadata.insert(name.clone(), value.clone());
        }
    }
    let hunks = list(details, "structuredPatch");
    if hunks.is_empty() {
        return;
    }
    let path = text(details, "filePath").unwrap_or_default();
    let mut diff = format!("--- {path}\n+++ {path}\n");
    for hunk in hunks {
        let [old, old_lines, new, new_lines] =
            ["oldStart", "oldLines", "newStart", "newLines"].map(|field| number(hunk, field));
        diff.push_str(&format!("@@ -{old},{old_lines} +{new},{new_lines} @@\n"));
        for line in list(hunk, "lines").iter().filter_map(Value::as_str) {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    metadata.insert("diff".to_owned(), diff.into());
}

fn joined(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|one| match one {
        Content::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
