//! Suggests similar names for a file that was not found.

use std::path::Path;

use similar::TextDiff;

use crate::text;

const MAX_ENTRIES: usize = 2_000;
const MAX_SUGGESTIONS: usize = 3;
const MIN_SIMILARITY: f32 = 0.75;

/// Full paths of up to three similar names in the same directory, the most similar first.
pub(super) fn names(path: &Path) -> Vec<String> {
    let (Some(parent), Some(wanted)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let wanted = wanted.to_string_lossy().to_lowercase();
    let mut found: Vec<(f32, String)> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let similarity = similarity(&wanted, &name.to_lowercase());
            (similarity >= MIN_SIMILARITY).then_some((similarity, name))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found
        .into_iter()
        .take(MAX_SUGGESTIONS)
        .map(|(_, name)| text::quoted(&parent.join(name).to_string_lossy()))
        .collect()
}

fn similarity(wanted: &str, name: &str) -> f32 {
    if name.contains(wanted) || wanted.contains(name) {
        return 1.0;
    }
    TextDiff::from_chars(wanted, name).ratio()
}
