//! Finds files by name.

use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{PermissionAsk, ToolContext};
use crate::paths::Place;
use crate::search::{self, Ages, Newest, PathPattern};
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

const LIMIT: usize = 100;

pub struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobInput {
    /// The pattern, such as `**/*.rs` or `src/**/test_*.{ts,tsx}`.
    pattern: String,
    /// The directory to search; the working directory if not given.
    path: Option<String>,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const EFFECT: Effect = Effect::ReadOnly;
    const PROMPT: &'static str = include_str!("glob.txt");
    type Input = GlobInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        if input.pattern.trim().is_empty() {
            return Err(ToolFailure::failed("The pattern is empty."));
        }
        let start = search::start(input.path.as_deref(), cx)?;
        let pattern = PathPattern::new(below(&input.pattern, &start)?)?;
        let ask = PermissionAsk::new(Self::NAME, &input.pattern).always("*");
        search::ask(ask, &start, cx).await?;
        let cancel = cx.cancel.clone();
        let from = start.path().to_owned();
        let (found, total) = search::blocking(cx, move || {
            let newest = Newest::new(LIMIT);
            let total = AtomicUsize::new(0);
            search::for_each_file(&from, &cancel, || {
                let mut ages = Ages::default();
                let (pattern, newest, total, from) = (&pattern, &newest, &total, &from);
                move |entry| {
                    // Removed or moved since the walk found it.
                    if pattern.matches(entry.path(), from)
                        && let Some(modified) = ages.modified(entry.path())
                    {
                        total.fetch_add(1, Ordering::Relaxed);
                        newest.offer(modified, entry.path(), ());
                    }
                }
            });
            (newest.into_sorted(), total.into_inner())
        })
        .await?;
        let paths: Vec<String> = found.iter().map(|(path, ())| search::shown(path)).collect();
        Ok(output(&input.pattern, &paths, total))
    }
}

/// An absolute pattern is allowed if it is below the directory that is searched.
fn below<'a>(pattern: &'a str, start: &Place) -> Result<&'a str, ToolFailure> {
    if pattern.split(['/', '\\']).any(|part| part == "..") {
        return Err(ToolFailure::failed(
            "A pattern cannot contain \"..\". Give the directory to search as path.",
        ));
    }
    if !pattern.starts_with('/') {
        return Ok(pattern);
    }
    let root = start.path().to_string_lossy();
    pattern
        .strip_prefix(root.as_ref())
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(|| {
            ToolFailure::failed("The pattern is absolute. Give the directory to search as path.")
        })
}

fn output(pattern: &str, paths: &[String], total: usize) -> ToolOutput {
    let mut answer = match paths {
        [] => "No files found.".to_owned(),
        paths => paths.join("\n"),
    };
    let cut = total > paths.len();
    if cut {
        answer.push_str(&format!(
            "\n\n(The newest {} of {total} files. Use a narrower pattern or path for the others.)",
            paths.len()
        ));
    }
    ToolOutput::new(text::visible(pattern), answer)
        .with("count", paths.len())
        .with("total", total)
        .with("truncated", cut)
}
