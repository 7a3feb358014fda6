//! Attachments and mentions, which are read once, when the prompt is created.
//!
//! A text file becomes the output of the `read` tool and a directory its listing, each next to
//! the part that names it; images and PDFs become parts with their bytes.

mod parts;
mod resources;

use std::ops::Range;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_protocol::{Extra, FilePartSource, FileSource, Project, SourceText};
use lathe_tools::{DynTool, ToolContext, ToolOutput, list, paths, read};
use serde_json::{Map, Value, json};
use url::Url;

use crate::agents::Agents;
use crate::mcp::Mcp;
use crate::mentions::{self, Lines, MentionText};
use lathe_protocol::data_url;
use lathe_records::{Failed, Result};
pub use parts::{NewFile, NewSubtask, PartList};

/// The same limit as for the `read` tool.
const MOST_BYTES: usize = 20 * 1024 * 1024;
const TEXT: &str = "text/plain";
const DIRECTORY: &str = "application/x-directory";

pub struct Reader<'a> {
    pub servers: &'a Mcp,
    pub project: &'a Project,
    pub agents: &'a Agents,
    pub cx: ToolContext,
}

/// A file or folder on disk, with the selected lines.
struct OnDisk {
    path: PathBuf,
    lines: Option<Lines>,
}

impl Reader<'_> {
    /// Fails if the file cannot be attached, so that the prompt is refused: the person would
    /// believe that the model has seen it.
    pub async fn attach(&self, file: &PromptFile, parts: &mut PartList<'_>) -> Result<()> {
        if let Some(source) = resources::named_resource(file) {
            return self.attach_resource(file, source, parts).await;
        }
        if file.url.starts_with("data:") {
            return attach_data(file, parts);
        }
        let found = OnDisk::from_url(&file.url).ok_or_else(|| {
            let name = file.filename.as_deref().unwrap_or(&file.url);
            Failed::refused(format!("{name} can’t be attached: it is not a file"))
        })?;
        let name = file
            .filename
            .clone()
            .unwrap_or_else(|| base_name(&found.path));
        let new = NewFile {
            mime: TEXT.to_owned(),
            filename: Some(name.clone()),
            url: file.url.clone(),
            source: file.source.clone(),
        };
        let refused = |why: String| Failed::refused(format!("{name} can’t be attached: {why}"));
        self.read(&found, new, parts).await.map_err(refused)
    }

    /// Adds what the text mentions with `@`, unless it is already attached, or only quoted: these
    /// bytes of the text are not the author's words.
    pub async fn add_mentions(
        &self,
        input: &PromptInput,
        quoted: &[Range<usize>],
        parts: &mut PartList<'_>,
    ) {
        for named in mentions::find_mentions(&input.text) {
            if quoted.iter().any(|quote| quote.contains(&named.at())) {
                continue;
            }
            if input.files.iter().any(|file| is_same_mention(file, &named)) {
                continue;
            }
            if let Some((name, source)) = self.find_agent(&named) {
                parts.agent(name.clone(), source);
                parts.synthetic(agent_instruction(&name));
            } else if let Some((found, mention)) = self.find_file(&named) {
                self.add_file(found, mention, parts).await;
            }
        }
    }

    /// Only agents that accept tasks can be mentioned.
    fn find_agent(&self, named: &MentionText) -> Option<(String, SourceText)> {
        let mut candidates = named.candidates();
        candidates.find_map(|candidate| {
            let agent = self.agents.callable(&candidate.path)?;
            let is_whole = candidate.lines.is_none();
            is_whole.then(|| (agent.name.clone(), candidate.source))
        })
    }

    /// Only files in the project: pasted text must not reach further.
    fn find_file(&self, named: &MentionText) -> Option<(OnDisk, mentions::Candidate)> {
        let home = self.cx.environment.home();
        for candidate in named.candidates() {
            for from in [&self.cx.cwd, &self.cx.root] {
                let Ok(place) = paths::resolve(&candidate.path, from, &self.cx.root, home) else {
                    continue;
                };
                if place.is_inside() && place.path().exists() {
                    let found = OnDisk {
                        path: place.path().to_owned(),
                        lines: candidate.lines,
                    };
                    return Some((found, candidate));
                }
            }
        }
        None
    }

    async fn add_file(
        &self,
        found: OnDisk,
        candidate: mentions::Candidate,
        parts: &mut PartList<'_>,
    ) {
        let Some(url) = found.url() else { return };
        let source = FilePartSource::File(FileSource {
            path: candidate.path.clone(),
            text: candidate.source,
            extra: Extra::default(),
        });
        let new = NewFile {
            mime: TEXT.to_owned(),
            filename: Some(candidate.path.clone()),
            url,
            source: Some(source),
        };
        if let Err(why) = self.read(&found, new, parts).await {
            parts.synthetic(format!(
                "The user mentioned {}, which couldn’t be read: {why}",
                candidate.path
            ));
        }
    }

    /// The error is a sentence for a person or a model.
    async fn read(
        &self,
        found: &OnDisk,
        mut file: NewFile,
        parts: &mut PartList<'_>,
    ) -> Result<(), String> {
        let is_directory = found.path.is_dir();
        let (tool, input) = found.call(is_directory);
        let called = match is_directory {
            true => list::List.call(input.clone(), &self.cx).await,
            false => read::Read.call(input.clone(), &self.cx).await,
        };
        let mut output: ToolOutput = called.map_err(|failure| failure.text)?;
        if let Some(media) = output.attachments.pop() {
            file.url = data_url::encode(&media.mime, &media.bytes);
            file.mime = media.mime;
            parts.file(file);
            return Ok(());
        }
        if is_directory {
            file.mime = DIRECTORY.to_owned();
        }
        let name = file.filename.as_deref().unwrap_or_default();
        parts.synthetic(format!(
            "The user gave you {name}. It was read with the {tool} tool and {input}:\n\n{}",
            output.output
        ));
        parts.file(file);
        Ok(())
    }
}

impl OnDisk {
    fn from_url(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|url| url.scheme() == "file")?;
        let number = |name: &str| {
            let pair = url.query_pairs().find(|(key, _)| key == name);
            pair.and_then(|(_, value)| value.parse::<usize>().ok())
        };
        let lines = number("start").map(|first| Lines {
            first: first.max(1),
            last: number("end").unwrap_or(first).max(first),
        });
        let path = url.to_file_path().ok()?;
        Some(OnDisk { path, lines })
    }

    fn url(&self) -> Option<String> {
        let mut url = Url::from_file_path(&self.path).ok()?;
        if let Some(Lines { first, last }) = self.lines {
            url.set_query(Some(&format!("start={first}&end={last}")));
        }
        Some(url.into())
    }

    fn call(&self, is_directory: bool) -> (&'static str, Value) {
        let path = self.path.display().to_string();
        if is_directory {
            return ("list", json!({ "path": path }));
        }
        let mut input = Map::new();
        input.insert("filePath".to_owned(), path.into());
        if let Some(Lines { first, last }) = self.lines {
            input.insert("offset".to_owned(), first.into());
            input.insert("limit".to_owned(), (last + 1 - first).into());
        }
        ("read", Value::Object(input))
    }
}

fn attach_data(file: &PromptFile, parts: &mut PartList<'_>) -> Result<()> {
    let name = file.filename.as_deref().unwrap_or("The attachment");
    let refused = |why: &str| Failed::refused(format!("{name} can’t be attached: {why}"));
    // Before decoding: base64 takes four characters for three bytes.
    if file.url.len() / 4 * 3 > MOST_BYTES {
        return Err(refused("it is larger than 20 MB"));
    }
    let data = data_url::decode(&file.url).ok_or_else(|| refused("its data is damaged"))?;
    let mime = file.mime.clone().unwrap_or(data.mime);
    let mut new = NewFile {
        mime,
        filename: file.filename.clone(),
        url: file.url.clone(),
        source: file.source.clone(),
    };
    if new.mime == "application/pdf" || is_picture(&new.mime) {
        parts.file(new);
        return Ok(());
    }
    let text = String::from_utf8(data.bytes).ok();
    let text = text
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| refused("only images, PDF files and text can be attached"))?;
    new.mime = TEXT.to_owned();
    parts.synthetic(format!("The user gave you {name}:\n\n{text}"));
    parts.file(new);
    Ok(())
}

/// SVG is text for a model.
fn is_picture(mime: &str) -> bool {
    mime.starts_with("image/") && mime != "image/svg+xml"
}

fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Whether the window has already resolved this mention.
fn is_same_mention(file: &PromptFile, named: &MentionText) -> bool {
    let text = match &file.source {
        Some(FilePartSource::File(source)) => &source.text,
        Some(FilePartSource::Symbol(source)) => &source.text,
        Some(FilePartSource::Resource(source)) => &source.text,
        None => return false,
    };
    named.overlaps(text)
}

fn agent_instruction(name: &str) -> String {
    format!(
        "The user wants the agent \"{name}\" for this. Call the task tool with subagent_type \
         \"{name}\" and a prompt that tells it everything it needs to know."
    )
}
