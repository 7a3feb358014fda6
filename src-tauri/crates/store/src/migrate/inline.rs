//! Messages of the first versions, which had their parts inside.
//!
//! The very first also kept who answered, when and where under `metadata`, and their tool calls
//! in two places: what was asked for among the parts, what came of it in the metadata.

use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A message as it is today, and its parts with their names.
pub(super) struct Split {
    pub(super) info: Value,
    pub(super) parts: Vec<(String, Value)>,
}

/// None if it is a message as they are today.
pub(super) fn split(message: &Value) -> Option<Split> {
    let mut info = message.as_object()?.clone();
    let parts = info.shift_remove("parts")?;
    let metadata = info.shift_remove("metadata");
    let metadata = metadata.as_ref().and_then(Value::as_object);
    if let Some(metadata) = metadata {
        lift(&mut info, metadata);
    }
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().enumerate().filter_map(|(at, part)| {
        let part = converted(part.as_object()?.clone(), metadata);
        Some(placed(part, at, &info))
    });
    Some(Split {
        parts: parts.collect(),
        info: info.into(),
    })
}

/// Where a session worked, by an answer of any version.
pub(super) fn root(message: &Value) -> Option<&str> {
    let today = &message["path"]["root"];
    let first = &message["metadata"]["assistant"]["path"]["root"];
    today.as_str().or(first.as_str())
}

fn lift(info: &mut Fields, metadata: &Fields) {
    let answer = metadata.get("assistant").and_then(Value::as_object);
    let fields = metadata.iter().chain(answer.into_iter().flatten());
    for (name, value) in fields.filter(|(name, _)| !["assistant", "tool"].contains(&name.as_str()))
    {
        info.entry(name).or_insert_with(|| value.clone());
    }
}

fn converted(part: Fields, metadata: Option<&Fields>) -> Fields {
    let invocation = part.get("toolInvocation").and_then(Value::as_object);
    match (invocation, part.get("mediaType")) {
        (Some(invocation), _) => tool(invocation, metadata),
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

fn tool(invocation: &Fields, metadata: Option<&Fields>) -> Fields {
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
        // Nobody waits for it any more.
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

/// Its name says where it stood in its message, so that a second run gives it the same one.
fn placed(mut part: Fields, at: usize, info: &Fields) -> (String, Value) {
    let message = info.get("id").and_then(Value::as_str).unwrap_or_default();
    let tail = message.strip_prefix("msg_").unwrap_or(message);
    let id = format!("prt_{tail}{at:04}");
    // A call had its own id there.
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
