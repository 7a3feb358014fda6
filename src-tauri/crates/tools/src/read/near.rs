//! Names like the one that was not found.

use std::path::Path;

use similar::TextDiff;

use crate::text;

const LOOKED_AT: usize = 2_000;
const OFFERED: usize = 3;
const LIKE_ENOUGH: f32 = 0.75;

/// Full paths of up to three near names in the same directory, the nearest first.
pub(super) fn names(path: &Path) -> Vec<String> {
    let (Some(parent), Some(wanted)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let wanted = wanted.to_string_lossy().to_lowercase();
    let mut found: Vec<(f32, String)> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .take(LOOKED_AT)
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let likeness = likeness(&wanted, &name.to_lowercase());
            (likeness >= LIKE_ENOUGH).then_some((likeness, name))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found
        .into_iter()
        .take(OFFERED)
        .map(|(_, name)| text::quoted(&parent.join(name).to_string_lossy()))
        .collect()
}

fn likeness(wanted: &str, name: &str) -> f32 {
    if name.contains(wanted) || wanted.contains(name) {
        return 1.0;
    }
    TextDiff::from_chars(wanted, name).ratio()
}
