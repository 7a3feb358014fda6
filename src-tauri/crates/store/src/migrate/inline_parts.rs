//! Messages of the first versions, which contained their parts.
//!
//! The very first version also had model, time and directory under `metadata`, and tool calls in
//! two places: the call among the parts, its title and time in the metadata.

use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A message in the current format, and its parts with their ids.
pub(super) struct Split {
    pub(super) info: Value,
    pub(super) parts: Vec<(String, Value)>,
}

/// None if the message has the current format.
pub(super) fn split(message: &Value) -> Option<Split> {
    let mut info = message.as_object()?.clone();
    let parts = info.shift_remove("parts")?;
    let metadata = info.shift_remove("metadata");
    let metadata = metadata.as_ref().and_then(Value::as_object);
    if let Some(metadata) = metadata {
        add_metadata(&mut info, metadata);
    }
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().enumerate().filter_map(|(at, part)| {
        let part = convert(part.as_object()?.clone(), metadata);
        Some(with_ids(part, at, &info))
    });
    Some(Split {
        parts: parts.collect(),
        info: info.into(),
    })
}

/// The root directory in an answer of any version.
pub(super) fn root(message: &Value) -> Option<&str> {
    let current = &message["path"]["root"];
    let first_version = &message["metadata"]["assistant"]["path"]["root"];
    current.as_str().or(first_version.as_str())
}

fn add_metadata(info: &mut Fields, metadata: &Fields) {
    let answer = metadata.get("assistant").and_then(Value::as_object);
    let fields = metadata.iter().chain(answer.into_iter().flatten());
    for (name, value) in fields.filter(|(name, _)| !["assistant", "tool"].contains(&name.as_str()))
    {
        info.entry(name).or_insert_with(|| value.clone());
    }
}

fn convert(part: Fields, metadata: Option<&Fields>) -> Fields {
    let invocation = part.get("toolInvocation").and_then(Value::as_object);
    match (invocation, part.get("mediaType")) {
        (Some(invocation), _) => convert_tool(invocation, metadata),
        (None, Some(mime)) => {
            let mime = mime.clone();
            let mut file = part;
            file.shift_remove("mediaType");
            file.insert("mime".to_owned(), mime);
            file
        }
        (None, None) => part,
    }
}

fn convert_tool(invocation: &Fields, metadata: Option<&Fields>) -> Fields {
    let call = invocation.get("toolCallId").cloned().unwrap_or_default();
    let known = metadata.and_then(|all| all.get("tool")?.get(call.as_str()?)?.as_object());
    let mut known = known.cloned().unwrap_or_default();
    let (title, time) = (known.shift_remove("title"), known.shift_remove("time"));
    let time = time.unwrap_or_else(|| json!({ "start": 0, "end": 0 }));
    let input = invocation.get("args").filter(|args| args.is_object());
    let input = input.cloned().unwrap_or_else(|| json!({}));
    let state = match invocation.get("result") {
        Some(result) => json!({
            "status": "completed", "input": input, "output": as_text(result),
            "title": title.unwrap_or_else(|| "".into()), "metadata": known, "time": time,
        }),
        // A call without a result was interrupted.
        None => json!({
            "status": "error", "input": input, "error": "Tool execution aborted",
            "metadata": known, "time": time,
        }),
    };
    let name = invocation.get("toolName").cloned().unwrap_or_default();
    let fields = [
        ("type", "tool".into()),
        ("callID", call),
        ("tool", name),
        ("state", state),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    fields.into_iter().collect()
}

fn as_text(result: &Value) -> String {
    match result.as_str() {
        Some(text) => text.to_owned(),
        None => result.to_string(),
    }
}

/// The id is made from the part's position, so that a second run gives the same one.
fn with_ids(mut part: Fields, at: usize, info: &Fields) -> (String, Value) {
    let message = info.get("id").and_then(Value::as_str).unwrap_or_default();
    let tail = message.strip_prefix("msg_").unwrap_or(message);
    let id = format!("prt_{tail}{at:04}");
    // The id of a tool part was the id of its call.
    if part.get("type").is_some_and(|kind| kind == "tool")
        && let Some(call) = part.get("id").cloned()
    {
        part.entry("callID").or_insert(call);
    }
    part.insert("id".to_owned(), id.clone().into());
    part.insert("messageID".to_owned(), message.into());
    let session = info.get("sessionID").cloned().unwrap_or_default();
    part.insert("sessionID".to_owned(), session);
    if part.get("type").is_some_and(|kind| kind == "reasoning") {
        let time = json!({ "start": info["time"]["created"], "end": info["time"]["created"] });
        part.entry("time").or_insert(time);
    }
    (id, part.into())
}
