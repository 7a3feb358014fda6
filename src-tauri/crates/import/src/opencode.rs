//! Messages of OpenCode 2.0: the rows of its table `session_message`.
//!
//! A row has a type, a number that orders it, and its data as JSON. Who reads the database passes
//! the rows one by one; sessions that were born in an older version are not read here.

use lathe_protocol::{Map, MessageError, Millis, ModelRef, SessionId};
use serde_json::Value;

use crate::report::{Control, Progress, Report};
use crate::transcript::{Call, Content, Header, Stop, Transcript};
use crate::value::{input, list, number, text, time, tokens};
use crate::writer::Writer;

/// A row of `session_v2`, with JSON columns as they are stored.
pub struct SessionRow {
    /// Theirs have the form of ours, so it is taken over.
    pub id: SessionId,
    pub parent: Option<SessionId>,
    pub forked_from: Option<SessionId>,
    pub directory: String,
    pub title: Option<String>,
    pub version: String,
    pub created: Millis,
    pub updated: Millis,
    pub is_archived: bool,
}

/// A row of `session_message`.
pub struct MessageRow {
    pub id: String,
    pub kind: String,
    pub created: Option<Millis>,
    pub data: Result<Value, String>,
}

/// Writes one session. `rows` come in their order; one that could not be read is counted.
pub fn import_session<W: Writer>(
    session: SessionRow,
    rows: impl Iterator<Item = MessageRow>,
    writer: &mut W,
    report: &mut Report,
    control: &Control,
    progress: &mut Progress,
) -> Result<(), W::Error> {
    let source_id = session.id.as_str().to_owned();
    match write(session, rows, writer, report, control, progress) {
        Ok(()) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::Unreadable(why)) => {
            report.problem(source_id, why);
            Ok(())
        }
        Err(Stop::Stopped) => {
            report.stopped = true;
            Ok(())
        }
    }
}

fn write<W: Writer>(
    session: SessionRow,
    rows: impl Iterator<Item = MessageRow>,
    writer: &mut W,
    report: &mut Report,
    control: &Control,
    progress: &mut Progress,
) -> Result<(), Stop<W::Error>> {
    let header = Header {
        scope: format!("opencode/{}", session.id),
        program: "opencode",
        source_id: session.id.to_string(),
        mark: session.updated.0.to_string(),
        directory: session.directory,
        version: session.version,
        parent: session.parent,
        fork: session
            .forked_from
            .map(|session_id| lathe_protocol::ForkedFrom {
                session_id,
                message_id: None,
                extra: lathe_protocol::Extra::default(),
            }),
        created: session.created,
        title: session.title,
        archived: session.is_archived,
        id: session.id,
    };
    let Some(mut out) = Transcript::begin(header, writer, report, control, progress)? else {
        return Ok(());
    };
    let mut model = None;
    for row in rows {
        match &row.data {
            Ok(data) => message(&mut out, &row, data, &mut model)?,
            Err(_) => out.leave_out(&row.kind, "it is damaged"),
        }
    }
    out.end(None)
}

fn message<W: Writer>(
    out: &mut Transcript<W>,
    row: &MessageRow,
    data: &Value,
    model: &mut Option<ModelRef>,
) -> Result<(), Stop<W::Error>> {
    let at = data
        .get("time")
        .and_then(|times| time(times, "created"))
        .or(row.created);
    match row.kind.as_str() {
        "user" => {
            let mut content: Vec<_> = text(data, "text").map(Content::text).into_iter().collect();
            files(out, data, "files", &mut content);
            out.user(&row.id, at, model.as_ref(), content)
        }
        "synthetic" | "skill" => {
            let content = text(data, "text").map(Content::synthetic);
            out.user(&row.id, at, model.as_ref(), content.into_iter().collect())
        }
        "assistant" => assistant(out, row, data, at, model),
        "shell" => shell(out, row, data, at, model),
        "compaction" => match (text(data, "summary"), text(data, "status")) {
            (Some(summary), None | Some("completed")) => {
                let mut summary = summary.to_owned();
                if let Some(recent) = text(data, "recent") {
                    summary = format!("{summary}\n\n{recent}");
                }
                let auto = text(data, "reason") != Some("manual");
                out.compaction(&row.id, at, known(model), auto, summary)
            }
            _ => {
                out.leave_out("compaction", "it was not completed");
                Ok(())
            }
        },
        "model-switched" | "model-selected" => {
            *model = data.get("model").and_then(model_ref).or(model.take());
            Ok(())
        }
        kind @ ("agent-switched" | "agent-selected" | "location-switched" | "system" | "idle"
        | "compaction-status") => {
            out.leave_out(kind, "it is not part of the session");
            Ok(())
        }
        other => {
            out.leave_out(other, "it is not known");
            Ok(())
        }
    }
}

fn assistant<W: Writer>(
    out: &mut Transcript<W>,
    row: &MessageRow,
    data: &Value,
    at: Option<Millis>,
    model: &mut Option<ModelRef>,
) -> Result<(), Stop<W::Error>> {
    *model = data.get("model").and_then(model_ref).or(model.take());
    out.answer(&row.id, at, known(model), "")?;
    for item in list(data, "content") {
        match text(item, "type").unwrap_or_default() {
            "text" => {
                if let Some(text) = text(item, "text") {
                    out.push(Content::text(text));
                }
            }
            "reasoning" => {
                let thought = text(item, "text").unwrap_or_default().to_owned();
                let sealed = item.get("providerMetadata").or(item.get("providerState"));
                let metadata =
                    sealed.map(|sealed| Map::from_iter([("provider".to_owned(), sealed.clone())]));
                out.push(Content::Reasoning(thought, metadata));
            }
            "tool" => {
                let call = call(out, item);
                out.push(Content::Call(Box::new(call)));
            }
            other => out.leave_out(&format!("content {other}"), "it is not known"),
        }
    }
    if let Some(usage) = data.get("tokens").filter(|usage| usage.is_object()) {
        let cache = usage.get("cache").unwrap_or(&Value::Null);
        let count = tokens(
            number(usage, "input"),
            number(usage, "output"),
            number(usage, "reasoning"),
            number(cache, "read"),
            number(cache, "write"),
        );
        let cost = data.get("cost").and_then(Value::as_f64).unwrap_or(0.0);
        out.set_usage(count, cost);
    }
    let completed = data.get("time").and_then(|times| time(times, "completed"));
    out.seen(completed);
    if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
        let why = text(error, "message").or(error.as_str());
        out.set_error(MessageError::unknown(why.unwrap_or("The answer failed")));
    }
    out.flush()
}

fn call<W: Writer>(out: &mut Transcript<W>, item: &Value) -> Call {
    let state = item.get("state").unwrap_or(&Value::Null);
    let times = item.get("time").unwrap_or(&Value::Null);
    let mut call = Call {
        id: text(item, "id")
            .or(text(item, "callID"))
            .unwrap_or_default()
            .to_owned(),
        tool: text(item, "name").unwrap_or("unknown").to_owned(),
        title: text(state, "title").unwrap_or_default().to_owned(),
        start: time(times, "ran").or(time(times, "created")),
        end: time(times, "completed"),
        compacted: time(times, "pruned").is_some(),
        ..Call::default()
    };
    // Until a call runs, its input is the text of the arguments.
    call.input = match state.get("input") {
        Some(Value::String(json)) => {
            input(serde_json::from_str(json).unwrap_or_else(|_| json.clone().into()))
        }
        Some(other) => input(other.clone()),
        None => Map::new(),
    };
    for field in ["structured", "metadata", "details"] {
        if let Some(Value::Object(fields)) = state.get(field) {
            call.metadata.extend(fields.clone());
        }
    }
    let mut texts: Vec<String> = text(state, "output")
        .map(str::to_owned)
        .into_iter()
        .collect();
    let mut content = Vec::new();
    for one in list(state, "content") {
        match text(one, "type") {
            Some("text") => texts.extend(text(one, "text").map(str::to_owned)),
            _ => file(out, one, &mut content),
        }
    }
    files(out, state, "attachments", &mut content);
    call.attachments = content;
    call.result = match text(state, "status") {
        Some("completed") => Some(Ok(texts.join("\n"))),
        Some("error") => {
            let error = state.get("error").unwrap_or(&Value::Null);
            let why = text(error, "message").or(error.as_str());
            Some(Err(why.unwrap_or("The call failed").to_owned()))
        }
        _ => None,
    };
    call
}

fn shell<W: Writer>(
    out: &mut Transcript<W>,
    row: &MessageRow,
    data: &Value,
    at: Option<Millis>,
    model: &Option<ModelRef>,
) -> Result<(), Stop<W::Error>> {
    let command = text(data, "command").unwrap_or_default();
    let prompt = format!("The person ran a command: {command}");
    let key = format!("{}/prompt", row.id);
    out.user(&key, at, model.as_ref(), vec![Content::synthetic(prompt)])?;
    out.answer(&row.id, at, known(model), "")?;
    out.push(Content::Call(Box::new(Call {
        id: text(data, "callID").unwrap_or(&row.id).to_owned(),
        tool: "bash".to_owned(),
        input: Map::from_iter([("command".to_owned(), command.into())]),
        result: Some(Ok(text(data, "output").unwrap_or_default().to_owned())),
        start: at,
        end: data.get("time").and_then(|times| time(times, "completed")),
        ..Call::default()
    })));
    out.flush()
}

fn files<W: Writer>(
    out: &mut Transcript<W>,
    data: &Value,
    field: &str,
    content: &mut Vec<Content>,
) {
    list(data, field)
        .iter()
        .for_each(|one| file(out, one, content));
}

/// A file whose bytes are in the record.
fn file<W: Writer>(out: &mut Transcript<W>, item: &Value, content: &mut Vec<Content>) {
    let source = item.get("source").unwrap_or(&Value::Null);
    let url = text(item, "uri")
        .or(text(item, "url"))
        .or(text(source, "uri"))
        .or(text(item, "data"));
    let name = text(item, "name").or(text(item, "filename"));
    match url.and_then(Content::data_url) {
        Some(Content::File { mime, url, .. }) => content.push(Content::File {
            mime: text(item, "mime").map_or(mime, str::to_owned),
            filename: name.map(str::to_owned),
            url,
        }),
        _ => match (url, text(item, "mime")) {
            (Some(bytes), Some(mime)) if text(item, "data").is_some() => {
                content.push(Content::data(mime, bytes, name));
            }
            _ => out.leave_out("file", "only its address is stored"),
        },
    }
}

fn model_ref(model: &Value) -> Option<ModelRef> {
    let id = text(model, "id").or(text(model, "modelID"))?;
    Some(ModelRef::new(
        text(model, "providerID").unwrap_or("unknown"),
        id,
    ))
}

fn known(model: &Option<ModelRef>) -> ModelRef {
    let model = model.clone();
    model.unwrap_or_else(|| ModelRef::new("unknown", "unknown"))
}
