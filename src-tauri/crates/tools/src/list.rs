//! Shows what is in a directory, as a tree.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{PermissionAsk, ToolContext};
use crate::files;
use crate::search::{self, PathPattern};
use crate::text;
use crate::tool::{Effect, Tool, ToolFailure, ToolOutput};

const LIMIT: usize = 100;

pub struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// The directory; the working directory if not given.
    path: Option<String>,
    /// Patterns of files and directories to leave out.
    #[serde(default)]
    ignore: Vec<String>,
}

impl Tool for List {
    const NAME: &'static str = "list";
    const EFFECT: Effect = Effect::ReadOnly;
    const PROMPT: &'static str = include_str!("list.txt");
    type Input = ListInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let start = search::start(input.path.as_deref(), cx)?;
        let ignored: Vec<PathPattern> = input
            .ignore
            .iter()
            .map(|pattern| PathPattern::new(pattern.trim_end_matches('/')))
            .collect::<Result<_, _>>()?;
        let ask = PermissionAsk::new(Self::NAME, start.shown()).always("*");
        search::ask(ask, &start, cx).await?;
        if !files::is_directory(&start) {
            let shown = text::quoted(start.shown());
            return Err(ToolFailure::failed(format!("{shown} is a file. Use read.")));
        }
        let cancel = cx.cancel.clone();
        let from = start.path().to_owned();
        let (tree, total) = search::blocking(cx, move || {
            let found = Mutex::new(Shallowest::default());
            search::for_each_file(&from, &cancel, || {
                |entry| {
                    let path = entry.path().strip_prefix(&from).unwrap_or(entry.path());
                    if !is_ignored(path, &ignored) {
                        found.lock().offer(entry.depth(), path);
                    }
                }
            });
            let found = found.into_inner();
            (found.tree(), found.total)
        })
        .await?;
        let shown_files = total.min(LIMIT);
        let mut answer = format!("{}/\n", search::shown(start.path()).trim_end_matches('/'));
        tree.write(1, &mut answer);
        if total > LIMIT {
            answer.push_str(&format!(
                "\n({LIMIT} of {total} files, those nearest the top. List a directory below it \
                 to see the others.)"
            ));
        }
        Ok(
            ToolOutput::new(text::visible(start.shown()), answer.trim_end())
                .with("count", shown_files)
                .with("total", total)
                .with("truncated", total > LIMIT),
        )
    }
}

/// A path is ignored if one of its parent directories is.
fn is_ignored(path: &Path, ignored: &[PathPattern]) -> bool {
    path.ancestors()
        .filter(|ancestor| !ancestor.as_os_str().is_empty())
        .any(|ancestor| {
            ignored
                .iter()
                .any(|pattern| pattern.matches(ancestor, Path::new("")))
        })
}

/// Collects the files nearest to the root, then by name.
#[derive(Default)]
struct Shallowest {
    files: std::collections::BTreeSet<(usize, std::path::PathBuf)>,
    total: usize,
}

impl Shallowest {
    fn offer(&mut self, depth: usize, path: &Path) {
        self.total += 1;
        if self.files.len() == LIMIT && self.files.last().is_some_and(|last| last.0 < depth) {
            return;
        }
        self.files.insert((depth, path.to_owned()));
        if self.files.len() > LIMIT {
            self.files.pop_last();
        }
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        for (_, path) in &self.files {
            tree.insert(path);
        }
        tree
    }
}

#[derive(Default)]
struct Tree {
    directories: BTreeMap<String, Tree>,
    files: Vec<String>,
}

impl Tree {
    fn insert(&mut self, path: &Path) {
        let mut names: Vec<String> = path
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(text::quoted(&name.to_string_lossy())),
                _ => None,
            })
            .collect();
        let Some(file) = names.pop() else { return };
        let mut tree = self;
        for name in names {
            tree = tree.directories.entry(name).or_default();
        }
        tree.files.push(file);
    }

    fn write(&self, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        for (name, tree) in &self.directories {
            out.push_str(&format!("{indent}{name}/\n"));
            tree.write(depth + 1, out);
        }
        for name in &self.files {
            out.push_str(&format!("{indent}{name}\n"));
        }
    }
}
