//! The content of a request, independent of its wire.

use std::collections::BTreeMap;

use lathe_provider::WireKind;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::http::Request;

/// A request as the fake model understood it.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    pub wire: WireKind,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    pub system: String,
    /// Texts by role, `user` or `assistant`, in order.
    pub texts: Vec<(String, String)>,
    /// Names of the tools offered.
    pub tools: Vec<String>,
    pub calls: Vec<SeenCall>,
    /// Images and documents, as media types.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SeenCall {
    pub id: String,
    pub name: String,
    pub input: Value,
    pub result: Option<SeenResult>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenResult {
    pub text: String,
    pub is_error: bool,
}

/// Only what is needed to choose a reply, for benchmarks that check nothing.
#[derive(Deserialize)]
struct Glance {
    #[serde(default)]
    tools: Vec<IgnoredAny>,
}

impl SeenRequest {
    /// Only a request for a title is read; nothing of the others is stored.
    pub(super) fn glance(wire: WireKind, request: &Request) -> Self {
        match serde_json::from_slice(&request.body) {
            Ok(Glance { tools }) if !tools.is_empty() => Self::blank(wire, request),
            _ => Self::read(wire, request),
        }
    }

    pub(super) fn read(wire: WireKind, request: &Request) -> Self {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let mut seen = Self::blank(wire, request);
        match wire {
            WireKind::Anthropic => seen.read_anthropic(&body),
            WireKind::OpenaiResponses => seen.read_responses(&body),
            WireKind::Gemini => seen.read_gemini(&body),
            WireKind::OpenaiChat | WireKind::Demo => seen.read_chat(&body),
        }
        seen.body = body;
        seen
    }

    fn blank(wire: WireKind, request: &Request) -> Self {
        Self {
            wire,
            path: request.path.clone(),
            headers: request.headers.clone(),
            system: String::new(),
            texts: Vec::new(),
            tools: Vec::new(),
            calls: Vec::new(),
            files: Vec::new(),
            body: Value::Null,
        }
    }

    /// The user's last text.
    pub fn prompt(&self) -> &str {
        let last = self.texts.iter().rev().find(|(role, _)| role == "user");
        last.map_or("", |(_, text)| text)
    }

    /// All texts of the user.
    pub fn user_text(&self) -> String {
        let texts = self.texts.iter().filter(|(role, _)| role == "user");
        texts
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub fn assistant_text(&self) -> String {
        let texts = self.texts.iter().filter(|(role, _)| role == "assistant");
        texts.map(|(_, text)| text.as_str()).collect()
    }

    /// The newest result of this tool.
    #[track_caller]
    pub fn tool_result(&self, tool: &str) -> &SeenResult {
        let call = self.calls.iter().rev().find(|call| call.name == tool);
        let result = call.and_then(|call| call.result.as_ref());
        result.unwrap_or_else(|| panic!("no result of {tool} in {:#}", self.body))
    }

    #[track_caller]
    pub fn tool_output(&self, tool: &str) -> &str {
        let result = self.tool_result(tool);
        assert!(!result.is_error, "{tool} failed: {}", result.text);
        &result.text
    }

    #[track_caller]
    pub fn tool_error(&self, tool: &str) -> &str {
        let result = self.tool_result(tool);
        assert!(result.is_error, "{tool} did not fail: {}", result.text);
        &result.text
    }

    /// Titles are requested in parallel with the turn, without tools.
    pub(super) fn is_for_title(&self) -> bool {
        self.tools.is_empty() && self.system.to_lowercase().contains("title")
    }

    pub(super) fn unanswered(&self) -> Vec<String> {
        let open = self.calls.iter().filter(|call| call.result.is_none());
        open.map(|call| format!("{} ({})", call.name, call.id))
            .collect()
    }

    fn say(&mut self, role: &str, text: &str) {
        if !text.is_empty() {
            self.texts.push((role.to_owned(), text.to_owned()));
        }
    }

    fn call(&mut self, id: &Value, name: &Value, input: Value) {
        self.calls.push(SeenCall {
            id: string(id),
            name: string(name),
            input,
            result: None,
        });
    }

    /// Adds the result to the first open call for which `is_it` is true.
    fn answer(&mut self, text: String, is_error: bool, is_it: impl Fn(&SeenCall) -> bool) {
        let mut open = self.calls.iter_mut().filter(|call| call.result.is_none());
        if let Some(call) = open.find(|call| is_it(call)) {
            call.result = Some(SeenResult { text, is_error });
        }
    }

    /// For wires without a flag for a failed tool.
    fn answer_marked(&mut self, id: &str, text: &str) {
        let stripped = text.strip_prefix("Error: ");
        let is_error = stripped.is_some();
        self.answer(stripped.unwrap_or(text).to_owned(), is_error, |call| {
            call.id == id
        });
    }

    fn read_anthropic(&mut self, body: &Value) {
        self.system = plain(&body["system"]);
        self.tools = names(&body["tools"], "/name");
        for message in list(&body["messages"]) {
            let role = string(&message["role"]);
            if let Some(text) = message["content"].as_str() {
                self.say(&role, text);
            }
            for block in list(&message["content"]) {
                self.read_block(&role, block);
            }
        }
    }

    fn read_block(&mut self, role: &str, block: &Value) {
        match block["type"].as_str() {
            Some("text") => self.say(role, &string(&block["text"])),
            Some("image" | "document") => self.files.push(string(&block["source"]["media_type"])),
            Some("tool_use") => self.call(&block["id"], &block["name"], block["input"].clone()),
            Some("tool_result") => {
                let id = string(&block["tool_use_id"]);
                let is_error = block["is_error"] == json!(true);
                self.answer(plain(&block["content"]), is_error, |call| call.id == id);
                for inner in list(&block["content"]) {
                    if inner["type"] != "text" {
                        self.files.push(string(&inner["source"]["media_type"]));
                    }
                }
            }
            _ => {}
        }
    }

    fn read_chat(&mut self, body: &Value) {
        self.tools = names(&body["tools"], "/function/name");
        for message in list(&body["messages"]) {
            match message["role"].as_str() {
                Some("system" | "developer") => self.system += &plain(&message["content"]),
                Some("tool") => {
                    let id = string(&message["tool_call_id"]);
                    self.answer_marked(&id, &plain(&message["content"]));
                }
                role => {
                    self.say(role.unwrap_or_default(), &plain(&message["content"]));
                    self.read_data_urls(&message["content"], "/image_url/url");
                    self.read_data_urls(&message["content"], "/file/file_data");
                }
            }
            for call in list(&message["tool_calls"]) {
                let function = &call["function"];
                let input = parsed(&function["arguments"]);
                self.call(&call["id"], &function["name"], input);
            }
        }
    }

    fn read_responses(&mut self, body: &Value) {
        self.system = string(&body["instructions"]);
        self.tools = names(&body["tools"], "/name");
        for item in list(&body["input"]) {
            match item["type"].as_str() {
                Some("function_call") => {
                    self.call(&item["call_id"], &item["name"], parsed(&item["arguments"]));
                }
                Some("function_call_output") => {
                    let id = string(&item["call_id"]);
                    self.answer_marked(&id, &plain(&item["output"]));
                    self.read_data_urls(&item["output"], "/image_url");
                }
                None | Some("message") => match item["role"].as_str() {
                    Some("system" | "developer") => self.system += &plain(&item["content"]),
                    role => {
                        self.say(role.unwrap_or_default(), &plain(&item["content"]));
                        self.read_data_urls(&item["content"], "/image_url");
                        self.read_data_urls(&item["content"], "/file_data");
                    }
                },
                Some(_) => {}
            }
        }
    }

    fn read_gemini(&mut self, body: &Value) {
        self.system = plain(&body["systemInstruction"]["parts"]);
        for tools in list(&body["tools"]) {
            self.tools
                .extend(names(&tools["functionDeclarations"], "/name"));
        }
        for content in list(&body["contents"]) {
            let role = match content["role"].as_str() {
                Some("model") => "assistant",
                _ => "user",
            };
            for part in list(&content["parts"]) {
                self.read_part(role, part);
            }
        }
    }

    fn read_part(&mut self, role: &str, part: &Value) {
        let call = &part["functionCall"];
        if call.is_object() {
            self.call(&call["id"], &call["name"], call["args"].clone());
        }
        let response = &part["functionResponse"];
        if response.is_object() {
            let error = response["response"].get("error");
            let text = error.unwrap_or(&response["response"]["output"]);
            // Ids are optional here: the order and the name tell which call is meant.
            let name = string(&response["name"]);
            self.answer(string(text), error.is_some(), |call| call.name == name);
        }
        if part["thought"] != json!(true) {
            self.say(role, part["text"].as_str().unwrap_or_default());
        }
        if let Some(mime) = part["inlineData"]["mimeType"].as_str() {
            self.files.push(mime.to_owned());
        }
    }

    fn read_data_urls(&mut self, content: &Value, pointer: &str) {
        let urls = list(content).filter_map(|part| part.pointer(pointer)?.as_str());
        let types = urls.filter_map(|url| url.strip_prefix("data:")?.split(';').next());
        self.files.extend(types.map(str::to_owned));
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The texts of a string or a list of parts.
fn plain(value: &Value) -> String {
    match value {
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => string(other),
    }
}

/// Arguments are JSON in a string; what is not JSON stays the string.
fn parsed(arguments: &Value) -> Value {
    let text = string(arguments);
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn names(tools: &Value, pointer: &str) -> Vec<String> {
    list(tools)
        .filter_map(|tool| tool.pointer(pointer)?.as_str())
        .map(str::to_owned)
        .collect()
}
