//! Renders a tool call in full, in the form that suits the tool.
//!
//! The input is the stored part alone, as written by our tools or by those of the program that
//! this one descends from. Output that cannot be parsed is shown as plain text.

use lathe_protocol::ipc::{ToolBody, ToolDetails};
use lathe_protocol::{Map, ToolPart, ToolState};
use serde_json::Value;

use crate::{ansi, highlight, markdown, paths};

mod changes;
mod output;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetailsOptions {
    /// The project's root: paths below it are shown relative to it.
    pub root: Option<String>,
    /// Show whole files in diffs, also of files that are folded by default.
    pub whole: bool,
}

pub fn render_tool_call(part: &ToolPart, options: &DetailsOptions) -> ToolDetails {
    let call = Call::new(part, options);
    let (text, note) = split_note(call.output);
    let body = call.body(text);
    ToolDetails {
        input: input(part.state()),
        output: match part.tool.as_str() {
            // For other tools, the note may be part of the page or of what a program printed.
            "read" | "list" | "glob" | "grep" => text.to_owned(),
            "bash" if call.failed => ansi::strip(call.printed()),
            _ => call.output.to_owned(),
        },
        note: match &body {
            Some(
                ToolBody::Code { .. }
                | ToolBody::Matches { .. }
                | ToolBody::Paths { .. }
                | ToolBody::Tree { .. },
            ) => note.map(str::to_owned),
            _ => None,
        },
        error: call.failed.then(|| call.error.to_owned()),
        body,
        whole_output: call.word(call.metadata, "outputPath").map(str::to_owned),
    }
}

/// The last lines that a running command has printed, as sanitised HTML; `None` for other calls.
pub fn live_output(part: &ToolPart) -> Option<String> {
    const LINES: usize = 60;
    let ToolState::Running(state) = part.state() else {
        return None;
    };
    let output = state.metadata.as_ref()?.get("output")?.as_str()?;
    let start = output
        .trim_end_matches('\n')
        .rmatch_indices('\n')
        .nth(LINES - 1)
        .map_or(0, |(at, _)| at + 1);
    Some(ansi::to_html(&output[start..]))
}

/// The fields of a stored call.
struct Call<'p> {
    tool: &'p str,
    input: &'p Map,
    metadata: Option<&'p Map>,
    /// Empty unless the call has succeeded.
    output: &'p str,
    error: &'p str,
    failed: bool,
    options: &'p DetailsOptions,
}

impl<'p> Call<'p> {
    fn new(part: &'p ToolPart, options: &'p DetailsOptions) -> Self {
        let (metadata, output, error) = match part.state() {
            ToolState::Pending(_) => (None, "", ""),
            ToolState::Running(state) => (state.metadata.as_ref(), "", ""),
            ToolState::Completed(state) => (Some(&state.metadata), state.output.as_str(), ""),
            ToolState::Error(state) => (state.metadata.as_ref(), "", state.error.as_str()),
        };
        Call {
            tool: &part.tool,
            input: part.state().input(),
            metadata,
            output,
            error,
            failed: matches!(part.state(), ToolState::Error(_)),
            options,
        }
    }

    fn body(&self, text: &str) -> Option<ToolBody> {
        match self.tool {
            "edit" | "write" | "apply_patch" => changes::render(self),
            "bash" => self.terminal(text),
            _ if self.output.is_empty() => None,
            "question" => output::answers(self.input, self.metadata),
            "read" => output::code(text, &self.path("filePath")),
            "grep" => output::matches(text, self.argument("pattern"), self.root()),
            "glob" => output::paths(text, self.root()),
            "list" => output::tree(text, self.root()),
            "webfetch" => self.page(),
            "task" => Some(self.markdown(without_session(self.output))),
            _ => self.json(),
        }
    }

    /// What a command printed, with colours; only the end of a long output.
    fn printed(&self) -> &'p str {
        let printed = self.word(self.metadata, "output").unwrap_or(self.output);
        printed.trim_end_matches('\n')
    }

    fn terminal(&self, text: &str) -> Option<ToolBody> {
        let html = ansi::to_html(self.printed());
        let cut = self.is_cut(text);
        (!html.is_empty()).then_some(ToolBody::Terminal { html, cut })
    }

    /// Whether the start of the coloured output was not stored. A newer call says so; for an
    /// older one this is so if the text for the model starts earlier.
    fn is_cut(&self, text: &str) -> bool {
        let flag = self.metadata.and_then(|metadata| metadata.get("cardCut"));
        if flag == Some(&Value::Bool(true)) {
            return true;
        }
        let shown = ansi::strip(self.printed());
        let whole_lines = shown.split_once('\n').map_or("", |(_, rest)| rest);
        text.len() > shown.len()
            && !whole_lines.is_empty()
            && text.ends_with(whole_lines.trim_end())
    }

    fn page(&self) -> Option<ToolBody> {
        match self.argument("format") {
            "html" => Some(coloured(self.output, "page.html")),
            "text" => None,
            _ => Some(self.markdown(self.output)),
        }
    }

    /// MCP tools often return JSON, which is indented here.
    fn json(&self) -> Option<ToolBody> {
        let text = self.output.trim();
        let data: Value = serde_json::from_str(text).ok()?;
        let pretty = serde_json::to_string_pretty(&data).ok()?;
        (data.is_object() || data.is_array()).then(|| coloured(&pretty, "data.json"))
    }

    fn markdown(&self, text: &str) -> ToolBody {
        let options = markdown::Options {
            root: self.options.root.clone(),
        };
        ToolBody::Markdown {
            blocks: markdown::render(text, &options),
        }
    }

    fn root(&self) -> Option<&str> {
        self.options.root.as_deref()
    }

    fn argument(&self, key: &str) -> &str {
        self.word(Some(self.input), key).unwrap_or_default()
    }

    fn word<'m>(&self, map: Option<&'m Map>, key: &str) -> Option<&'m str> {
        map?.get(key)?.as_str()
    }

    fn path(&self, key: &str) -> String {
        shown_path(self.argument(key), self.root())
    }
}

fn coloured(text: &str, path: &str) -> ToolBody {
    ToolBody::Code {
        path: path.to_owned(),
        first: 1,
        lines: highlight::lines(text, path),
    }
}

fn shown_path(path: &str, root: Option<&str>) -> String {
    root.map_or(path.into(), |root| paths::relativize(path, root))
        .into_owned()
}

fn input(state: &ToolState) -> String {
    match state {
        ToolState::Pending(pending) if !pending.raw.is_empty() => pending.raw.clone(),
        // Arguments that are not JSON are stored unchanged.
        ToolState::Error(error) if error.input.is_empty() => match error.extra.0.get("raw") {
            Some(Value::String(raw)) => raw.clone(),
            _ => String::new(),
        },
        state if state.input().is_empty() => String::new(),
        state => serde_json::to_string_pretty(state.input()).unwrap_or_default(),
    }
}

/// Splits off the remark in brackets at the end of a tool's output.
fn split_note(output: &str) -> (&str, Option<&str>) {
    let trimmed = output.trim_end();
    match trimmed.rfind("\n(").filter(|_| trimmed.ends_with(')')) {
        Some(at) => (
            trimmed[..at].trim_end_matches('\n'),
            Some(trimmed[at..].trim().trim_matches(['(', ')'])),
        ),
        None => (trimmed, None),
    }
}

fn without_session(output: &str) -> &str {
    match output.rfind("\n\n(session_id: ") {
        Some(at) => &output[..at],
        // The form of older versions.
        None => output.split("\n\n<task_metadata>").next().unwrap_or(output),
    }
}

#[cfg(test)]
mod tests;
