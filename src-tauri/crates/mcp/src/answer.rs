//! The answer of a server, as text for the model and attached files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    pub text: String,
    pub files: Vec<AnswerFile>,
    /// The server reports that the call failed; the text says why.
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFile {
    pub mime: String,
    pub filename: Option<String>,
    pub bytes: Vec<u8>,
    /// Set for a resource.
    pub uri: Option<String>,
}

impl Answer {
    pub(crate) fn from_call(result: CallToolResult) -> Self {
        let mut answer = Answer {
            is_error: result.is_error == Some(true),
            ..Answer::default()
        };
        for block in result.content {
            answer.add(block);
        }
        // A server that sends both repeats the structured content in the text.
        if let Some(value) = result.structured_content
            && answer.text.is_empty()
            && answer.files.is_empty()
        {
            answer.add_text(&format!("{value:#}"));
        }
        answer
    }

    pub(crate) fn from_resource(result: ReadResourceResult) -> Self {
        let mut answer = Answer::default();
        for contents in result.contents {
            answer.add_resource(contents);
        }
        answer
    }

    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.add_text(&text.text),
            ContentBlock::Image(image) => self.add_file(&image.data, image.mime_type, None),
            ContentBlock::Audio(audio) => self.add_file(&audio.data, audio.mime_type, None),
            ContentBlock::Resource(resource) => self.add_resource(resource.resource),
            ContentBlock::ResourceLink(link) => {
                let description = link.description.map(|text| format!(": {text}"));
                let description = description.unwrap_or_default();
                self.add_text(&format!(
                    "Resource {} ({}){description}",
                    link.name, link.uri
                ));
            }
            _ => self.add_text("(content of a kind that is not known here)"),
        }
    }

    /// A text resource is both text for the model and a file for the user.
    fn add_resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.add_text(&text);
                self.files.push(AnswerFile {
                    mime: "text/plain".to_owned(),
                    filename: file_name(&uri),
                    bytes: text.into_bytes(),
                    uri: Some(uri),
                });
            }
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let mime = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                self.add_file(&blob, mime, Some(uri));
            }
            _ => self.add_text("(a resource of a kind that is not known here)"),
        }
    }

    fn add_file(&mut self, data: &str, mime: String, uri: Option<String>) {
        match STANDARD.decode(data) {
            Ok(bytes) => self.files.push(AnswerFile {
                filename: uri.as_deref().and_then(file_name),
                mime,
                bytes,
                uri,
            }),
            Err(_) => self.add_text(&format!("({mime} content that couldn’t be decoded)")),
        }
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

fn file_name(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    let name = path.trim_end_matches('/').rsplit(['/', ':']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(result: serde_json::Value) -> Answer {
        Answer::from_call(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn text_is_joined_and_media_become_files() {
        let got = answer(json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "data": "AAE=", "mimeType": "image/png" },
            { "type": "audio", "data": "Ag==", "mimeType": "audio/wav" },
            { "type": "text", "text": "two" },
            { "type": "image", "data": "!", "mimeType": "image/png" },
        ] }));
        let file = |mime: &str, bytes: &[u8]| AnswerFile {
            mime: mime.to_owned(),
            filename: None,
            bytes: bytes.to_vec(),
            uri: None,
        };
        assert_eq!(
            got,
            Answer {
                text: "one\ntwo\n(image/png content that couldn’t be decoded)".to_owned(),
                files: vec![file("image/png", &[0, 1]), file("audio/wav", &[2])],
                is_error: false,
            }
        );
    }

    #[test]
    fn resources_keep_their_uri() {
        let got = answer(json!({ "isError": true, "content": [
            { "type": "resource", "resource": { "uri": "file:///a/b.txt?x", "text": "hi" } },
            { "type": "resource", "resource": { "uri": "demo://pic", "blob": "AA==", "mimeType": "image/gif" } },
            { "type": "resource_link", "uri": "demo://far", "name": "far", "description": "more" },
        ] }));
        assert_eq!(
            got,
            Answer {
                text: "hi\nResource far (demo://far): more".to_owned(),
                files: vec![
                    AnswerFile {
                        mime: "text/plain".to_owned(),
                        filename: Some("b.txt".to_owned()),
                        bytes: b"hi".to_vec(),
                        uri: Some("file:///a/b.txt?x".to_owned()),
                    },
                    AnswerFile {
                        mime: "image/gif".to_owned(),
                        filename: Some("pic".to_owned()),
                        bytes: vec![0],
                        uri: Some("demo://pic".to_owned()),
                    },
                ],
                is_error: true,
            }
        );
    }

    #[test]
    fn structured_content_alone_becomes_json_text() {
        let got = answer(json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!(got.text, "{\n  \"a\": 1\n}");
        let both = answer(
            json!({ "content": [{ "type": "text", "text": "x" }], "structuredContent": {} }),
        );
        assert_eq!(both.text, "x");
    }
}
