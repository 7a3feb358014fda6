//! What the person at the editor sends, as a prompt of ours.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_session::data_url;
use url::Url;

use crate::agent::refused;

const PLAIN_TEXT: &str = "text/plain";
const UNKNOWN_BYTES: &str = "application/octet-stream";

/// The text stays in the order in which it was typed; files that stand in it are named there.
pub fn read(blocks: Vec<acp::ContentBlock>) -> Result<PromptInput, Error> {
    let mut input = PromptInput::default();
    for block in blocks {
        match block {
            acp::ContentBlock::Text(text) => input.text.push_str(&text.text),
            acp::ContentBlock::ResourceLink(link) => linked(&mut input, link),
            acp::ContentBlock::Image(image) => input.files.push(PromptFile {
                url: format!("data:{};base64,{}", image.mime_type, image.data),
                mime: Some(image.mime_type),
                filename: image.uri.as_deref().and_then(file_name),
                source: None,
            }),
            acp::ContentBlock::Resource(resource) => match resource.resource {
                acp::EmbeddedResourceResource::TextResourceContents(content) => {
                    let bytes = content.text.as_bytes();
                    input.files.push(embedded(
                        &content.uri,
                        data_url::encode(PLAIN_TEXT, bytes),
                        PLAIN_TEXT.to_owned(),
                    ));
                }
                acp::EmbeddedResourceResource::BlobResourceContents(content) => {
                    let mime = content
                        .mime_type
                        .unwrap_or_else(|| UNKNOWN_BYTES.to_owned());
                    let url = format!("data:{mime};base64,{}", content.blob);
                    input.files.push(embedded(&content.uri, url, mime));
                }
                _ => return Err(refused("This kind of content can’t be sent".to_owned())),
            },
            _ => {
                return Err(refused(
                    "Only text, files and images can be sent".to_owned(),
                ));
            }
        }
    }
    if input.text.trim().is_empty() && input.files.is_empty() {
        return Err(refused("Enter a prompt".to_owned()));
    }
    Ok(input)
}

/// A file of this machine is attached, anything else is only named.
fn linked(input: &mut PromptInput, link: acp::ResourceLink) {
    let name = link.name.replace(['[', ']'], "");
    input.text.push_str(&format!("[{name}]({})", link.uri));
    if link.uri.starts_with("file://") {
        input.files.push(PromptFile {
            filename: file_name(&link.uri),
            url: link.uri,
            mime: link.mime_type,
            source: None,
        });
    }
}

/// What the editor holds of a file, which may differ from what is on the disk.
fn embedded(uri: &str, url: String, mime: String) -> PromptFile {
    PromptFile {
        url,
        mime: Some(mime),
        filename: file_name(uri),
        source: None,
    }
}

fn file_name(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok()?;
    let name = url.path_segments()?.next_back()?;
    let name = data_url::percent_decode(name);
    String::from_utf8(name).ok().filter(|name| !name.is_empty())
}
