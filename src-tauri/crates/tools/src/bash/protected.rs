//! What a command in the sandbox made in protected places: it is set aside, and the person decides
//! whether it stays.
//!
//! A sandbox can protect what is there, and a few names that are not. A file that decides what
//! runs later may also be made under any other folder, so that is looked for afterwards.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::context::{PermissionAsk, ProtectedItem, SetAside, ToolContext, Walls, Want};
use crate::files;
use crate::text;
use crate::tool::{FailureKind, ToolFailure, ToolOutput};
use crate::written::{CommandWrites, Rename, WriteEvidence};

/// In the metadata of a request and of a call.
const KEY: &str = "setAside";

#[derive(Default)]
pub(super) struct SetAsideFiles(SetAside);

impl SetAsideFiles {
    /// To be called when the last process of the command has ended.
    pub async fn of(walls: Option<Arc<dyn Walls>>) -> Self {
        let Some(walls) = walls else {
            return Self::default();
        };
        let found = tokio::task::spawn_blocking(move || walls.set_aside()).await;
        Self(found.unwrap_or(SetAside {
            items: Vec::new(),
            incomplete: true,
        }))
    }

    pub fn and(mut self, later: Self) -> Self {
        self.0.items.extend(later.0.items);
        self.0.incomplete |= later.0.incomplete;
        self
    }

    /// The command's evidence with our own renames, so that its files are still its own.
    pub fn noted_in(
        &self,
        evidence: Option<Box<dyn WriteEvidence>>,
    ) -> Option<Box<dyn WriteEvidence>> {
        let evidence = evidence?;
        if self.0.items.is_empty() {
            return Some(evidence);
        }
        let renames = self.renames(|path, aside| (path, aside));
        Some(Box::new(WithRenames {
            evidence: Some(evidence),
            renames,
        }))
    }

    /// For a call that is not asked about any more.
    pub fn noted_with(&self, failure: ToolFailure) -> ToolFailure {
        match self.0.items.is_empty() {
            true => failure,
            false => failure.with(KEY, self.names()),
        }
    }

    fn names(&self) -> Vec<Value> {
        let mut names: Vec<String> = Vec::new();
        for item in &self.0.items {
            let name = text::visible(&item.shown);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().map(Value::from).collect()
    }

    fn renames<'a>(
        &'a self,
        order: impl Fn(&'a Path, &'a Path) -> (&'a Path, &'a Path),
    ) -> Vec<Rename> {
        let items = self.0.items.iter();
        let renamed = items.filter_map(|item| {
            let (from, to) = order(&item.path, item.aside.as_deref()?);
            Some(Rename {
                from: from.to_owned(),
                to: to.to_owned(),
                swaps: false,
            })
        });
        renamed.collect()
    }
}

/// Asks whether the files may stay, and gives them their names back after a yes.
pub(super) async fn ask_to_keep(
    output: ToolOutput,
    files: SetAsideFiles,
    metadata: Map<String, Value>,
    cx: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    let output = match files.0.incomplete {
        false => output,
        true => output.with("protectedUnchecked", true),
    };
    if files.0.items.is_empty() {
        return Ok(output);
    }
    let mut patterns: Vec<String> = Vec::new();
    for item in &files.0.items {
        if !patterns.contains(&item.shown) {
            patterns.push(item.shown.clone());
        }
    }
    let want = Want {
        permission: "edit".to_owned(),
        patterns,
        ..Want::default()
    };
    let mut ask = PermissionAsk::from(want).with(KEY, files.names());
    ask.metadata.extend(metadata);
    let note = match cx.host.ask(ask).await {
        Ok(()) => put_back(&files, cx).await?,
        Err(failure) if failure.kind == FailureKind::Aborted => {
            let failure = ToolFailure {
                metadata: output.metadata,
                ..failure
            };
            return Err(files.noted_with(failure));
        }
        Err(failure) => Some(format!("{} {}", renamed(&files), failure.text)),
    };
    Ok(match note {
        None => output,
        Some(note) => noted(output, &note, &files),
    })
}

fn noted(mut output: ToolOutput, note: &str, files: &SetAsideFiles) -> ToolOutput {
    output.output.push_str(&format!("\n\n({note})"));
    output.with(KEY, files.names())
}

/// For the model, with the names that the files have now.
fn renamed(files: &SetAsideFiles) -> String {
    let each = files.0.items.iter().map(|item| {
        let shown = text::quoted(&item.shown);
        match item.aside.as_deref().and_then(Path::file_name) {
            Some(name) => format!(
                "{shown} is protected, so it was renamed to {}.",
                text::quoted(&name.to_string_lossy())
            ),
            None => format!("{shown} is protected, and it couldn’t be renamed."),
        }
    });
    each.collect::<Vec<_>>().join(" ")
}

/// Says what could not be put back.
async fn put_back(found: &SetAsideFiles, cx: &ToolContext) -> Result<Option<String>, ToolFailure> {
    cx.host.about_to_run().await?;
    let items = found.0.items.clone();
    let left = tokio::task::spawn_blocking(move || rename_back(&items)).await;
    let left = left.map_err(|_| ToolFailure::failed("Putting files back broke off."))?;
    let renames = found.renames(|path, aside| (aside, path));
    let evidence = WithRenames {
        evidence: None,
        renames,
    };
    cx.host.has_run(Some(Box::new(evidence))).await;
    let left: Vec<String> = left.iter().map(|path| text::quoted(path)).collect();
    Ok((!left.is_empty()).then(|| format!("These are still renamed: {}.", left.join(", "))))
}

/// The newest first: an older one of the same name stays aside.
fn rename_back(items: &[ProtectedItem]) -> Vec<String> {
    let mut left = Vec::new();
    for item in items.iter().rev() {
        let (Some(aside), Some(name)) = (&item.aside, item.path.file_name()) else {
            continue;
        };
        if files::rename_in_folder(aside, name).is_err() {
            left.push(aside.to_string_lossy().into_owned());
        }
    }
    left
}

/// What a command was seen to write, and what was renamed for it.
struct WithRenames {
    evidence: Option<Box<dyn WriteEvidence>>,
    renames: Vec<Rename>,
}

impl WriteEvidence for WithRenames {
    fn finish(self: Box<Self>) -> Option<CommandWrites> {
        let mut writes = match self.evidence {
            Some(evidence) => evidence.finish()?,
            None => CommandWrites::default(),
        };
        writes.renames.extend(self.renames);
        Some(writes)
    }
}
