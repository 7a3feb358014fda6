//! Stores the sessions that the readers of other agents' files produce, one message at a time.
//!
//! Messages and parts are written as they come; the session's own record follows when they are
//! durable. A session that was imported before and has grown since gets what is new, and loses what
//! was taken back there.

use std::collections::HashSet;
use std::path::Path;

use lathe_import::{Control, IMPORTED, Known, Program, Report, Writer};
use lathe_protocol::{MessageId, MessageWithParts, Session, SessionId};
use serde_json::Value;

use super::{Imported, Unreadable};
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::storage::{Storage, encode};

/// Sessions that become visible together.
const BATCH: usize = 200;

impl Storage {
    pub(super) fn import_foreign(
        &self,
        program: Program,
        path: &Path,
        control: &Control,
        imported: &mut Imported,
    ) -> Result<()> {
        let mut writer = StoreWriter::new(self);
        let report = lathe_import::import(program, path, &mut writer, control)?;
        writer.finish(imported)?;
        add_report(imported, report);
        Ok(())
    }
}

/// Adds what a reader reports to what this import did.
pub(super) fn add_report(imported: &mut Imported, report: Report) {
    imported.already += report.already;
    imported.messages += report.messages;
    imported.stopped |= report.stopped;
    imported.left_out.extend(report.left_out());
    if report.more_problems > 0 {
        let why = format!("{} more", report.more_problems);
        imported.unreadable.push(Unreadable::new("and", why));
    }
    let problems = report.problems.into_iter();
    imported
        .unreadable
        .extend(problems.map(|one| Unreadable::new(one.what, one.why)));
}

pub(super) struct StoreWriter<'a> {
    storage: &'a Storage,
    /// The record of the session that is being written, if it was imported before.
    earlier: Option<Session>,
    /// What its source has now, if it was imported before.
    messages: HashSet<MessageId>,
    parts: HashSet<String>,
    /// Sessions whose messages are written but not durable yet. True for those that were here.
    waiting: Vec<(Session, bool)>,
    added: Vec<Session>,
    grown: Vec<Session>,
}

impl<'a> StoreWriter<'a> {
    pub(super) fn new(storage: &'a Storage) -> Self {
        StoreWriter {
            storage,
            earlier: None,
            messages: HashSet::new(),
            parts: HashSet::new(),
            waiting: Vec::new(),
            added: Vec::new(),
            grown: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, imported: &mut Imported) -> Result<()> {
        self.commit()?;
        imported.added.extend(self.added);
        imported.grown.extend(self.grown);
        Ok(())
    }

    /// Makes the messages of many sessions durable at once, then writes their records.
    fn commit(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let ids: Vec<_> = waiting.iter().map(|(session, _)| &session.id).collect();
        self.storage.sync_imported(&ids)?;
        for (session, was_here) in waiting {
            let key = Key::session(&session.project_id, &session.id)?;
            self.storage
                .write(&key, Some(&session.id), &encode(&session)?, false)?;
            self.storage.barrier(&session.id)?;
            match was_here {
                true => self.grown.push(session),
                false => self.added.push(session),
            }
        }
        Ok(())
    }

    /// Removes what an earlier import wrote and the source no longer has: a part of the main line
    /// that was taken back is in a session of its own now.
    fn remove_taken_back(&mut self, session: &SessionId) -> Result<()> {
        let messages = std::mem::take(&mut self.messages);
        let parts = std::mem::take(&mut self.parts);
        let order = self.storage.message_order(session)?;
        let gone = order
            .newest_first()
            .filter(|entry| !messages.contains(&entry.id));
        for entry in gone {
            self.storage.remove_message(session, &entry.id)?;
        }
        for message in &messages {
            for key in self.storage.list(&Key::new(["part", message.as_str()])?)? {
                if !parts.contains(key.name()) {
                    self.storage.remove(&key)?;
                }
            }
        }
        Ok(())
    }

    fn is_continued(&self, id: &SessionId) -> Result<bool> {
        let order = self.storage.message_order(id)?;
        let mut entries = order.newest_first();
        Ok(entries.any(|entry| !lathe_import::is_imported(&entry.id)))
    }
}

impl Writer for StoreWriter<'_> {
    type Error = StoreError;

    fn begin(&mut self, id: &SessionId, mark: &str) -> Result<Known> {
        self.earlier = None;
        self.messages.clear();
        self.parts.clear();
        let Some(key) = self.storage.session_key(id)? else {
            return Ok(Known::New);
        };
        let read = self
            .storage
            .read(&key, &mut Vec::new(), |session: Session| Ok(session))?;
        let Some(session) = read else {
            return Ok(Known::New);
        };
        let imported = session.extra.0.get(IMPORTED);
        let known = imported
            .and_then(|imported| imported.get("mark"))
            .and_then(Value::as_str);
        if known == Some(mark) || imported.is_none() {
            return Ok(Known::Same);
        }
        if self.is_continued(id)? {
            return Ok(Known::Continued);
        }
        self.earlier = Some(session);
        Ok(Known::Grown)
    }

    fn message(&mut self, message: &MessageWithParts) -> Result<()> {
        let (id, session) = (message.info.id(), message.info.session_id());
        if self.earlier.is_some() {
            self.messages.insert(id.clone());
            let parts = message.parts.iter();
            self.parts.extend(parts.map(|part| part.id().to_string()));
        }
        for part in &message.parts {
            let key = Key::part(id, part.id())?;
            self.storage
                .write(&key, Some(session), &encode(part)?, false)?;
        }
        let key = Key::message(session, id)?;
        self.storage
            .write(&key, Some(session), &encode(&message.info)?, false)
    }

    /// What the person changed since (the title, the project) stays.
    fn end(&mut self, mut session: Session) -> Result<()> {
        let earlier = self.earlier.take();
        if let Some(earlier) = &earlier {
            self.remove_taken_back(&session.id)?;
            let imported = session.extra.0.shift_remove(IMPORTED);
            let updated = session.time.updated;
            session = earlier.clone();
            session.time.updated = session.time.updated.max(updated);
            session
                .extra
                .0
                .extend(imported.map(|imported| (IMPORTED.to_owned(), imported)));
        }
        self.waiting.push((session, earlier.is_some()));
        if self.waiting.len() >= BATCH {
            self.commit()?;
        }
        Ok(())
    }
}
