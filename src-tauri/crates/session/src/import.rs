//! Imports sessions of another program.
//!
//! The store reads and writes them; this opens a project for each where possible and publishes
//! the new sessions.

use std::path::Path;

use lathe_protocol::ipc::{
    ImportKind, ImportLeftOut, ImportReport, ImportSource, ImportUnreadable,
};
use lathe_protocol::{Event, Session};
use lathe_store::{FoundSource, SourceKind, default_import_paths};
pub use lathe_store::{ImportControl, ImportFrom};

use crate::sessions::Sessions;
use lathe_records::Result;
use lathe_workspace::project;

impl Sessions {
    /// The sessions of other programs, found in their usual folders.
    pub async fn find_imports(&self) -> Vec<ImportSource> {
        let store = self.core().records.store();
        let found = store.find_sources(default_import_paths()).await;
        found.into_iter().filter_map(import_source).collect()
    }

    /// Imports every session at `path`: a data directory, a database, a folder of another agent,
    /// or one file.
    pub async fn import_from(&self, path: &Path) -> Result<ImportReport> {
        self.import_watched(path, None, ImportControl::default())
            .await
    }

    /// The same for sessions of one program, if it is named. `control` reports how far it is and
    /// stops it.
    pub async fn import_watched(
        &self,
        path: &Path,
        from: Option<ImportFrom>,
        control: ImportControl,
    ) -> Result<ImportReport> {
        let records = &self.core().records;
        let store = records.store();
        let imported = store.import_watched(path, from, control).await?;
        let added = imported.added.len();
        for session in imported.added {
            self.open_project_of(&session).await;
            records.publish(Event::SessionCreated { info: session });
        }
        let grown = imported.grown.len();
        for session in imported.grown {
            records.publish(Event::SessionUpdated { info: session });
        }
        let left_out = imported
            .left_out
            .into_iter()
            .map(|one| ImportLeftOut {
                what: one.what,
                why: one.why.to_owned(),
                count: one.count,
            })
            .collect();
        let unreadable = imported
            .unreadable
            .into_iter()
            .map(|one| ImportUnreadable {
                what: one.what,
                why: one.why,
            })
            .collect();
        Ok(ImportReport {
            added,
            already: imported.already,
            grown,
            unreadable,
            left_out,
            stopped: imported.stopped,
        })
    }

    /// Opens the project of the session's folder if the session's own project is unknown.
    async fn open_project_of(&self, session: &Session) {
        let folder = Path::new(&session.directory);
        if self.project(&session.project_id).await.is_ok() || !folder.is_absolute() {
            return;
        }
        if let Err(error) = project::open_named(&self.core().records, folder).await {
            tracing::debug!(%error, "the folder of an imported session is not here");
        }
    }
}

fn import_source(found: FoundSource) -> Option<ImportSource> {
    let kind = match found.kind {
        SourceKind::Json => ImportKind::Json,
        SourceKind::Sqlite => ImportKind::Sqlite,
        SourceKind::Codex => ImportKind::Codex,
        SourceKind::Claude => ImportKind::Claude,
        SourceKind::Exported => return None,
    };
    Some(ImportSource {
        path: found.path.display().to_string(),
        kind,
        sessions: found.sessions,
    })
}
