//! The second pass: converts the records of one line of a session.

use std::io;

use lathe_protocol::{Map, MessageError, MessageId, Millis, ModelRef};
use serde_json::Value;

use super::index::{Index, Place, split};
use super::items;
use crate::lines::Jsonl;
use crate::transcript::{Call, Content, Stop, Transcript};
use crate::value::{input, is_true, kind, list, number, text, time, tokens};
use crate::writer::Writer;

/// Events that say again what the items say, or only begin and end something.
const REPEATED: [&str; 21] = [
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "item_started",
    "item_completed",
    "exec_command_begin",
    "exec_command_end",
    "patch_apply_begin",
    "patch_apply_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_begin",
    "web_search_end",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "context_compacted",
    "view_image_tool_call",
];
const NOTHING: &str = "it is not part of the session";
const ADDED: &str = "Codex added it for the model";

struct State<'a> {
    files: &'a mut [Jsonl],
    index: &'a Index,
    provider: &'a str,
    model: String,
    cwd: String,
    /// The next item of the model belongs to a new answer.
    is_step_done: bool,
}

/// Converts the records, and returns for each branch the first message after it leaves this line.
pub fn convert<W: Writer>(
    out: &mut Transcript<W>,
    files: &mut [Jsonl],
    index: &Index,
    keys: &[String],
    branch: Option<usize>,
    provider: &str,
) -> Result<Vec<Option<MessageId>>, Stop<W::Error>> {
    let mut state = State {
        files,
        index,
        provider,
        model: String::new(),
        cwd: String::new(),
        is_step_done: true,
    };
    let is_main = branch.is_none();
    let records = match branch {
        Some(branch) => index.branches().get(branch).map_or(&[][..], Vec::as_slice),
        None => index.main(),
    };
    let mut counts = vec![None; index.cuts().len()];
    let mut firsts: Vec<Option<MessageId>> = vec![None; index.cuts().len()];
    for (position, place) in records.iter().enumerate() {
        let record = state.read(*place)?;
        for (branch, cut) in index.cuts().iter().enumerate() {
            if position == *cut {
                out.flush()?;
                counts[branch] = Some(out.newest().0);
            }
        }
        // What was copied from another line is counted there.
        out.set_counting(is_main && place.segment + 1 == keys.len());
        let key = format!("{}@{}", keys[place.segment], place.at.offset);
        state.convert(out, &key, &record)?;
        for (branch, before) in counts.iter().enumerate() {
            if let (Some(before), (count, Some(newest))) = (before, out.newest())
                && count > *before
                && firsts[branch].is_none()
            {
                firsts[branch] = Some(newest.clone());
            }
        }
    }
    out.flush()?;
    Ok(firsts)
}

impl State<'_> {
    fn read(&mut self, place: Place) -> io::Result<Value> {
        match self.files.get_mut(place.segment) {
            Some(file) => file.read(place.at),
            None => Err(io::Error::other("a file is missing")),
        }
    }

    fn model(&self) -> ModelRef {
        let model = match self.model.as_str() {
            "" => "unknown",
            model => model,
        };
        ModelRef::new(self.provider, model)
    }

    fn convert<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        record: &Value,
    ) -> Result<(), Stop<W::Error>> {
        let at = time(record, "timestamp");
        let (kind, payload) = split(record);
        match kind {
            "session_meta" => {
                if let Some(cwd) = text(payload, "cwd") {
                    self.cwd = cwd.to_owned();
                }
            }
            "turn_context" => {
                if let Some(model) = text(payload, "model") {
                    self.model = model.to_owned();
                }
                if let Some(cwd) = text(payload, "cwd") {
                    self.cwd = cwd.to_owned();
                }
            }
            "response_item" => self.item(out, key, at, record, payload)?,
            "event_msg" => self.event(out, payload),
            "compacted" => self.compacted(out, key, at, payload)?,
            "token_usage_record" => {
                if let Some(usage) = payload.get("usage") {
                    set_usage(out, usage);
                }
            }
            "world_state" | "inter_agent_message" | "security_risk_score" | "state" => {
                out.leave_out(kind, NOTHING);
            }
            "record without a type" if text(payload, "id").is_some() => {}
            "record without a type" if payload.get("record_type").is_some() => {
                out.leave_out("state", NOTHING);
            }
            other if other.starts_with("inter_agent_") => out.leave_out(other, NOTHING),
            other => out.leave_out(other, "it is not known"),
        }
        Ok(())
    }

    fn item<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        record: &Value,
        item: &Value,
    ) -> Result<(), Stop<W::Error>> {
        if items::is_output(item) {
            self.is_step_done = true;
            out.seen(at);
            // Its call reads it.
            if text(item, "call_id").is_none() {
                out.leave_out(kind(item), "it does not name its call");
            }
            return Ok(());
        }
        match kind(item) {
            "message" => self.message(out, key, at, record, item),
            "reasoning" => {
                let texts = list(item, "summary").iter().chain(list(item, "content"));
                let texts: Vec<_> = texts.filter_map(|one| text(one, "text")).collect();
                let sealed = text(item, "encrypted_content");
                let metadata = sealed.map(|sealed| {
                    Map::from_iter([("encrypted_content".to_owned(), sealed.into())])
                });
                self.step(out, key, at)?;
                out.push(Content::Reasoning(texts.join("\n\n"), metadata));
                Ok(())
            }
            "compaction" | "context_compaction" | "compaction_summary" => {
                self.step(out, key, at)?;
                out.push(Content::Text {
                    text: "The session was compacted here.".to_owned(),
                    synthetic: true,
                    ignored: true,
                });
                Ok(())
            }
            kind if kind.ends_with("_call") => {
                self.step(out, key, at)?;
                let call = self.call(out, key, at, item)?;
                out.push(Content::Call(Box::new(call)));
                Ok(())
            }
            other => {
                out.leave_out(other, "it is not known");
                Ok(())
            }
        }
    }

    /// Begins a new answer if the last one is complete.
    fn step<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
    ) -> Result<(), Stop<W::Error>> {
        if self.is_step_done || !out.has_answer() {
            out.answer(key, at, self.model(), &self.cwd)?;
            self.is_step_done = false;
        }
        out.seen(at);
        Ok(())
    }

    fn message<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        record: &Value,
        item: &Value,
    ) -> Result<(), Stop<W::Error>> {
        let role = text(item, "role").unwrap_or_default();
        let is_summary = record
            .get("metadata")
            .is_some_and(|metadata| is_true(metadata, "compaction_output"));
        if is_summary {
            // The record `compacted` has it. The tokens that follow are of the summary, not of the
            // answer before.
            return out.flush();
        }
        let (mut content, left_out) = items::contents(list(item, "content"));
        for (what, why) in left_out {
            out.leave_out(&what, why);
        }
        match role {
            "user" => {
                let first = items::first_text(item).unwrap_or_default();
                if items::is_injected(first) {
                    out.leave_out("message user", ADDED);
                    return Ok(());
                }
                if items::is_shell_command(first) {
                    content = vec![Content::synthetic(first)];
                }
                self.is_step_done = true;
                let model = self.model();
                out.user(key, at, Some(&model), content)
            }
            "assistant" => {
                self.step(out, key, at)?;
                content.into_iter().for_each(|one| out.push(one));
                Ok(())
            }
            other => {
                out.leave_out(&format!("message {other}"), ADDED);
                Ok(())
            }
        }
    }

    fn call<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        item: &Value,
    ) -> Result<Call, Stop<W::Error>> {
        let id = text(item, "call_id").or(text(item, "id"));
        let mut call = Call {
            id: id.unwrap_or(key).to_owned(),
            start: at,
            ..Call::default()
        };
        let name = text(item, "name");
        match kind(item) {
            "local_shell_call" => {
                call.tool = "local_shell".to_owned();
                call.input = input(item.get("action").cloned().unwrap_or_default());
            }
            "web_search_call" => {
                call.tool = "web_search".to_owned();
                call.input = input(item.get("action").cloned().unwrap_or_default());
                call.result = Some(Ok(String::new()));
            }
            "image_generation_call" => {
                call.tool = "image_generation".to_owned();
                let prompt = text(item, "revised_prompt");
                call.input
                    .extend(prompt.map(|prompt| ("prompt".to_owned(), prompt.into())));
                call.result = Some(Ok(String::new()));
                let picture = text(item, "result");
                call.attachments
                    .extend(picture.map(|bytes| Content::data("image/png", bytes, None)));
            }
            "custom_tool_call" => {
                call.tool = name.unwrap_or("custom").to_owned();
                let free = text(item, "input").unwrap_or_default();
                let field = match call.tool.as_str() {
                    "apply_patch" => "patchText",
                    _ => "input",
                };
                call.input.insert(field.to_owned(), free.into());
            }
            other => {
                call.tool = name.unwrap_or(other).to_owned();
                call.input = match item.get("arguments") {
                    Some(Value::String(json)) => {
                        input(serde_json::from_str(json).unwrap_or_else(|_| json.clone().into()))
                    }
                    Some(other) => input(other.clone()),
                    None => Map::new(),
                };
            }
        }
        self.add_result(out, &mut call)?;
        self.add_events(&mut call)?;
        Ok(call)
    }

    fn add_result<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        call: &mut Call,
    ) -> Result<(), Stop<W::Error>> {
        let Some(place) = self.index.result(&call.id) else {
            return Ok(());
        };
        let record = self.read(place)?;
        call.end = time(&record, "timestamp");
        let (_, payload) = split(&record);
        let output = payload.get("output").or(payload.get("tools"));
        let output = match output {
            Some(Value::String(text)) => unwrapped(text),
            Some(Value::Array(items)) => {
                let (content, left_out) = items::contents(items);
                for (what, why) in left_out {
                    out.leave_out(&what, why);
                }
                let mut texts = Vec::new();
                for one in content {
                    match one {
                        Content::Text { text, .. } => texts.push(text),
                        other => call.attachments.push(other),
                    }
                }
                texts.join("\n")
            }
            Some(Value::Object(fields)) => match fields.get("content").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => Value::Object(fields.clone()).to_string(),
            },
            _ => String::new(),
        };
        let failed = payload
            .pointer("/output/success")
            .or(payload.get("success"))
            .and_then(Value::as_bool)
            == Some(false);
        let output = items::without_head(&output).to_owned();
        call.result = Some(if failed { Err(output) } else { Ok(output) });
        Ok(())
    }

    /// Exit code, times and the patch of a call, from the other log.
    fn add_events<E>(&mut self, call: &mut Call) -> Result<(), Stop<E>> {
        for place in self.index.events(&call.id).to_vec() {
            let record = self.read(place)?;
            let (_, payload) = split(&record);
            let item = payload.get("item").unwrap_or(payload);
            call.start = time(payload, "started_at_ms").or(call.start);
            call.end = time(payload, "completed_at_ms").or(call.end);
            if let Some(code) = item.get("exit_code").filter(|code| code.is_number()) {
                call.metadata.insert("exit".to_owned(), code.clone());
            }
            for field in ["changes", "unified_diff", "stdout", "stderr"] {
                if let Some(value) = item.get(field).filter(|value| !value.is_null()) {
                    call.metadata.insert(field.to_owned(), value.clone());
                }
            }
        }
        if let Some(diff) = call.metadata.get("changes").and_then(unified) {
            call.metadata.insert("diff".to_owned(), diff.into());
        }
        Ok(())
    }

    fn event<W: Writer>(&mut self, out: &mut Transcript<W>, event: &Value) {
        match kind(event) {
            "token_count" => {
                if let Some(usage) = event.pointer("/info/last_token_usage") {
                    set_usage(out, usage);
                }
            }
            "turn_aborted" => {
                let why = text(event, "reason").unwrap_or("interrupted");
                out.set_error(MessageError::aborted(format!("The turn was ended: {why}")));
            }
            "error" | "stream_error" => {
                let why = text(event, "message").unwrap_or("unknown");
                out.set_error(MessageError::unknown(why));
            }
            known if REPEATED.contains(&known) => {}
            other => out.leave_out(&format!("event {other}"), NOTHING),
        }
    }

    fn compacted<W: Writer>(
        &mut self,
        out: &mut Transcript<W>,
        key: &str,
        at: Option<Millis>,
        payload: &Value,
    ) -> Result<(), Stop<W::Error>> {
        self.is_step_done = true;
        match text(payload, "message") {
            Some(summary) => out.compaction(key, at, self.model(), true, summary.to_owned()),
            // Without a summary that can be read, what came before must stay visible.
            None => {
                out.leave_out("compacted", "its summary is sealed for the provider");
                Ok(())
            }
        }
    }
}

fn set_usage<W: Writer>(out: &mut Transcript<W>, usage: &Value) {
    let cached = number(usage, "cached_input_tokens");
    let written = number(usage, "cache_write_input_tokens");
    let reasoning = number(usage, "reasoning_output_tokens");
    let (all_in, all_out) = (
        number(usage, "input_tokens"),
        number(usage, "output_tokens"),
    );
    // After a compaction the counter stands at zero; that is no usage of an answer.
    if all_in + all_out > 0 {
        let input = all_in - cached - written;
        out.set_usage(
            tokens(input, all_out - reasoning, reasoning, cached, written),
            0.0,
        );
    }
}

/// Older versions store the output as JSON in text, with the exit code beside it.
fn unwrapped(text: &str) -> String {
    let wrapped = serde_json::from_str::<Value>(text).ok();
    let inner = wrapped
        .as_ref()
        .filter(|value| value.get("metadata").is_some());
    let output = inner.and_then(|value| value.get("output")?.as_str());
    output.unwrap_or(text).to_owned()
}

/// The patches of all files in one text.
fn unified(changes: &Value) -> Option<String> {
    let mut text = String::new();
    match changes {
        Value::Object(files) => {
            for (path, change) in files {
                let diff = change
                    .get("unified_diff")
                    .or(change.pointer("/update/unified_diff"))
                    .and_then(Value::as_str);
                if let Some(diff) = diff {
                    text.push_str(&format!("--- {path}\n+++ {path}\n{diff}\n"));
                }
            }
        }
        Value::Array(files) => {
            for change in files {
                if let Some(diff) = change.get("diff").and_then(Value::as_str) {
                    let path = change.get("path").and_then(Value::as_str);
                    let path = path.unwrap_or_default();
                    text.push_str(&format!("--- {path}\n+++ {path}\n{diff}\n"));
                }
            }
        }
        _ => {}
    }
    (!text.is_empty()).then_some(text)
}
