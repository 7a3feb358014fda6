//! The handles that turns and the public handle share.
//!
//! Code that needs only one of them is given only that one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lathe_permission::{Ancestor, Authority, Permissions, QuestionBroker, ancestors};
use lathe_protocol::{Project, Session, SessionId};
use lathe_records::clock::Clock;
use lathe_records::{Records, Result};
use lathe_review::Review;
use lathe_tools::{Environment, FileReads, Registry};
use lathe_workspace::Workspace;
use lathe_workspace::agents::Agent;
use lathe_workspace::setup::Setup;
use parking_lot::Mutex;

use crate::active_sessions::ActiveSessions;
use crate::title::Titles;
use lathe_conversation::pictures::Pictures;

pub struct Core {
    pub records: Records,
    pub workspace: Arc<Workspace>,
    pub review: Arc<Review>,
    pub active: ActiveSessions,
    pub permissions: Arc<Permissions>,
    pub questions: QuestionBroker,
    pub tools: ToolBox,
    pub pictures: Pictures,
    pub titles: Titles,
    pub data_dir: PathBuf,
}

impl Core {
    /// The sessions that handed the work on to this one.
    pub async fn ancestors(&self, session: &Session) -> Result<Vec<Ancestor>> {
        let handed_on_by = |child: &SessionId| self.active.handed_on_by(child);
        ancestors(&self.records, session, handed_on_by).await
    }

    /// What an agent may do in a session, for something that happens outside of a turn.
    pub async fn authority(
        &self,
        setup: &Setup,
        project: &Project,
        session: &Session,
        agent: &Agent,
    ) -> Result<Authority> {
        let (permissions, ancestors) = (&self.permissions, self.ancestors(session).await?);
        let authority = Authority::resolve(permissions, setup, project, session, agent, &ancestors);
        Ok(authority)
    }
}

/// What tool calls run with.
pub struct ToolBox {
    pub built_in: Registry,
    pub environment: Arc<Environment>,
    reads: Mutex<RecentReads>,
    output_dir: PathBuf,
}

impl ToolBox {
    pub fn new(built_in: Registry, environment: Arc<Environment>, output_dir: PathBuf) -> Self {
        ToolBox {
            built_in,
            environment,
            reads: Mutex::default(),
            output_dir,
        }
    }

    pub fn reads_of(&self, session: &SessionId) -> Arc<FileReads> {
        self.reads.lock().of(session)
    }

    /// The folder for complete results that were too long for the model.
    pub fn output_dir(&self) -> PathBuf {
        self.output_dir.clone()
    }
}

/// The files that each session has read. Of sessions that were not used for long they are
/// forgotten: the model then has to read a file again before it changes it.
#[derive(Default)]
struct RecentReads {
    sessions: HashMap<SessionId, (u64, Arc<FileReads>)>,
    uses: u64,
}

impl RecentReads {
    const MOST: usize = 100;

    fn of(&mut self, session: &SessionId) -> Arc<FileReads> {
        self.uses += 1;
        let entry = self.sessions.entry(session.clone()).or_default();
        entry.0 = self.uses;
        let reads = entry.1.clone();
        if self.sessions.len() > Self::MOST {
            let unused = self
                .sessions
                .iter()
                .filter(|(_, (_, reads))| Arc::strong_count(reads) == 1);
            let oldest = unused.min_by_key(|(_, (last, _))| *last);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.sessions.remove(&oldest);
            }
        }
        reads
    }
}

/// The session's clock for tools.
pub struct ToolClock(pub Arc<dyn Clock>);

impl lathe_tools::context::Clock for ToolClock {
    fn now_ms(&self) -> i64 {
        self.0.now().0
    }
}

#[cfg(test)]
mod tests {
    use lathe_protocol::{IdSource, Millis, Tick};

    use super::*;

    #[test]
    fn the_reads_of_sessions_that_were_not_used_for_long_are_forgotten() {
        let ids = IdSource::new(Tick::default());
        let sessions: Vec<_> = (0..300).map(|at| ids.session(Millis(at))).collect();
        let mut recent = RecentReads::default();
        let held = recent.of(&sessions[0]);
        for session in &sessions {
            recent.of(session);
        }
        assert_eq!(recent.sessions.len(), RecentReads::MOST);
        assert!(Arc::ptr_eq(&held, &recent.of(&sessions[0])), "it is in use");
        assert!(recent.sessions.contains_key(&sessions[299]));
    }
}
