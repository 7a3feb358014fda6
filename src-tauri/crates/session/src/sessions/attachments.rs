//! The attachments of a session, also in messages that are not loaded in a window.

use lathe_protocol::{FilePart, MessageId, MessageWithParts, Part, PartId, SessionId};
use lathe_tools::webfetch;

use super::Sessions;
use lathe_records::{Failed, Result};

/// Messages read at once while looking for files.
const PAGE: usize = 200;

impl Sessions {
    /// An attachment by its id: a file part, or a file in the result of a tool call.
    pub async fn attachment(
        &self,
        session: &SessionId,
        message: &MessageId,
        part: &PartId,
    ) -> Result<Option<FilePart>> {
        if let Some(Part::File(file)) = self.part(session, message, part).await? {
            return Ok(Some(file));
        }
        let parts = self.core.records.store().parts(message).await?.items;
        let found = parts.into_iter().find_map(|one| match one {
            Part::Tool(tool) if tool.session_id == *session => tool
                .attachments()
                .iter()
                .find(|file| file.id == *part)
                .cloned(),
            _ => None,
        });
        Ok(found)
    }

    /// Downloads a picture that the person clicked on. Its bytes are not checked yet.
    pub async fn fetch_picture(&self, url: &str) -> Result<Vec<u8>> {
        let hosts = self.core.tools.environment.private_hosts();
        let fetched = webfetch::fetch_asked_for(url, hosts, &webfetch::SystemLookup).await;
        fetched.map_err(|failure| Failed::refused(failure.to_string()))
    }

    /// Every attachment of a session that `select` maps to something, oldest first.
    pub async fn attachments<T>(
        &self,
        id: &SessionId,
        mut select: impl FnMut(&FilePart) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut before: Option<MessageId> = None;
        loop {
            let page = self.messages(id, before.as_ref(), PAGE).await?;
            // Newest first, like the pages; reversed at the end.
            for message in page.messages.iter().rev() {
                found.extend(files(message).rev().filter_map(&mut select));
            }
            before = page.messages.first().map(|one| one.info.id().clone());
            if !page.has_older || before.is_none() {
                found.reverse();
                return Ok(found);
            }
        }
    }
}

fn files(message: &MessageWithParts) -> impl DoubleEndedIterator<Item = &FilePart> {
    message.parts.iter().flat_map(|part| match part {
        Part::File(file) => std::slice::from_ref(file),
        Part::Tool(tool) => tool.attachments(),
        _ => &[],
    })
}
