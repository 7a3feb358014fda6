//! Writes a whole file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::changes::{self, Change, Found, LineEnding, count_lines};
use crate::context::ToolContext;
use crate::paths::Place;
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

pub struct Write;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteInput {
    /// The file, absolute or relative to the working directory.
    file_path: String,
    /// Its whole new content.
    content: String,
}

impl Tool for Write {
    const NAME: &'static str = "write";
    const PROMPT: &'static str = include_str!("write.txt");
    const EFFECT: Effect = Effect::Ordered;
    type Input = WriteInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let place = cx.locate(&input.file_path)?;
        let change = match planned(place.clone(), &input.content, cx).await {
            Ok(change) => change,
            Err(failure) => return Err(cx.failure_about(&[place], failure).await),
        };
        let verb = if change.found.is_some() {
            "Replaced"
        } else {
            "Created"
        };
        let shown = change.ask_and_write(cx).await?;
        let result = format!(
            "{verb} {}: {} lines ({}).",
            text::quoted(place.shown()),
            count_lines(&input.content),
            shown.counts()
        );
        Ok(shown.output(&place, result))
    }
}

async fn planned(place: Place, content: &str, cx: &ToolContext) -> Result<Change, ToolFailure> {
    let found = changes::find(&place).await?;
    if let Some(found) = &found {
        changes::ensure_read(cx, &place, found)?;
    }
    let after = match &found {
        Some(found) => in_the_manner_of(found, content),
        None => content.as_bytes().to_vec(),
    };
    if found.as_ref().is_some_and(|found| found.bytes == after) {
        return Err(ToolFailure::failed(format!(
            "{} has this content already: there is nothing to change.",
            text::quoted(place.shown())
        )));
    }
    Ok(Change {
        place,
        found,
        after,
    })
}

/// The content with the file's own line endings, byte order mark and last line break.
fn in_the_manner_of(found: &Found, content: &str) -> Vec<u8> {
    let Some(before) = found.text() else {
        return content.as_bytes().to_vec();
    };
    let Some(ending) = LineEnding::of(before) else {
        return found.encode(content);
    };
    let mut text = ending.apply(content);
    if before.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending.as_str());
    }
    found.encode(&text)
}
