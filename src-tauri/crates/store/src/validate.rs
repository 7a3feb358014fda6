//! Whether bytes are a valid record for their key.

use lathe_protocol::{Message, Part, Project, Session};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::json_format;
use crate::key::Key;

/// Checks the bytes of any key.
pub(crate) fn bytes(key: &Key, bytes: &[u8]) -> Result<(), String> {
    match key.kind() {
        "part" => parse::<Part>(bytes)
            .and_then(|part| check_part(key, part))
            .map(drop),
        "message" => parse::<Message>(bytes)
            .and_then(|message| check_message(key, message))
            .map(drop),
        "session" => parse::<Value>(bytes)
            .and_then(|value| to_session(key, value))
            .map(drop),
        "project" => parse::<Project>(bytes)
            .and_then(|project| check_project(key, project))
            .map(drop),
        _ => parse::<IgnoredAny>(bytes).map(drop),
    }
}

/// A record with the ids of another one would be written back under another key.
pub(crate) fn check_part(key: &Key, part: Part) -> Result<Part, String> {
    check_field("id", part.id().as_str(), key.name())?;
    check_field(
        "messageID",
        part.message_id().as_str(),
        key.segments().nth(1).unwrap_or_default(),
    )?;
    Ok(part)
}

pub(crate) fn check_message(key: &Key, message: Message) -> Result<Message, String> {
    check_field("id", message.id().as_str(), key.name())?;
    check_field(
        "sessionID",
        message.session_id().as_str(),
        key.segments().nth(1).unwrap_or_default(),
    )?;
    Ok(message)
}

pub(crate) fn check_project(key: &Key, project: Project) -> Result<Project, String> {
    check_field("id", project.id.as_str(), key.name())?;
    Ok(project)
}

/// The oldest sessions were written without project, directory and version. The folder names the
/// project; the others are unknown and stay empty.
pub(crate) fn to_session(key: &Key, mut value: Value) -> Result<Session, String> {
    if let Some(fields) = value.as_object_mut() {
        let project = key.segments().nth(1).unwrap_or_default();
        for (field, default) in [("projectID", project), ("directory", ""), ("version", "")] {
            fields.entry(field).or_insert_with(|| default.into());
        }
    }
    let session: Session = serde_json::from_value(value).map_err(|error| error.to_string())?;
    check_field("id", session.id.as_str(), key.name())?;
    Ok(session)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    json_format::from_bytes(bytes).map_err(|error| error.to_string())
}

fn check_field(field: &str, found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let found: String = found.chars().take(60).collect();
    Err(format!("its {field} is {found:?}, not {expected:?}"))
}

/// FNV-1a. Tells two damaged versions of one file apart, and a torn order file from a complete
/// one.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
