//! Resources of MCP servers, attached to a prompt.

use lathe_protocol::ipc::PromptFile;
use lathe_protocol::{FilePartSource, ResourceSource};

use super::{NewFile, PartList, Reader, TEXT};
use lathe_protocol::data_url;
use lathe_records::{Failed, Result};

/// The resource that an attachment names, unless its content is included.
pub(super) fn named_resource(file: &PromptFile) -> Option<&ResourceSource> {
    match &file.source {
        Some(FilePartSource::Resource(source)) if !file.url.starts_with("data:") => Some(source),
        _ => None,
    }
}

impl Reader<'_> {
    /// Text is added as synthetic text next to the part; other content as bytes.
    pub(super) async fn attach_resource(
        &self,
        file: &PromptFile,
        source: &ResourceSource,
        parts: &mut PartList<'_>,
    ) -> Result<()> {
        let (server, uri) = (&source.client_name, &source.uri);
        let read = self.servers.read(&self.project.id, server, uri).await;
        let name = file.filename.as_deref().unwrap_or(uri);
        let answer =
            read.map_err(|why| Failed::refused(format!("{name} can’t be attached: {why}")))?;
        if !answer.text.is_empty() {
            parts.synthetic(format!(
                "The user gave you the resource {uri} of the MCP server {server}:\n\n{}",
                lathe_tools::text::plain(&answer.text)
            ));
        }
        for read in answer.files {
            let url = match read.mime.as_str() {
                TEXT => uri.clone(),
                mime => data_url::encode(mime, &read.bytes),
            };
            parts.file(NewFile {
                mime: read.mime,
                filename: file.filename.clone().or(read.filename),
                url,
                source: file.source.clone(),
            });
        }
        Ok(())
    }
}
