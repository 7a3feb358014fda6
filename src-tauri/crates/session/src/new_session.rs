//! The initial record of a session.

use lathe_protocol::{Extra, Project, Ruleset, Session, SessionId, SessionTime};
use lathe_records::Records;

use crate::{slug, title};

pub struct NewSession<'a> {
    pub directory: &'a str,
    pub parent: Option<&'a SessionId>,
    pub title: Option<String>,
    pub permission: Option<Ruleset>,
}

impl<'a> NewSession<'a> {
    pub fn in_directory(directory: &'a str) -> Self {
        NewSession {
            directory,
            parent: None,
            title: None,
            permission: None,
        }
    }

    /// A session that is not stored yet.
    pub fn draft(self, records: &Records, project: &Project) -> Session {
        let now = records.now();
        let default = || title::default(self.parent.is_some(), now);
        Session {
            id: records.ids().session(now),
            slug: Some(slug::make()),
            project_id: project.id.clone(),
            directory: self.directory.to_owned(),
            parent_id: self.parent.cloned(),
            forked_from: None,
            summary: None,
            share: None,
            title: self.title.unwrap_or_else(default),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: SessionTime {
                created: now,
                updated: now,
                compacting: None,
                archived: None,
                extra: Extra::default(),
            },
            permission: self.permission,
            revert: None,
            extra: Extra::default(),
        }
    }
}
