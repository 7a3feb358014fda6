//! One session with all its records, checked and ready to be written.

use lathe_protocol::{
    Action, FileDiff, Message, MessageId, Part, PartId, Project, ProjectId, Session, SessionId,
    TextPart, Todo, validators,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Unreadable;
use crate::error::{Damaged, Result};
use crate::json_format;
use crate::key::Key;
use crate::storage::encode;
use crate::validate;

pub(super) struct Bundle {
    pub(super) project: Option<(Key, Vec<u8>)>,
    pub(super) session: Session,
    /// The record of the session itself.
    pub(super) bytes: Vec<u8>,
    /// All other records in the order to write them: parts before their message.
    pub(super) records: Vec<(Key, Vec<u8>)>,
    pub(super) messages: Vec<MessageId>,
}

impl Bundle {
    /// `bytes` is the session's record. It is imported unchanged, except for rules that allow
    /// something.
    pub(super) fn new(
        key: &Key,
        bytes: Vec<u8>,
        unreadable: &mut Vec<Unreadable>,
    ) -> Result<Bundle> {
        let mut bundle = Bundle {
            project: None,
            session: parse_session(key, &bytes)?,
            bytes,
            records: Vec::new(),
            messages: Vec::new(),
        };
        bundle.drop_allow_rules(unreadable)?;
        Ok(bundle)
    }

    /// A session's rules override the user's own. Imported data may come from anyone, so rules that
    /// allow something are dropped; those that deny or ask stay.
    fn drop_allow_rules(&mut self, unreadable: &mut Vec<Unreadable>) -> Result<()> {
        let Some(rules) = &mut self.session.permission else {
            return Ok(());
        };
        let before = rules.len();
        rules.retain(|rule| rule.action != Action::Allow);
        let dropped = before - rules.len();
        if dropped > 0 {
            let what = format!("permissions of {}", self.session.id);
            let why = format!("{dropped} rules that allow something were left out");
            unreadable.push(Unreadable::new(what, why));
            self.bytes = encode(&self.session)?;
        }
        Ok(())
    }

    /// A project at the root of the file system is left out: its sessions are found by their
    /// directories.
    pub(super) fn set_project(&mut self, bytes: Vec<u8>, unreadable: &mut Vec<Unreadable>) {
        let key = match Key::project(&self.session.project_id) {
            Ok(key) => key,
            Err(error) => return unreadable.push(Unreadable::new("project", error)),
        };
        match parse::<Project>("project", &bytes)
            .and_then(|project| validate::check_project(&key, project))
        {
            Ok(project) if !is_project_folder(&project) => {}
            Ok(_) => self.project = Some((key, bytes)),
            Err(why) => unreadable.push(Unreadable::new(key.as_str(), why)),
        }
    }

    /// Adds a message with its parts. What cannot be read is listed and left out.
    pub(super) fn add_message(
        &mut self,
        id: &str,
        info: Raw,
        parts: Vec<(String, Raw)>,
        unreadable: &mut Vec<Unreadable>,
    ) {
        let session = &self.session.id;
        let checked = info.and_then(|bytes| {
            let (key, message) = parse_message(session, id, &bytes)?;
            Ok((key, message, bytes))
        });
        let (key, message, bytes) = match checked {
            Ok(checked) => checked,
            Err(why) => return unreadable.push(Unreadable::new(format!("message {id}"), why)),
        };
        for (part, bytes) in parts {
            let checked = bytes.and_then(|bytes| check_part(session, message.id(), &part, bytes));
            match checked {
                Ok(record) => self.records.push(record),
                Err(why) => unreadable.push(Unreadable::new(format!("part {part} of {id}"), why)),
            }
        }
        self.records.push((key, bytes));
        self.messages.push(message.id().clone());
        self.set_missing_directory(&message);
    }

    /// The oldest sessions have no directory, but their answers do.
    fn set_missing_directory(&mut self, message: &Message) {
        let answer = message.as_assistant();
        let path = answer.and_then(|answer| answer.path.as_ref());
        if let (true, Some(path)) = (self.session.directory.is_empty(), path) {
            self.session.directory.clone_from(&path.root);
            // Encoding a session that was parsed does not fail.
            self.bytes = encode(&self.session).unwrap_or(std::mem::take(&mut self.bytes));
        }
    }

    pub(super) fn add_todos(&mut self, bytes: Vec<u8>, unreadable: &mut Vec<Unreadable>) {
        let key = Key::todo(&self.session.id);
        self.add_list::<Todo>("todo", key, bytes, unreadable);
    }

    pub(super) fn add_diffs(&mut self, bytes: Vec<u8>, unreadable: &mut Vec<Unreadable>) {
        let key = Key::session_diff(&self.session.id);
        self.add_list::<FileDiff>("fileDiff", key, bytes, unreadable);
    }

    fn add_list<T: DeserializeOwned>(
        &mut self,
        schema: &str,
        key: Result<Key, crate::key::BadKey>,
        bytes: Vec<u8>,
        unreadable: &mut Vec<Unreadable>,
    ) {
        // The session's id was checked when the bundle was made.
        let Ok(key) = key else { return };
        match parse::<Vec<T>>(schema, &bytes) {
            Ok(_) => self.records.push((key, bytes)),
            Err(why) => unreadable.push(Unreadable::new(key.as_str(), why)),
        }
    }
}

/// The bytes of a record, or why they could not be read.
pub(super) type Raw = Result<Vec<u8>, String>;

/// Parses a session's record under its key in the source. Its ids become file names in this store,
/// so they are checked here.
pub(super) fn parse_session(key: &Key, bytes: &[u8]) -> Result<Session> {
    let checked = json_format::from_bytes::<Value>(bytes)
        .map_err(|error| error.to_string())
        .and_then(|value| validate::to_session(key, value))
        .and_then(|session| {
            SessionId::parse(session.id.as_str()).map_err(|error| error.to_string())?;
            ProjectId::parse(session.project_id.as_str()).map_err(|error| error.to_string())?;
            Ok(session)
        });
    checked.map_err(|reason| {
        Damaged {
            key: key.clone(),
            reason,
        }
        .into()
    })
}

fn parse_message(session: &SessionId, id: &str, bytes: &[u8]) -> Result<(Key, Message), String> {
    let id = MessageId::parse(id).map_err(|error| error.to_string())?;
    let key = Key::message(session, &id).map_err(|error| error.to_string())?;
    let message = validate::check_message(&key, parse::<Message>("message", bytes)?)?;
    Ok((key, message))
}

fn check_part(
    session: &SessionId,
    message: &MessageId,
    id: &str,
    bytes: Vec<u8>,
) -> Result<(Key, Vec<u8>), String> {
    let id = PartId::parse(id).map_err(|error| error.to_string())?;
    let key = Key::part(message, &id).map_err(|error| error.to_string())?;
    let part = validate::check_part(&key, parse::<Part>("part", &bytes)?)?;
    if part.session_id() != session {
        return Err(format!(
            "it belongs to the session {:?}",
            part.session_id().as_str()
        ));
    }
    let bytes = match without_command(part) {
        Some(part) => encode(&part).map_err(|error| error.to_string())?,
        None => bytes,
    };
    Ok((key, bytes))
}

/// The part without the mark of a command, if it has it: nothing that is imported is run.
fn without_command(part: Part) -> Option<Part> {
    let Part::Text(mut text) = part else {
        return None;
    };
    text.metadata.as_mut()?.remove(TextPart::SHELL_COMMAND)?;
    Some(Part::Text(text))
}

/// Its folders are read without a question, and the record may come from anyone.
fn is_project_folder(project: &Project) -> bool {
    let sandboxes = project.sandboxes.iter().flatten();
    let mut folders = std::iter::once(&project.worktree).chain(sandboxes);
    !folders.any(|folder| lathe_files::is_personal(std::path::Path::new(folder)))
}

fn parse<T: DeserializeOwned>(schema: &str, bytes: &[u8]) -> Result<T, String> {
    json_format::from_bytes(bytes).map_err(|error| {
        let value = json_format::from_bytes(bytes).ok();
        let problem = value.and_then(|value| find_problem(schema, &value));
        problem.unwrap_or_else(|| error.to_string())
    })
}

/// What is wrong with a record that cannot be read, and where. The schema is stricter than the
/// reader, which also takes what newer versions write, so it does not decide.
fn find_problem(schema: &str, value: &Value) -> Option<String> {
    if let Value::Array(items) = value {
        return items.iter().find_map(|item| find_problem(schema, item));
    }
    let schema = match (schema, value["role"].as_str()) {
        ("message", Some("user")) => "userMessage",
        ("message", Some("assistant")) => "assistantMessage",
        _ => schema,
    };
    let problem = validators::validate(schema, value).err()?;
    Some(problem.to_string())
}
