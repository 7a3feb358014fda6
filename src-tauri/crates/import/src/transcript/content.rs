//! The content of a message, before it has ids.

use lathe_protocol::{Map, Millis};

/// The content of a part.
pub enum Content {
    Text {
        text: String,
        synthetic: bool,
        ignored: bool,
    },
    Reasoning(String, Option<Map>),
    File {
        mime: String,
        filename: Option<String>,
        url: String,
    },
    Call(Box<Call>),
    Compaction {
        auto: bool,
    },
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text {
            text: text.into(),
            synthetic: false,
            ignored: false,
        }
    }

    pub fn synthetic(text: impl Into<String>) -> Self {
        Content::Text {
            text: text.into(),
            synthetic: true,
            ignored: false,
        }
    }

    /// A picture or document whose bytes are in the record. One that is only named is not: its
    /// path or address is not opened.
    pub fn data(mime: &str, base64: &str, filename: Option<&str>) -> Self {
        Content::File {
            mime: mime.to_owned(),
            filename: filename.map(str::to_owned),
            url: format!("data:{mime};base64,{base64}"),
        }
    }

    pub fn data_url(url: &str) -> Option<Self> {
        let mime = url.strip_prefix("data:")?.split([';', ',']).next()?;
        Some(Content::File {
            mime: mime.to_owned(),
            filename: None,
            url: url.to_owned(),
        })
    }
}

#[derive(Default)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub input: Map,
    /// `None`: no result was recorded.
    pub result: Option<Result<String, String>>,
    pub metadata: Map,
    pub title: String,
    pub attachments: Vec<Content>,
    pub start: Option<Millis>,
    pub end: Option<Millis>,
    /// Its output was removed from the model's context.
    pub compacted: bool,
}
