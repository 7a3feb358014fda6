//! Reads a file: text as numbered lines, images and PDFs as attachments.

mod similar_names;
mod window;

use std::fs::File;
use std::io::Read as _;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::window::{Window, WindowText};
use crate::context::{PermissionAsk, ToolContext};
use crate::files::{self, FileError};
use crate::hard_links;
use crate::paths::{Place, Target};
use crate::text;
use crate::tool::{Attachment, Effect, Tool, ToolFailure, ToolOutput};

const DEFAULT_LINES: usize = 2_000;
const MAX_ATTACHMENT: u64 = 20 * 1024 * 1024;
const PREVIEW_LINES: usize = 20;

pub struct Read;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadInput {
    /// The file, absolute or relative to the working directory.
    file_path: String,
    /// The first line to read, counted from 1.
    #[schemars(range(min = 1))]
    offset: Option<usize>,
    /// How many lines to read; 2000 if not given.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const EFFECT: Effect = Effect::ReadOnly;
    const PROMPT: &'static str = include_str!("read.txt");
    const TRUNCATES_ITSELF: bool = true;
    type Input = ReadInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let place = cx.locate(&input.file_path)?;
        let names = cx.names_of(&place).await?;
        let ask = PermissionAsk::new(Self::NAME, place.shown())
            .always("*")
            .and(names.secret)
            .and(cx.outside(&place, Target::File));
        cx.host.ask(ask).await?;
        // Models sometimes count from 0; they mean the first line.
        let window = Window {
            first: input.offset.unwrap_or(1).max(1),
            count: input.limit.unwrap_or(DEFAULT_LINES).clamp(1, DEFAULT_LINES),
        };
        let reading = { (place.clone(), cx.cancel.clone(), cx.reads.clone()) };
        let content = tokio::task::spawn_blocking(move || {
            let (place, cancel, reads) = reading;
            let (file, meta) = files::open_path(place.path())?;
            if hard_links::linked(&meta) != names.linked {
                return Err(FileError::Swapped.into());
            }
            let content = load(file, window, &cancel)?;
            if let Content::Text(text) = &content {
                reads.record(place.path(), text.hash);
            }
            Ok(content)
        });
        match content.await {
            Ok(Ok(content)) => output(content, window, &place),
            Ok(Err(error)) => Err(failure(error, &place)),
            Err(_) => Err(ToolFailure::failed("Reading the file broke off.")),
        }
    }
}

enum Content {
    Text(WindowText),
    Media { mime: &'static str, bytes: Vec<u8> },
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("it is a binary file")]
    Binary,
    #[error("aborted")]
    Aborted,
}

fn load(mut file: File, window: Window, cancel: &CancellationToken) -> Result<Content, ReadError> {
    let head = first_bytes(&mut file)?;
    if let Some(mime) = media(&head) {
        let mut bytes = head;
        file.take(MAX_ATTACHMENT)
            .read_to_end(&mut bytes)
            .map_err(FileError::from)?;
        if bytes.len() as u64 > MAX_ATTACHMENT {
            return Err(FileError::TooLarge(MAX_ATTACHMENT).into());
        }
        return Ok(Content::Media { mime, bytes });
    }
    if is_binary(&head) {
        return Err(ReadError::Binary);
    }
    window::read(head, file, window, cancel).map(Content::Text)
}

fn first_bytes(file: &mut File) -> Result<Vec<u8>, FileError> {
    let mut head = Vec::new();
    file.take(window::CHUNK as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether the file becomes an attachment. Bitmaps do not: no provider accepts them.
pub(crate) fn media(head: &[u8]) -> Option<&'static str> {
    lathe_protocol::media::sniff(head).filter(|mime| *mime != "image/bmp")
}

pub(crate) fn is_binary(head: &[u8]) -> bool {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return true; // UTF-16: we could show it, but not edit it back faithfully.
    }
    let odd = |b: &&u8| **b < 0x20 && !matches!(**b, b'\n' | b'\r' | b'\t' | 0x0c | 0x1b | 0x08);
    head.contains(&0) || head.iter().filter(odd).count() * 10 > head.len() * 3
}

fn output(content: Content, window: Window, place: &Place) -> Result<ToolOutput, ToolFailure> {
    let title = text::visible(place.shown());
    match content {
        Content::Media { mime, bytes } => {
            let what = if mime == "application/pdf" {
                "PDF"
            } else {
                "Image"
            };
            let name = place
                .path()
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            Ok(
                ToolOutput::new(title, format!("{what} read; it is attached.")).attach(
                    Attachment {
                        mime: mime.to_owned(),
                        filename: name,
                        bytes,
                        source: None,
                    },
                ),
            )
        }
        Content::Text(text) if text.lines.is_empty() && text.total > 0 => {
            Err(ToolFailure::failed(format!(
                "offset {} is past the end: {} has {} lines.",
                window.first,
                text::quoted(place.shown()),
                text.total
            )))
        }
        Content::Text(text) => {
            let preview: Vec<&str> = text
                .lines
                .iter()
                .take(PREVIEW_LINES)
                .map(String::as_str)
                .collect();
            Ok(ToolOutput::new(title, text.numbered(window.first))
                .with("preview", preview.join("\n"))
                .with("lines", text.total)
                .with("truncated", text.is_cut(window.first)))
        }
    }
}

fn failure(error: ReadError, place: &Place) -> ToolFailure {
    let shown = text::quoted(place.shown());
    match error {
        ReadError::Aborted => ToolFailure::aborted(),
        ReadError::File(FileError::Missing) => {
            let near = similar_names::names(place.path());
            let mut text = format!("There is no file {shown}.");
            if !near.is_empty() {
                text.push_str(&format!(" Did you mean one of these?\n{}", near.join("\n")));
            }
            ToolFailure::failed(text)
        }
        ReadError::File(FileError::Directory) => ToolFailure::failed(format!(
            "{shown} is a directory. Use list to see what is in it."
        )),
        ReadError::Binary => ToolFailure::failed(format!("{shown} is a binary file, not read.")),
        ReadError::File(error) => {
            ToolFailure::failed(format!("{shown} couldn’t be read: {error}."))
        }
    }
}
