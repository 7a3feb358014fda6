//! Replaces text in a file that the model has read.

mod adapt;
mod lines;
mod matching;

use schemars::JsonSchema;
use serde::Deserialize;

use self::matching::{Accepted, NoMatch};
use crate::changes::{self, Change, Endings, Found, ShownChange};
use crate::context::ToolContext;
use crate::paths::Place;
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

pub struct Edit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditInput {
    /// The file, absolute or relative to the working directory.
    file_path: String,
    /// The text to replace. Empty to create the file.
    old_string: String,
    /// What to put in its place.
    new_string: String,
    /// Replace every occurrence rather than the only one.
    #[serde(default)]
    replace_all: Option<bool>,
}

impl Tool for Edit {
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("edit.txt");
    const EFFECT: Effect = Effect::Ordered;
    type Input = EditInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        if input.old_string == input.new_string {
            return Err(ToolFailure::failed(
                "oldString and newString are the same: there is nothing to change.",
            ));
        }
        let place = cx.locate(&input.file_path)?;
        let planned = planned(place.clone(), input, cx).await;
        let (change, accepted) = match planned {
            Ok(planned) => planned,
            Err(failure) => return Err(cx.failure_about(&[place], failure).await),
        };
        let shown = change.ask_and_write(cx).await?;
        let text = match accepted {
            Some(accepted) => result_text(&place, &accepted, &shown),
            None => format!(
                "Created {} ({}).",
                text::quoted(place.shown()),
                shown.counts()
            ),
        };
        Ok(shown.output(&place, text))
    }
}

/// The change, and for a file that is there the places that are replaced.
async fn planned(
    place: Place,
    input: EditInput,
    cx: &ToolContext,
) -> Result<(Change, Option<Accepted>), ToolFailure> {
    let found = changes::find(&place).await?;
    if input.old_string.is_empty() {
        return Ok((created(place, found, &input.new_string)?, None));
    }
    let found = found.ok_or_else(|| {
        ToolFailure::failed(format!(
            "There is no file {}. To create it, give an empty oldString.",
            text::quoted(place.shown())
        ))
    })?;
    changes::ensure_read(cx, &place, &found)?;
    let (change, accepted) = changes::blocking(move || replaced(place, found, &input)).await?;
    Ok((change, Some(accepted)))
}

fn created(place: Place, found: Option<Found>, content: &str) -> Result<Change, ToolFailure> {
    if found.as_ref().is_some_and(|f| f.text() != Some("")) {
        let shown_path = text::quoted(place.shown());
        return Err(ToolFailure::failed(format!(
            "{shown_path} exists and is not empty. Give the text to replace as oldString, or use \
             write to replace the whole file."
        )));
    }
    let after = found.as_ref().map_or_else(
        || content.as_bytes().to_vec(),
        |found| found.encode(content),
    );
    Ok(Change {
        place,
        found,
        after,
    })
}

fn replaced(
    place: Place,
    found: Found,
    input: &EditInput,
) -> Result<(Change, Accepted), ToolFailure> {
    let shown = text::quoted(place.shown());
    let before = found.text().ok_or_else(|| {
        ToolFailure::failed(format!(
            "{shown} is not UTF-8 text, so it can’t be edited without damage to it."
        ))
    })?;
    let endings = Endings::of(before);
    let old = input.old_string.replace("\r\n", "\n");
    let new = input.new_string.replace("\r\n", "\n");
    let all = input.replace_all.unwrap_or(false);
    let accepted = matching::find(endings.plain(), &old, &new, all)
        .map_err(|why| no_match(&why, &shown, &old))?;
    let after = with_replacements(&endings, before, &accepted);
    if after == before {
        return Err(ToolFailure::failed(format!(
            "The change would leave {shown} as it is: newString is what is there already."
        )));
    }
    let after = found.encode(&after);
    Ok((
        Change {
            place,
            found: Some(found),
            after,
        },
        accepted,
    ))
}

/// Unchanged lines keep their bytes, so that mixed line endings are not normalised.
fn with_replacements(endings: &Endings, before: &str, accepted: &Accepted) -> String {
    let mut after = String::with_capacity(before.len());
    let mut done = 0;
    for replacement in &accepted.replacements {
        let old = &endings.plain()[replacement.range.clone()];
        let (start, end) = lines::common(old, &replacement.text);
        let inner = replacement.range.start + start..replacement.range.end - end;
        let range = endings.original_range(&inner);
        let new = &replacement.text[start..replacement.text.len() - end];
        after.push_str(&before[done..range.start]);
        after.push_str(&endings.ending_at(&range).apply(new));
        done = range.end;
    }
    after.push_str(&before[done..]);
    if before.ends_with('\n') && !after.is_empty() && !after.ends_with('\n') {
        let with_cr = before.ends_with("\r\n");
        after.push_str(if with_cr { "\r\n" } else { "\n" });
    }
    after
}

fn result_text(place: &Place, accepted: &Accepted, shown: &ShownChange) -> String {
    let path = text::quoted(place.shown());
    let places = match accepted.replacements.len() {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    };
    let mut text = format!("Edited {path}: {places} replaced ({}).", shown.counts());
    if let Some(how) = accepted.strategy.difference() {
        text.push_str(&format!(
            " oldString was not there as written; it was found {how}. Check that this is what you \
             meant:\n\n{}",
            shown.patch()
        ));
    }
    text
}

fn no_match(why: &NoMatch, shown: &str, old: &str) -> ToolFailure {
    let text = match why {
        NoMatch::Nowhere if lines::look_numbered(old) => format!(
            "oldString was not found in {shown}. It seems to hold line numbers from the read \
             tool; leave them out."
        ),
        NoMatch::Nowhere => format!(
            "oldString was not found in {shown}. Read the file again and copy the text as it \
             stands there."
        ),
        NoMatch::Several(count) => format!(
            "oldString is in {shown} {count} times. Give more of the lines around it, so that \
             only one place fits, or set replaceAll."
        ),
        NoMatch::TooLong { lines } => format!(
            "The only place in {shown} that is like oldString has {lines} lines, far more than \
             oldString, so nothing was changed. Read the file again and give the whole text to \
             replace."
        ),
    };
    ToolFailure::failed(text)
}
