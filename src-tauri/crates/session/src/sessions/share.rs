//! Exports, shares and unshares sessions.

use std::path::Path;

use lathe_protocol::ipc::{SessionExport, SharePreview};
use lathe_protocol::{Extra, Session, SessionId, Share};

use super::Sessions;
use crate::share::{self, ShareRecord};
use crate::transfer;
use lathe_records::{Failed, Result};
use lathe_review::summary;
use lathe_workspace::config::{ShareMode, ShareSetting};

impl Sessions {
    /// The session with all visible messages and attachments.
    pub async fn export(&self, id: &SessionId) -> Result<SessionExport> {
        let session = self.get(id).await?;
        let messages = self.visible_messages(&session).await?;
        let todos = self.todos(id).await?;
        let diff = summary::read_stored(&self.core.review, id, None).await?;
        Ok(transfer::export(session, messages, todos, diff))
    }

    /// The same for other people: without secrets and the home folder.
    pub async fn export_redacted(&self, id: &SessionId) -> Result<SessionExport> {
        Ok(share::redact(self.models(), self.export(id).await?)
            .await?
            .0)
    }

    /// What sharing would remove, and the server it would use.
    pub async fn share_preview(&self, id: &SessionId) -> Result<SharePreview> {
        let endpoint = self.share_endpoint(id).await?;
        let (export, redacted) = share::redact(self.models(), self.export(id).await?).await?;
        Ok(SharePreview {
            messages: export.messages.len(),
            redacted,
            endpoint,
        })
    }

    /// Shares the session on the configured server, or else as a page in `file` or in our data
    /// directory.
    pub async fn share(&self, id: &SessionId, file: Option<&Path>) -> Result<Session> {
        let endpoint = self.share_endpoint(id).await?;
        let export = self.export_redacted(id).await?;
        self.delete_share(id).await?;
        let record = match (endpoint, &self.draw_page) {
            (Some(endpoint), _) => share::to_server(&endpoint, &export).await?,
            (None, Some(draw)) => {
                let name = format!("{id}.html");
                let usual = self.core.data_dir.join("share").join(name);
                share::to_file(draw, export, file.unwrap_or(&usual)).await?
            }
            (None, None) => return Err(Failed::refused("This program can’t create a page")),
        };
        record.save(&self.core.records, id).await?;
        let url = record.url().to_owned();
        let extra = Extra::default();
        self.update(id, move |session| {
            session.share = Some(Share { url, extra })
        })
        .await
    }

    /// Deletes the share.
    pub async fn unshare(&self, id: &SessionId) -> Result<Session> {
        self.delete_share(id).await?;
        self.update(id, |session| session.share = None).await
    }

    async fn delete_share(&self, id: &SessionId) -> Result<()> {
        if let Some(record) = ShareRecord::load(&self.core.records, id).await? {
            share::delete(&record).await?;
            ShareRecord::delete(&self.core.records, id).await?;
        }
        Ok(())
    }

    async fn share_endpoint(&self, id: &SessionId) -> Result<Option<String>> {
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = self.core.workspace.setup(&session, &project).await;
        match &setup.settings.share {
            Some(ShareSetting::Mode(ShareMode::Disabled)) => {
                Err(Failed::refused("Sharing is turned off in the config"))
            }
            Some(ShareSetting::At { url }) => Ok(Some(url.clone())),
            _ => Ok(None),
        }
    }
}
