//! Ignore rules: which paths are left out of a snapshot.
//!
//! Sources, weakest first: the user's own excludes file, the repository's `info/exclude`, and
//! the `.gitignore` files from its root down. A nested repository has its own rules and its own
//! tracked files. As in git, a tracked file is taken even if a rule matches it.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::tracked::Tracked;
use crate::os::{Folder, path_of};

/// Larger rule files and indexes are ignored.
const RULES_LIMIT: u64 = 1 << 20;
const INDEX_LIMIT: u64 = 256 << 20;

/// The rules that hold in one folder.
#[derive(Clone)]
pub(crate) struct Rules(Arc<Layer>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Take,
    /// A folder that a rule matches, with tracked files in it.
    TrackedOnly,
    LeaveOut,
}

struct Layer {
    /// Equal keys mean equal verdicts on equal names.
    key: u64,
    parent: Option<Rules>,
    matcher: Gitignore,
    repository: Arc<Repository>,
}

struct Repository {
    /// Its path in the work tree.
    root: Vec<u8>,
    index: Option<PathBuf>,
    tracked: OnceLock<Tracked>,
}

impl Rules {
    /// The rules at the root of a repository, or at the root of the work tree.
    pub fn top(root: &[u8], folder: &Path, user: &UserExcludes) -> Self {
        let git_dir = git_dir(folder);
        let exclude = git_dir
            .as_ref()
            .and_then(|(_, common)| read_regular(&common.join("info/exclude"), RULES_LIMIT));
        let index = git_dir.map(|(own, _)| own.join("index"));
        let mut key = DefaultHasher::new();
        (root, &user.0, &exclude, index_stamp(index.as_deref())).hash(&mut key);
        let mut matcher = GitignoreBuilder::new(path_of(root));
        // Later lines win, so the weaker source comes first.
        for source in [user.0.as_deref(), exclude.as_deref()]
            .into_iter()
            .flatten()
        {
            add_lines(&mut matcher, source);
        }
        Self(Arc::new(Layer {
            key: key.finish(),
            parent: None,
            matcher: matcher.build().unwrap_or_else(|_| Gitignore::empty()),
            repository: Arc::new(Repository {
                root: root.to_vec(),
                index,
                tracked: OnceLock::new(),
            }),
        }))
    }

    /// The rules inside `at`, whose `.gitignore` has this content. `before` is reused if it is
    /// the same.
    pub fn with(&self, at: &[u8], source: &[u8], before: Option<&Rules>) -> Self {
        let mut key = DefaultHasher::new();
        (self.key(), at, source).hash(&mut key);
        let key = key.finish();
        if let Some(same) = before.filter(|rules| rules.key() == key) {
            return same.clone();
        }
        let mut matcher = GitignoreBuilder::new(path_of(at));
        add_lines(&mut matcher, source);
        Self(Arc::new(Layer {
            key,
            parent: Some(self.clone()),
            matcher: matcher.build().unwrap_or_else(|_| Gitignore::empty()),
            repository: self.0.repository.clone(),
        }))
    }

    pub fn key(&self) -> u64 {
        self.0.key
    }

    pub fn verdict(&self, path: &[u8], is_folder: bool) -> Verdict {
        let mut layer = Some(self);
        while let Some(rules) = layer {
            let matched = rules.0.matcher.matched(path_of(path), is_folder);
            if matched.is_ignore() {
                return match (self.tracks(path, is_folder), is_folder) {
                    (true, true) => Verdict::TrackedOnly,
                    (true, false) => Verdict::Take,
                    (false, _) => Verdict::LeaveOut,
                };
            }
            if matched.is_whitelist() {
                return Verdict::Take;
            }
            layer = rules.0.parent.as_ref();
        }
        Verdict::Take
    }

    pub fn tracks(&self, path: &[u8], is_folder: bool) -> bool {
        let repository = &self.0.repository;
        let inside = match repository.root.len() {
            0 => path,
            n => path.get(n + 1..).unwrap_or_default(),
        };
        let tracked = repository.tracked.get_or_init(|| {
            let bytes = repository
                .index
                .as_deref()
                .and_then(|at| read_regular(at, INDEX_LIMIT));
            Tracked::parse(&bytes.unwrap_or_default())
        });
        if is_folder {
            tracked.below(inside)
        } else {
            tracked.file(inside)
        }
    }
}

/// Reads the `.gitignore` of an open folder. One that is not a regular file is ignored.
pub(super) fn read_gitignore(folder: &Folder) -> Vec<u8> {
    match folder.read(b".gitignore", RULES_LIMIT) {
        Ok((bytes, ..)) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The user's excludes file for all repositories.
pub(crate) struct UserExcludes(Option<Vec<u8>>);

impl UserExcludes {
    pub fn read() -> Self {
        let path = ignore::gitignore::gitconfig_excludes_path();
        Self(path.and_then(|path| read_regular(&path, RULES_LIMIT)))
    }
}

/// A hash that changes when the index or `info/exclude` of the repository at `folder` may have
/// changed.
pub(super) fn repository_stamp(folder: &Path) -> u64 {
    let mut key = DefaultHasher::new();
    if let Some((own, common)) = git_dir(folder) {
        index_stamp(Some(&own.join("index"))).hash(&mut key);
        index_stamp(Some(&common.join("info/exclude"))).hash(&mut key);
    }
    key.finish()
}

fn index_stamp(index: Option<&Path>) -> Option<(u64, std::time::SystemTime)> {
    let meta = fs::metadata(index?).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

/// The git folder with the index, and the one that is shared between worktrees.
pub(crate) fn git_dir(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot_git = folder.join(".git");
    let meta = fs::symlink_metadata(&dot_git).ok()?;
    if meta.is_dir() {
        return Some((dot_git.clone(), dot_git));
    }
    let pointer = read_regular(&dot_git, 4096)?;
    let target = std::str::from_utf8(pointer.strip_prefix(b"gitdir:")?).ok()?;
    let own = folder.join(target.trim());
    let common = match read_regular(&own.join("commondir"), 4096) {
        Some(bytes) => own.join(std::str::from_utf8(&bytes).ok()?.trim()),
        None => own.clone(),
    };
    Some((own, common))
}

/// Reads only a regular file, because reading a FIFO or a device could block for ever.
fn read_regular(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > limit {
        return None;
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    let file = fs::File::open(path).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn add_lines(matcher: &mut GitignoreBuilder, source: &[u8]) {
    for line in String::from_utf8_lossy(source).lines() {
        // As in git, an invalid pattern ignores nothing.
        let _ = matcher.add_line(None, line);
    }
}
