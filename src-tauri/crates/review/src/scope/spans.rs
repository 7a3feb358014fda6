//! From which tree to which tree each file changed. Reads trees: blocks.

use std::collections::{BTreeMap, BTreeSet};

use lathe_protocol::ipc::ReviewDoubt;
use lathe_snapshot::{FileContent, FileImage, RelPath, SideRepo, TreeId};

use crate::credit::Doubt;
use crate::error::{Result, ReviewError};
use crate::lines::merge::merge;
use crate::steps::StepTrees;

pub type Spans = BTreeMap<RelPath, (TreeId, TreeId)>;

/// The changed files, and what is known of them.
#[derive(Debug, Default)]
pub struct Listed {
    pub spans: Spans,
    /// The files whose changes may not all be the agent's.
    pub doubts: BTreeMap<RelPath, ReviewDoubt>,
    /// How many steps have no trees any more, so that nothing of them is in `spans`.
    pub missing: usize,
}

/// What one step did to a file.
struct Pass {
    start: TreeId,
    finish: TreeId,
    is_revert: bool,
}

/// What steps did to each file. What a person changed in between was there before, and what was
/// reverted since is neither before nor after.
pub fn of_steps(repo: &SideRepo, label: &str, steps: &[StepTrees]) -> Result<Listed> {
    let mut all: BTreeMap<RelPath, Vec<Pass>> = BTreeMap::new();
    let mut listed = Listed::default();
    for step in steps {
        if step.start == step.finish {
            continue;
        }
        if !repo.contains(step.start) || !repo.contains(step.finish) {
            listed.missing += usize::from(!step.is_revert());
            continue;
        }
        let named: BTreeSet<&str> = step.named.iter().map(String::as_str).collect();
        for path in repo.changed_files(step.start, step.finish)? {
            let is_revert = step.is_revert();
            if is_revert && !(named.contains(path.to_string().as_str()) && all.contains_key(&path))
            {
                continue;
            }
            let doubt = match step.doubt(&path) {
                Some(Doubt::ByOthers) => continue,
                Some(Doubt::Shared) => Some(ReviewDoubt::Shared),
                Some(Doubt::CutShort) => Some(ReviewDoubt::CutShort),
                None => None,
            };
            listed.doubt(&path, doubt);
            all.entry(path).or_default().push(Pass {
                start: step.start,
                finish: step.finish,
                is_revert,
            });
        }
    }
    for (path, passes) in all {
        let Some(sides) = Sides::over(repo, &path, &passes)? else {
            continue;
        };
        listed.doubt(&path, sides.between.then_some(ReviewDoubt::Between));
        let before = sides.before.tree(repo, label, &path)?;
        let after = sides.after.tree(repo, label, &path)?;
        listed.spans.insert(path, (before, after));
    }
    Ok(listed)
}

impl Listed {
    fn doubt(&mut self, path: &RelPath, doubt: Option<ReviewDoubt>) {
        if let Some(doubt) = doubt {
            let known = self.doubts.entry(path.clone()).or_insert(doubt);
            *known = doubt.max(*known);
        }
    }
}

impl From<Spans> for Listed {
    fn from(spans: Spans) -> Listed {
        Listed {
            spans,
            ..Listed::default()
        }
    }
}

/// A file before and after some steps.
struct Sides {
    before: Side,
    after: Side,
    /// What a person changed between two steps is not told from what the agent did.
    between: bool,
}

/// One content of a file: in a tree, or merged from several.
#[derive(Clone)]
enum Side {
    In(TreeId),
    Merged(Option<FileContent>),
}

impl Sides {
    fn over(repo: &SideRepo, path: &RelPath, passes: &[Pass]) -> Result<Option<Sides>> {
        let Some((first, rest)) = passes.split_first() else {
            return Ok(None);
        };
        let mut sides = Sides {
            before: Side::In(first.start),
            after: Side::In(first.finish),
            between: false,
        };
        for pass in rest {
            match pass.is_revert {
                true => sides.revert(repo, path, pass)?,
                false => sides.go_on(repo, path, pass)?,
            }
        }
        Ok(Some(sides))
    }

    /// A later step. Where it found something else, a person has changed that.
    fn go_on(&mut self, repo: &SideRepo, path: &RelPath, pass: &Pass) -> Result<()> {
        let found = Side::In(pass.start);
        if !self.after.is_same(repo, path, &found)? {
            if self.before.is_same(repo, path, &self.after)? {
                self.before = found;
            } else {
                let moved = self.before.moved(repo, path, (&self.after, &found))?;
                self.between |= !moved.is_clean;
                self.before = moved.side;
            }
        }
        self.after = Side::In(pass.finish);
        Ok(())
    }

    /// A revert, maybe of what other steps did to the file as well.
    fn revert(&mut self, repo: &SideRepo, path: &RelPath, pass: &Pass) -> Result<()> {
        let (found, left) = (Side::In(pass.start), Side::In(pass.finish));
        let is_whole = self.before.is_same(repo, path, &left)?;
        if !is_whole {
            let before = self.before.moved(repo, path, (&found, &left))?;
            if before.is_clean {
                self.before = before.side;
            }
        }
        if self.after.is_same(repo, path, &found)? {
            self.after = left;
            return Ok(());
        }
        let after = self.after.moved(repo, path, (&found, &left))?;
        if after.is_clean {
            self.after = after.side;
        } else if is_whole {
            self.after = left;
        }
        Ok(())
    }
}

/// A side with a change merged into it.
struct Moved {
    side: Side,
    /// All of the change is in it.
    is_clean: bool,
}

impl Side {
    fn content(&self, repo: &SideRepo, path: &RelPath) -> Result<Option<FileContent>> {
        Ok(match self {
            Side::In(tree) => repo.image_in(*tree, path)?.content,
            Side::Merged(content) => content.clone(),
        })
    }

    fn is_same(&self, repo: &SideRepo, path: &RelPath, other: &Side) -> Result<bool> {
        if let (Side::In(one), Side::In(other)) = (self, other) {
            return Ok(repo.is_same(path, *one, *other)?);
        }
        let sides = (self.content(repo, path)?, other.content(repo, path)?);
        Ok(match sides {
            (Some(one), Some(other)) => one.is_same(&other),
            (None, None) => true,
            _ => false,
        })
    }

    fn moved(&self, repo: &SideRepo, path: &RelPath, change: (&Side, &Side)) -> Result<Moved> {
        let (from, to) = change;
        let there = (
            self.content(repo, path)?,
            from.content(repo, path)?,
            to.content(repo, path)?,
        );
        let as_it_is = || Moved {
            side: self.clone(),
            is_clean: false,
        };
        let (Some(mine), Some(from), Some(to)) = there else {
            return Ok(as_it_is());
        };
        let text = |content: &FileContent| String::from_utf8(content.bytes.clone()).ok();
        let (Some(text), Some(old), Some(new)) = (text(&mine), text(&from), text(&to)) else {
            return Ok(as_it_is());
        };
        let merged = merge(&old, &text, &new);
        let is_clean = merged.conflicts.is_empty();
        if merged.mine == text && from.mode == to.mode {
            let side = self.clone();
            return Ok(Moved { side, is_clean });
        }
        let like = if from.mode == to.mode { &mine } else { &to };
        Ok(Moved {
            side: Side::Merged(Some(like.with_bytes(merged.mine.into_bytes()))),
            is_clean,
        })
    }

    fn tree(self, repo: &SideRepo, label: &str, path: &RelPath) -> Result<TreeId> {
        match self {
            Side::In(tree) => Ok(tree),
            Side::Merged(content) => {
                let path = path.clone();
                Ok(repo.keep_images(label, &[FileImage { path, content }])?)
            }
        }
    }
}

/// Every file that differs from a snapshot of the whole project.
pub fn since(repo: &SideRepo, label: &str, tree: TreeId) -> Result<Listed> {
    if repo.holds_only_images(tree) {
        return Err(ReviewError::refused(
            "This snapshot does not hold the whole project",
        ));
    }
    let now = repo.take(label)?.hash;
    let paths = repo.changed_files(tree, now)?.into_iter();
    let spans: Spans = paths.map(|path| (path, (tree, now))).collect();
    Ok(spans.into())
}

/// From the given contents to the files as they are now.
pub fn of_contents(
    repo: &SideRepo,
    label: &str,
    before: Vec<(RelPath, Option<FileContent>)>,
) -> Result<Listed> {
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
    let spans: Spans = paths
        .into_iter()
        .map(|path| (path, (before, now)))
        .collect();
    Ok(spans.into())
}
