//! Changes several files at once by a patch in the Begin/End Patch format.
//!
//! A patch quotes the lines it changes, so it needs no read before it: everything is checked
//! against what is on disk now, and again right before each write.

#[cfg(test)]
mod any_text;
mod hunks;
mod parse;
mod steps;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use self::parse::Action;
use self::steps::Step;
use crate::changes::{self, Found, ShownChange};
use crate::context::{PermissionAsk, ToolContext, Want};
use crate::paths::Place;
use crate::read::Read;
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

pub struct ApplyPatch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyPatchInput {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    patch_text: String,
}

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const PROMPT: &'static str = include_str!("apply_patch.txt");
    const EFFECT: Effect = Effect::Ordered;
    type Input = ApplyPatchInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let actions = parse::parse(&input.patch_text)
            .map_err(|bad| ToolFailure::failed(format!("The patch can’t be read: {bad}.")))?;
        let mut named: Vec<Place> = Vec::new();
        let mut located = Vec::new();
        for action in actions {
            let from = locate(action.path(), &mut named, cx)?;
            let to = match action.moved_to() {
                Some(to) => Some(locate(to, &mut named, cx)?),
                None => None,
            };
            located.push((action, from, to));
        }
        let steps = match planned(located).await {
            Ok(steps) => steps,
            Err(failure) => return Err(cx.failure_about(&named, failure).await),
        };
        let shown: Vec<ShownChange> = steps.iter().map(Step::shown).collect();
        let reads = moved_content(&steps, cx).await?;
        cx.host.ask(ask(cx, &named, &shown).and(reads)).await?;
        changes::about_to_write(cx, steps.iter().flat_map(Step::changes).collect()).await?;
        let steps = changes::blocking(move || {
            steps::write_all(&steps)?;
            Ok(steps)
        })
        .await?;
        for step in &steps {
            step.record_reads(&cx.reads);
            for place in step.places() {
                cx.host.file_edited(place.path()).await;
            }
        }
        Ok(output(&steps, &shown))
    }
}

fn locate(given: &str, named: &mut Vec<Place>, cx: &ToolContext) -> Result<Place, ToolFailure> {
    let place = cx.locate(given)?;
    if named.contains(&place) {
        return Err(ToolFailure::failed(format!(
            "The patch names {} twice. Put all changes to one file under one header.",
            text::quoted(place.shown())
        )));
    }
    named.push(place.clone());
    Ok(place)
}

async fn planned(located: Vec<(Action, Place, Option<Place>)>) -> Result<Vec<Step>, ToolFailure> {
    let mut steps = Vec::new();
    for (action, place, to) in located {
        steps.push(step(action, place, to).await?);
    }
    Ok(steps)
}

async fn step(action: Action, place: Place, to: Option<Place>) -> Result<Step, ToolFailure> {
    let found = changes::find(&place).await?;
    match action {
        Action::Add { content, .. } => match found {
            Some(_) => Err(refused(
                &place,
                "exists already; use Update File to change it",
            )),
            None => Ok(Step::Write {
                place,
                found: None,
                after: content.into_bytes(),
            }),
        },
        Action::Delete { .. } => {
            let found = found.ok_or_else(|| refused(&place, "does not exist"))?;
            Ok(Step::Delete { place, found })
        }
        Action::Update { hunks, .. } => {
            let found = found.ok_or_else(|| refused(&place, "does not exist"))?;
            let after = updated(&place, &found, &hunks)?;
            let Some(to) = to else {
                return Ok(Step::Write {
                    place,
                    found: Some(found),
                    after,
                });
            };
            if changes::find(&to).await?.is_some() {
                return Err(refused(
                    &to,
                    "exists already, so nothing can be moved there",
                ));
            }
            Ok(Step::Move {
                from: place,
                found,
                to,
                after,
            })
        }
    }
}

fn updated(place: &Place, found: &Found, hunks: &[parse::Hunk]) -> Result<Vec<u8>, ToolFailure> {
    let before = found
        .text()
        .ok_or_else(|| refused(place, "is not UTF-8 text"))?;
    let after = hunks::apply(before, hunks).map_err(|error| {
        ToolFailure::failed(format!(
            "The patch does not fit {}: {error} No file was changed.",
            text::quoted(place.shown())
        ))
    })?;
    Ok(found.encode(&after))
}

fn refused(place: &Place, why: &str) -> ToolFailure {
    let shown = text::quoted(place.shown());
    ToolFailure::failed(format!("{shown} {why}. No file was changed."))
}

/// One permission request for all files: a patch is accepted or rejected as a whole.
fn ask(cx: &ToolContext, places: &[Place], shown: &[ShownChange]) -> PermissionAsk {
    let named: Vec<&str> = places.iter().map(Place::shown).collect();
    changes::ask(cx, places)
        .with("filepath", named.join(", "))
        .with("diff", joined(shown))
        .with("files", files(shown))
}

/// Under a new name, other rules would decide whether a moved file may be read. So moving a file
/// needs what reading it needs.
async fn moved_content(steps: &[Step], cx: &ToolContext) -> Result<Vec<Want>, ToolFailure> {
    let mut wants = Vec::new();
    for step in steps {
        if let Step::Move { from, .. } = step {
            wants.push(Want::new(Read::NAME, from.shown()).always("*"));
            wants.extend(cx.names_of(from).await?.secret);
        }
    }
    Ok(wants)
}

fn places(steps: &[Step]) -> Vec<String> {
    let places = steps.iter().flat_map(Step::places);
    places.map(|place| place.shown().to_owned()).collect()
}

fn joined(shown: &[ShownChange]) -> String {
    shown.iter().map(ShownChange::patch).collect()
}

fn files(shown: &[ShownChange]) -> Vec<Value> {
    shown.iter().map(ShownChange::to_json).collect()
}

fn output(steps: &[Step], shown: &[ShownChange]) -> ToolOutput {
    let lines: Vec<String> = steps
        .iter()
        .zip(shown)
        .map(|(step, shown)| format!("{} ({})", step.summary(), shown.counts()))
        .collect();
    let title = match places(steps).as_slice() {
        [only] => text::visible(only),
        _ => format!("{} files", steps.len()),
    };
    ToolOutput::new(
        title,
        format!("The patch was applied:\n{}", lines.join("\n")),
    )
    .with("diff", joined(shown))
    .with("files", files(shown))
}
