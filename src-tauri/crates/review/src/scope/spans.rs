//! From which tree to which tree each file changed. Reads trees: blocks.

use std::collections::{BTreeMap, BTreeSet};

use lathe_snapshot::{FileContent, FileImage, RelPath, SideRepo, TreeId};

use crate::credit::Doubt;
use crate::error::{Result, ReviewError};
use crate::lines::merge::merge;
use crate::steps::StepTrees;

pub type Spans = BTreeMap<RelPath, (TreeId, TreeId)>;

/// What steps did to each file. What a person changed in between was there before.
pub fn of_steps(repo: &SideRepo, label: &str, steps: &[StepTrees]) -> Result<Spans> {
    let mut all: BTreeMap<RelPath, Vec<(TreeId, TreeId)>> = BTreeMap::new();
    for step in steps {
        let there = repo.contains(step.start) && repo.contains(step.finish);
        if step.start == step.finish || !there {
            continue;
        }
        let named: BTreeSet<&str> = step.named.iter().map(String::as_str).collect();
        for path in repo.changed_files(step.start, step.finish)? {
            let is_revert = step.is_revert();
            if is_revert && !(named.contains(path.to_string().as_str()) && all.contains_key(&path))
            {
                continue;
            }
            if step.doubt(&path) != Some(Doubt::ByOthers) {
                let pair = (step.start, step.finish);
                all.entry(path).or_default().push(pair);
            }
        }
    }
    let mut spans = Spans::new();
    for (path, steps) in all {
        let (Some((first, _)), Some((_, last))) = (steps.first(), steps.last()) else {
            continue;
        };
        let before = before_with_edits(repo, label, &path, *first, &steps)?;
        spans.insert(path, (before, *last));
    }
    Ok(spans)
}

/// The tree before the first step, with what a person changed between the steps.
fn before_with_edits(
    repo: &SideRepo,
    label: &str,
    path: &RelPath,
    first: TreeId,
    steps: &[(TreeId, TreeId)],
) -> Result<TreeId> {
    let mut before: Option<FileContent> = None;
    for pair in steps.windows(2) {
        let [(_, left), (found, _)] = pair else {
            continue;
        };
        if repo.is_same(path, *left, *found)? {
            continue;
        }
        let text = |tree: TreeId| -> Option<String> {
            let content = repo.image_in(tree, path).ok()?.content?;
            String::from_utf8(content.bytes).ok()
        };
        let start = match before.take() {
            Some(content) => Some(content),
            None => repo.image_in(first, path)?.content,
        };
        let Some(mut content) = start else {
            continue;
        };
        let mine = String::from_utf8(content.bytes.clone()).ok();
        if let (Some(mine), Some(left), Some(found)) = (mine, text(*left), text(*found)) {
            content.bytes = merge(&left, &mine, &found).mine.into_bytes();
        }
        before = Some(content);
    }
    match before {
        None => Ok(first),
        content => {
            let path = path.clone();
            Ok(repo.keep_images(label, &[FileImage { path, content }])?)
        }
    }
}

/// Every file that differs from a snapshot of the whole project.
pub fn since(repo: &SideRepo, label: &str, tree: TreeId) -> Result<Spans> {
    if repo.holds_only_images(tree) {
        return Err(ReviewError::refused(
            "This snapshot does not hold the whole project",
        ));
    }
    let now = repo.take(label)?.hash;
    let paths = repo.changed_files(tree, now)?.into_iter();
    Ok(paths.map(|path| (path, (tree, now))).collect())
}

/// From the given contents to the files as they are now.
pub fn of_contents(
    repo: &SideRepo,
    label: &str,
    before: Vec<(RelPath, Option<FileContent>)>,
) -> Result<Spans> {
    let now: Vec<FileImage> = before
        .iter()
        .filter_map(|(path, _)| repo.read_image(path).ok())
        .collect();
    let paths: Vec<RelPath> = now.iter().map(|image| image.path.clone()).collect();
    let before: Vec<FileImage> = before
        .into_iter()
        .map(|(path, content)| FileImage { path, content })
        .collect();
    let before = repo.keep_images(label, &before)?;
    let now = repo.keep_images(label, &now)?;
    Ok(paths
        .into_iter()
        .map(|path| (path, (before, now)))
        .collect())
}
