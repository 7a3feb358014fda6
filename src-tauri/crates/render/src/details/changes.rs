//! The files that a call changed, or would change.

use lathe_protocol::Map;
use lathe_protocol::ipc::ToolBody;
use lathe_protocol::view::FileDiffView;
use serde_json::Value;

use super::{Call, coloured, shown_path};
use crate::diff::{DiffOptions, WHOLE_FILE, file_diff, parse_unified};

pub(super) fn render(call: &Call<'_>) -> Option<ToolBody> {
    let Some(files) = stored(call).or_else(|| intended(call)) else {
        return unapplied_patch(call);
    };
    (!files.is_empty()).then_some(ToolBody::Diffs { files })
}

/// The changes that the tool stored.
fn stored(call: &Call<'_>) -> Option<Vec<FileDiffView>> {
    let metadata = call.metadata?;
    if let Some(Value::Array(files)) = metadata.get("files") {
        let drawn: Vec<_> = files
            .iter()
            .filter_map(|file| stored_file(file.as_object()?, call))
            .collect();
        if !drawn.is_empty() {
            return Some(drawn);
        }
    }
    if let Some(Value::Object(file)) = metadata.get("filediff") {
        return Some(vec![stored_file(file, call)?]);
    }
    let patch = call.word(Some(metadata), "diff")?;
    Some(relative(parse_unified(patch, call.options.whole), call))
}

fn stored_file(file: &Map, call: &Call<'_>) -> Option<FileDiffView> {
    let word = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| file.get(*key).and_then(Value::as_str))
    };
    let path = word(&["file", "relativePath", "filePath"])?;
    let status = word(&["status", "type"]).unwrap_or_default();
    let before = word(&["before"]).filter(|_| !matches!(status, "added" | "add"));
    let after = word(&["after"]).filter(|_| !matches!(status, "deleted" | "delete"));
    if before.is_none() && after.is_none() {
        let patch = word(&["patch", "diff"])?;
        return relative(parse_unified(patch, call.options.whole), call)
            .into_iter()
            .next();
    }
    let (path, old) = match (word(&["from"]), word(&["movePath"])) {
        (Some(from), _) => (path, Some(from)),
        (None, Some(to)) => (to, Some(path)),
        (None, None) => (path, None),
    };
    Some(diff(path, old, before, after, call))
}

/// The changes that the arguments ask for, if the call has not run or has failed.
fn intended(call: &Call<'_>) -> Option<Vec<FileDiffView>> {
    let path = call.argument("filePath");
    let (before, after) = match call.tool {
        "edit" => (
            Some(call.argument("oldString")).filter(|text| !text.is_empty()),
            call.argument("newString"),
        ),
        "write" => (None, call.argument("content")),
        _ => return None,
    };
    let nothing = path.is_empty() || (before.is_none() && after.is_empty());
    (!nothing).then(|| vec![diff(path, None, before, Some(after), call)])
}

/// A patch that was not applied is shown as text, because a diff would need the files.
fn unapplied_patch(call: &Call<'_>) -> Option<ToolBody> {
    let text = call.argument("patchText");
    let unapplied = call.tool == "apply_patch" && call.output.is_empty() && !text.is_empty();
    unapplied.then(|| coloured(text, "changes.diff"))
}

fn diff(
    path: &str,
    old: Option<&str>,
    before: Option<&str>,
    after: Option<&str>,
    call: &Call<'_>,
) -> FileDiffView {
    let mut options = DiffOptions::new(shown_path(path, call.root()));
    options.old_path = old.map(|old| shown_path(old, call.root()));
    options.unfold = call.options.whole;
    if call.options.whole {
        options.context = WHOLE_FILE;
    }
    file_diff(before, after, &options)
}

fn relative(mut files: Vec<FileDiffView>, call: &Call<'_>) -> Vec<FileDiffView> {
    for file in &mut files {
        file.path = shown_path(&file.path, call.root());
    }
    files
}
