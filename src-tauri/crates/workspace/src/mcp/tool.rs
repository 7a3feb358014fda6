//! Adapts an MCP server's tool to our tool interface.

use std::sync::Arc;

use async_trait::async_trait;
use lathe_mcp::{Answer, AnswerFile, CallError, CallProgress, ProgressSink, Server};
use lathe_protocol::{Extra, FilePartSource, ResourceSource, SourceText};
use lathe_tools::context::PermissionAsk;
use lathe_tools::{
    Attachment, DynTool, Effect, Progress, ToolContext, ToolFailure, ToolOutput, text, truncate,
};
use serde_json::{Map, Value, json};

pub struct McpTool {
    /// The name that the model uses.
    pub name: String,
    pub server: Arc<Server>,
    pub tool: lathe_mcp::Tool,
}

#[async_trait]
impl DynTool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn prompt(&self) -> &str {
        &self.tool.description
    }

    /// Adds fields that some servers omit and some providers require.
    fn schema(&self) -> Value {
        let mut schema = self.tool.schema.clone();
        schema.entry("type").or_insert_with(|| "object".into());
        schema.entry("properties").or_insert_with(|| json!({}));
        Value::Object(schema)
    }

    /// Only a tool that declares itself read-only may run in parallel with others.
    fn effect(&self) -> Effect {
        if self.tool.read_only {
            Effect::Independent
        } else {
            Effect::Ordered
        }
    }

    /// The server validates its input itself, with better messages than ours would be.
    fn check(&self, _: &Value) -> Result<(), ToolFailure> {
        Ok(())
    }

    async fn call(&self, input: Value, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let server = &self.server.key().name;
        let ask = PermissionAsk::new(&self.name, "*")
            .always("*")
            .with("server", text::visible(server))
            .with("tool", text::visible(&self.tool.name))
            .with("input", input.clone());
        cx.host.ask(ask).await?;
        if !self.tool.read_only {
            cx.host.about_to_run().await?;
        }
        let Value::Object(arguments) = input else {
            return Err(ToolFailure::failed("The arguments must be an object."));
        };
        let progress = progress_to(cx);
        let called = self
            .server
            .call(&self.tool.name, arguments, progress, &cx.cancel);
        match called.await {
            Ok(answer) if answer.is_error => Err(ToolFailure::failed(answer_text(&answer))),
            Ok(answer) => Ok(truncate::bound(self.output(answer), cx)),
            Err(CallError::Cancelled) => Err(ToolFailure::aborted()),
            Err(error) => Err(ToolFailure::failed(error.to_string())),
        }
    }
}

impl McpTool {
    fn output(&self, answer: Answer) -> ToolOutput {
        let server = &self.server.key().name;
        let title = self.tool.title.as_deref().unwrap_or(&self.tool.name);
        let mut output = ToolOutput::new(text::visible(title), answer_text(&answer))
            .with("server", text::visible(server))
            .with("tool", text::visible(&self.tool.name));
        for file in answer.files {
            output = output.attach(attachment(server, file));
        }
        output
    }
}

fn answer_text(answer: &Answer) -> String {
    let text = text::plain(&answer.text);
    match (text.trim().is_empty(), answer.files.len()) {
        (false, _) => text,
        (true, 0) => "(no output)".to_owned(),
        (true, 1) => "(one attachment)".to_owned(),
        (true, count) => format!("({count} attachments)"),
    }
}

pub fn attachment(server: &str, file: AnswerFile) -> Attachment {
    let source = file.uri.map(|uri| resource_source(server, uri));
    Attachment {
        mime: file.mime,
        filename: file.filename,
        bytes: file.bytes,
        source,
    }
}

fn resource_source(server: &str, uri: String) -> FilePartSource {
    FilePartSource::Resource(ResourceSource {
        client_name: server.to_owned(),
        uri,
        text: SourceText {
            value: String::new(),
            start: 0.into(),
            end: 0.into(),
            extra: Extra::default(),
        },
        extra: Extra::default(),
    })
}

fn progress_to(cx: &ToolContext) -> ProgressSink {
    let host = cx.host.clone();
    Arc::new(move |progress: CallProgress| {
        let mut metadata = Map::new();
        let message = progress.message.map(|message| text::visible(&message));
        metadata.insert(
            "progress".to_owned(),
            json!({ "done": progress.done, "total": progress.total, "message": message }),
        );
        host.progress(Progress {
            title: None,
            metadata,
        });
    })
}
