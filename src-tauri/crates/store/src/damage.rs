//! Whether bytes are the record that their place promises.

use lathe_protocol::{Message, Part, Project, Session};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::key::Key;
use crate::spelling;

/// Looks at bytes of any key, as they are about to be overwritten.
pub(crate) fn inspect(key: &Key, bytes: &[u8]) -> Result<(), String> {
    match key.kind() {
        "part" => parse::<Part>(bytes)
            .and_then(|part| part_of(key, part))
            .map(drop),
        "message" => parse::<Message>(bytes)
            .and_then(|message| message_of(key, message))
            .map(drop),
        "session" => parse::<Value>(bytes)
            .and_then(|value| session_of(key, value))
            .map(drop),
        "project" => parse::<Project>(bytes)
            .and_then(|project| project_of(key, project))
            .map(drop),
        _ => parse::<IgnoredAny>(bytes).map(drop),
    }
}

/// A record that says it is another one would be written back to another place.
pub(crate) fn part_of(key: &Key, part: Part) -> Result<Part, String> {
    same("id", part.id().as_str(), key.name())?;
    same(
        "messageID",
        part.message_id().as_str(),
        key.segments().nth(1).unwrap_or_default(),
    )?;
    Ok(part)
}

pub(crate) fn message_of(key: &Key, message: Message) -> Result<Message, String> {
    same("id", message.id().as_str(), key.name())?;
    same(
        "sessionID",
        message.session_id().as_str(),
        key.segments().nth(1).unwrap_or_default(),
    )?;
    Ok(message)
}

pub(crate) fn project_of(key: &Key, project: Project) -> Result<Project, String> {
    same("id", project.id.as_str(), key.name())?;
    Ok(project)
}

/// The oldest sessions were written without their project and directory: the folder they lie
/// in names the one, and nobody knows the other.
pub(crate) fn session_of(key: &Key, mut value: Value) -> Result<Session, String> {
    if let Some(fields) = value.as_object_mut() {
        let project = key.segments().nth(1).unwrap_or_default();
        for (field, default) in [("projectID", project), ("directory", ""), ("version", "")] {
            fields.entry(field).or_insert_with(|| default.into());
        }
    }
    let session: Session = serde_json::from_value(value).map_err(|error| error.to_string())?;
    same("id", session.id.as_str(), key.name())?;
    Ok(session)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    spelling::from_bytes(bytes).map_err(|error| error.to_string())
}

fn same(field: &str, found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let found: String = found.chars().take(60).collect();
    Err(format!("its {field} is {found:?}, not {expected:?}"))
}

/// FNV-1a: tells two damaged versions of one file apart, and a torn index from a whole one.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
