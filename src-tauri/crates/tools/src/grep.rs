//! Finds lines that match a regular expression.

mod matches;
mod places;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Deserialize;

use self::matches::{FileMatches, Finder};
pub use self::places::{LinePlaces, find_places};
use crate::context::{MayRead, PermissionAsk, ToolContext, Want};
use crate::files;
use crate::hard_links::LinkedSecrets;
use crate::paths;
use crate::read::Read;
use crate::search::{self, Newest, PathPattern};
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

const LIMIT: usize = 100;

pub struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepInput {
    /// The regular expression to look for (Rust syntax).
    pattern: String,
    /// The directory or file to search; the working directory if not given.
    path: Option<String>,
    /// Only files whose names match this pattern, such as `*.rs` or `*.{ts,tsx}`.
    include: Option<String>,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const EFFECT: Effect = Effect::ReadOnly;
    const PROMPT: &'static str = include_str!("grep.txt");
    type Input = GrepInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        if input.pattern.is_empty() {
            return Err(ToolFailure::failed("The pattern is empty."));
        }
        let start = search::start(input.path.as_deref(), cx)?;
        let finder = Finder::new(&input.pattern, LIMIT)?;
        let include = input.include.as_deref().map(PathPattern::new).transpose()?;
        // Matches reveal content: one file must be allowed to be read, and of many those that may
        // not be read are not searched.
        let one_file = !files::is_directory(&start);
        let read = one_file.then(|| Want::new(Read::NAME, start.shown()).always("*"));
        let names = cx.names_of(&start).await?;
        let ask = PermissionAsk::new(Self::NAME, &input.pattern)
            .always("*")
            .and(read)
            .and(names.secret)
            .with("include", input.include);
        search::ask(ask, &start, cx).await?;
        let may_read: MayRead = match one_file {
            true => Arc::new(|_: &str| true),
            false => cx.host.may_read().await?,
        };
        let cancel = cx.cancel.clone();
        let (from, root) = (start.path().to_owned(), cx.root.clone());
        let secrets = LinkedSecrets::new(cx.root.clone(), may_read.clone());
        let finder = Arc::new(finder);
        let (found, left_out) = search::blocking(cx, move || {
            let left_out = AtomicUsize::new(0);
            // Each file has at least one match, so no more than the newest hundred can be shown.
            let newest = Newest::new(LIMIT + 1);
            search::for_each_file(&from, &cancel, || {
                let mut searcher = finder.searcher();
                let (finder, newest, include, from) = (&finder, &newest, &include, &from);
                let (may_read, secrets) = (&may_read, &secrets);
                let (root, left_out) = (&root, &left_out);
                move |entry| {
                    let path = entry.path();
                    if include
                        .as_ref()
                        .is_some_and(|pattern| !pattern.matches(path, from))
                    {
                        return;
                    }
                    let Ok((file, meta)) = files::open_path(path) else {
                        return;
                    };
                    // Counted before the search: a number of matches would reveal content.
                    if !may_read(&paths::shown(path, root)) || secrets.name_of(&meta).is_some() {
                        left_out.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    // Enough newer files match already: this one cannot be shown.
                    if !newest.wants(modified) {
                        return;
                    }
                    if let Some(matches) = finder.search(&mut searcher, &file) {
                        newest.offer(modified, path, matches);
                    }
                }
            });
            (newest.into_sorted(), left_out.into_inner())
        })
        .await?;
        Ok(output(&input.pattern, &found, left_out))
    }
}

fn output(
    pattern: &str,
    found: &[(std::path::PathBuf, FileMatches)],
    left_out: usize,
) -> ToolOutput {
    let mut answer = String::new();
    let (mut shown, mut in_files, mut cut) = (0, 0, false);
    for (path, matches) in found {
        if shown == LIMIT {
            cut = true;
            break;
        }
        in_files += 1;
        answer.push_str(&format!("{}:\n", search::shown(path)));
        let room = LIMIT - shown;
        for line in matches.lines.iter().take(room) {
            answer.push_str(&format!("  {}: {}\n", line.number, line.text));
        }
        shown += matches.lines.len().min(room);
        cut |= matches.lines.len() > room || matches.more;
        answer.push('\n');
    }
    let mut answer = if shown == 0 {
        "No matches found.".to_owned()
    } else {
        answer
    };
    if cut {
        answer.push_str(&format!(
            "(The first {shown} matches, newest files first; there are more. Use a narrower \
             pattern, path or include.)"
        ));
    }
    let mut result = ToolOutput::new(text::visible(pattern), "")
        .with("matches", shown)
        .with("files", in_files)
        .with("truncated", cut);
    let answer = answer.trim_end();
    result.output = match left_out {
        0 => answer.to_owned(),
        1 => format!("{answer}\n\n(1 file was left out: it may not be read without a question.)"),
        _ => format!(
            "{answer}\n\n({left_out} files were left out: they may not be read without a question.)"
        ),
    };
    if left_out > 0 {
        result = result.with("leftOut", left_out);
    }
    result
}
