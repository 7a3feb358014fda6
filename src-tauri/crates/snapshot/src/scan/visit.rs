//! Visits the folders of the work tree, several at a time.

use std::{io, sync::atomic::Ordering};

use gix_object::Kind as ObjectKind;
use rayon::prelude::*;

use super::{
    Reason, Scan, Scope,
    rules::{Rules, Verdict, read_gitignore},
    stat_cache::{CachedFile, CachedFolder, Entry, is_racy, now},
};
use crate::{
    error::Result,
    os::{Folder, Kind, Stamp, Stat},
    path::{allowed_name, join},
    tree::{self, Mode, Oid, Row},
};

/// Each level keeps a folder open.
const MAX_DEPTH: usize = 200;
const READ_TRIES: usize = 3;

/// How to visit one folder.
struct Visit<'a> {
    at: &'a [u8],
    inherited: &'a Rules,
    /// A rule matches the folder, so only tracked files in it are taken.
    tracked_only: bool,
    /// Scan everything below, also what is not in the scope.
    all: bool,
    depth: usize,
}

pub(super) fn root(scan: &Scan<'_>, folder: &Folder, before: CachedFolder) -> Result<CachedFolder> {
    let top = Rules::top(b"", scan.worktree, &scan.user);
    let visit = Visit {
        at: b"",
        inherited: &top,
        tracked_only: false,
        all: matches!(scan.scope, Scope::Everything),
        depth: 0,
    };
    visit_folder(scan, folder, before, visit)
}

fn visit_folder(
    scan: &Scan<'_>,
    folder: &Folder,
    before: CachedFolder,
    visit: Visit<'_>,
) -> Result<CachedFolder> {
    let touched = match &scan.scope {
        Scope::Everything => true,
        Scope::Touched(touched) => touched.contains(visit.at),
    };
    if visit.all || touched || before.rules.is_none() {
        scan_folder(scan, folder, before, visit)
    } else {
        scan_below(scan, folder, before, visit)
    }
}

/// For a folder without changes of its own: visits only the touched folders below it.
fn scan_below(
    scan: &Scan<'_>,
    folder: &Folder,
    mut before: CachedFolder,
    visit: Visit<'_>,
) -> Result<CachedFolder> {
    let Some(rules) = before.rules.clone() else {
        return scan_folder(scan, folder, before, visit);
    };
    let Scope::Touched(touched) = &scan.scope else {
        return scan_folder(scan, folder, before, visit);
    };
    let mut same = true;
    for (name, entry) in &mut before.entries {
        let path = join(visit.at, name);
        let Entry::Folder(inner) = entry else {
            continue;
        };
        if !touched.at_or_below(&path) {
            continue;
        }
        // Removing or replacing a folder is an event in its parent, so this should not fail. If
        // it does, scan this folder.
        let Ok(open) = folder.subfolder(name) else {
            return scan_folder(scan, folder, before, visit);
        };
        let old = (inner.tree, inner.mode);
        let inner_visit = Visit {
            at: &path,
            inherited: &rules,
            tracked_only: inner.tracked_only,
            all: false,
            depth: visit.depth + 1,
        };
        **inner = visit_folder(scan, &open, std::mem::take(&mut **inner), inner_visit)?;
        same &= (inner.tree, inner.mode) == old;
    }
    if !same {
        scan.changed.store(true, Ordering::Relaxed);
        before.tree = Some(write_tree(scan, &before.entries, visit.depth == 0)?);
    }
    Ok(before)
}

fn scan_folder(
    scan: &Scan<'_>,
    folder: &Folder,
    mut before: CachedFolder,
    visit: Visit<'_>,
) -> Result<CachedFolder> {
    if let Some(watch) = scan.watch {
        // Before the names are read, so that no change in between is missed.
        watch.add(folder, visit.at);
    }
    let Ok((own, mut names)) = folder
        .stat_self()
        .and_then(|own| Ok((own, folder.names()?)))
    else {
        return Ok(unreadable(scan, before));
    };
    names.sort_unstable();
    let repository = names.binary_search(&b".git".to_vec()).is_ok();
    let rules = rules_of(scan, folder, &before, &visit, repository, &names);
    let key = rules.key() ^ u64::from(visit.tracked_only);
    let same_rules = before.rules_key == key && before.rules.is_some();
    let identity = (own.stamp.device, own.stamp.inode);
    let visit = Visit {
        inherited: &rules,
        all: visit.all || !same_rules || before.identity != identity,
        ..visit
    };

    let mut classified = Classified::default();
    for name in names {
        classify(
            scan,
            folder,
            &before,
            &visit,
            same_rules,
            name,
            &mut classified,
        );
    }
    let mut entries = classified.unchanged;
    let mut left_out = classified.left_out;
    let files = read_files(scan, folder, &classified.to_read)?;
    let folders = visit_folders(scan, folder, &mut before, &visit, classified.folders)?;
    for (name, found) in files.into_iter().chain(folders) {
        match found {
            Ok(entry) => entries.push((name, entry)),
            Err(Some(reason)) => left_out.push((name, reason)),
            Err(None) => {}
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    left_out.sort();
    let tree = match same_content(&before, &entries, &classified.old_trees) {
        true => before.tree,
        false => Some(write_tree(scan, &entries, visit.depth == 0)?),
    };
    if tree != before.tree || left_out != before.left_out || before.rules_key != key {
        scan.changed.store(true, Ordering::Relaxed);
    }
    let shared = |entry: &Entry| matches!(entry, Entry::File(file) if file.stamp.links > 1);
    Ok(CachedFolder {
        identity,
        has_hard_links: entries.iter().any(|(_, entry)| shared(entry)),
        entries,
        left_out,
        tree,
        rules_key: key,
        rules: Some(rules.clone()),
        tracked_only: visit.tracked_only,
        repository,
        mode: own.stamp.mode,
    })
}

fn unreadable(scan: &Scan<'_>, before: CachedFolder) -> CachedFolder {
    if before.tree.is_some() {
        scan.changed.store(true, Ordering::Relaxed);
    }
    CachedFolder {
        // The empty name means the folder itself.
        left_out: vec![(Box::default(), Reason::Unreadable)],
        ..CachedFolder::default()
    }
}

fn rules_of(
    scan: &Scan<'_>,
    folder: &Folder,
    before: &CachedFolder,
    visit: &Visit<'_>,
    repository: bool,
    names: &[Vec<u8>],
) -> Rules {
    let base = if repository && visit.depth > 0 {
        let path = scan.worktree.join(crate::os::path_of(visit.at));
        &Rules::top(visit.at, &path, &scan.user)
    } else {
        visit.inherited
    };
    if names.binary_search(&b".gitignore".to_vec()).is_ok() {
        base.with(visit.at, &read_gitignore(folder), before.rules.as_ref())
    } else {
        base.clone()
    }
}

type Name = Box<[u8]>;

#[derive(Default)]
struct Classified {
    unchanged: Vec<(Name, Entry)>,
    to_read: Vec<(Name, Stat)>,
    folders: Vec<(Name, Stat, bool)>,
    left_out: Vec<(Name, Reason)>,
    old_trees: Vec<(Name, (Option<Oid>, u32))>,
}

fn classify(
    scan: &Scan<'_>,
    folder: &Folder,
    before: &CachedFolder,
    visit: &Visit<'_>,
    same_rules: bool,
    name: Vec<u8>,
    classified: &mut Classified,
) {
    if name.eq_ignore_ascii_case(b".git") {
        return;
    }
    let name: Name = name.into();
    if !allowed_name(&name) || *name == *tree::permissions::ENTRY {
        return classified.left_out.push((name, Reason::BadName));
    }
    let stat = match folder.stat(&name) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(_) => return classified.left_out.push((name, Reason::Unreadable)),
    };
    let is_folder = stat.kind == Kind::Folder;
    let old = before.entry(&name);
    let decided_before = match old {
        Some(Entry::File(_)) => same_rules && !is_folder,
        Some(Entry::Folder(_)) | None => false,
    };
    let path = join(visit.at, &name);
    let rules = visit.inherited;
    let verdict = match visit.tracked_only {
        true if rules.tracks(&path, is_folder) => Verdict::TrackedOnly,
        true => Verdict::LeaveOut,
        false if decided_before => Verdict::Take,
        false => rules.verdict(&path, is_folder),
    };
    if verdict == Verdict::LeaveOut {
        return classified.left_out.push((name, Reason::Ignored));
    }
    match (stat.kind, old) {
        (Kind::Special, _) => classified.left_out.push((name, Reason::Special)),
        (Kind::Folder, _) if visit.depth >= MAX_DEPTH => {
            classified.left_out.push((name, Reason::TooDeep));
        }
        (Kind::Folder, old) => {
            if let Some(Entry::Folder(inner)) = old {
                let old = (inner.tree, inner.mode);
                classified.old_trees.push((name.clone(), old));
            }
            classified
                .folders
                .push((name, stat, verdict == Verdict::TrackedOnly));
        }
        (Kind::File, _) if too_large(scan, rules, &path, stat.stamp.size) => {
            classified.left_out.push((name, Reason::TooLarge));
        }
        (_, Some(Entry::File(file))) if file.stamp == stat.stamp && !file.racy => {
            classified.unchanged.push((name, Entry::File(*file)));
        }
        _ => classified.to_read.push((name, stat)),
    }
}

fn too_large(scan: &Scan<'_>, rules: &Rules, path: &[u8], size: u64) -> bool {
    size > scan.limits.tracked || size > scan.limits.untracked && !rules.tracks(path, false)
}

/// An entry, or why it was left out; `None` if it was removed in the meantime.
type Found = Result<Entry, Option<Reason>>;

fn read_files(
    scan: &Scan<'_>,
    folder: &Folder,
    files: &[(Name, Stat)],
) -> Result<Vec<(Name, Found)>> {
    let read = |(name, stat): &(Name, Stat)| -> Result<(Name, Found)> {
        scan.files_read.fetch_add(1, Ordering::Relaxed);
        scan.changed.store(true, Ordering::Relaxed);
        Ok((name.clone(), read_one(scan, folder, name, *stat)?))
    };
    if files.len() < 4 {
        return files.iter().map(read).collect();
    }
    files.par_iter().map(read).collect()
}

fn read_one(scan: &Scan<'_>, folder: &Folder, name: &[u8], seen: Stat) -> Result<Found> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => None,
        io::ErrorKind::FileTooLarge => Some(Reason::Unstable),
        _ => Some(Reason::Unreadable),
    };
    for _ in 0..READ_TRIES {
        let read_at = now();
        let (bytes, before, after) = if seen.kind == Kind::Link {
            let read = folder
                .stat(name)
                .and_then(|stat| Ok((folder.read_link(name)?, stat, stat)));
            match read {
                Ok(read) => read,
                Err(error) => return Ok(Err(failed(error))),
            }
        } else {
            match folder.read(name, scan.limits.tracked) {
                Ok(read) => read,
                Err(error) => return Ok(Err(failed(error))),
            }
        };
        let whole = after.kind == Kind::Link || bytes.len() as u64 == after.stamp.size;
        if before.stamp == after.stamp && whole && before.kind == seen.kind {
            let id = scan.batch.put(ObjectKind::Blob, &bytes)?;
            let mode = match after.kind {
                Kind::Link => Mode::Link,
                _ if after.executable() => Mode::Executable,
                _ => Mode::File,
            };
            let racy = is_racy(&after.stamp, read_at);
            let stamp = after.stamp;
            return Ok(Ok(Entry::File(CachedFile {
                stamp,
                racy,
                attributed: after.attributed,
                mode,
                id,
            })));
        }
    }
    Ok(Err(Some(Reason::Unstable)))
}

fn visit_folders(
    scan: &Scan<'_>,
    folder: &Folder,
    before: &mut CachedFolder,
    visit: &Visit<'_>,
    folders: Vec<(Name, Stat, bool)>,
) -> Result<Vec<(Name, Found)>> {
    let mut with_old: Vec<_> = Vec::with_capacity(folders.len());
    for (name, stat, tracked_only) in folders {
        let at = before.entries.binary_search_by(|(n, _)| n.cmp(&name));
        let old = match at.ok().map(|at| &mut before.entries[at].1) {
            Some(Entry::Folder(inner)) => std::mem::take(&mut **inner),
            _ => CachedFolder::default(),
        };
        with_old.push((name, stat, tracked_only, old));
    }
    let each = |(name, stat, tracked_only, old): (Name, Stat, bool, CachedFolder)| {
        let path = join(visit.at, &name);
        let same_folder = old.identity == (stat.stamp.device, stat.stamp.inode);
        if let (false, true, Scope::Touched(touched)) = (visit.all, same_folder, &scan.scope)
            && !touched.at_or_below(&path)
        {
            return Ok((name, Ok(Entry::Folder(Box::new(old)))));
        }
        let open = match folder.subfolder(&name) {
            Ok(open) => open,
            Err(error) => return Ok((name, Err(not_opened(&error)))),
        };
        let visit = Visit {
            at: &path,
            inherited: visit.inherited,
            tracked_only,
            all: visit.all || !same_folder,
            depth: visit.depth + 1,
        };
        let folder = visit_folder(scan, &open, old, visit)?;
        Ok((name, Ok(Entry::Folder(Box::new(folder)))))
    };
    if with_old.len() < 2 {
        return with_old.into_iter().map(each).collect();
    }
    with_old.into_par_iter().map(each).collect()
}

fn not_opened(error: &io::Error) -> Option<Reason> {
    match error.kind() {
        io::ErrorKind::NotFound => None,
        // It was replaced by a file or a link in the meantime.
        io::ErrorKind::NotADirectory => Some(Reason::Unstable),
        _ => Some(Reason::Unreadable),
    }
}

/// The folders of `before` have been moved out already, so their trees are in `old_trees`.
fn same_content(
    before: &CachedFolder,
    entries: &[(Name, Entry)],
    old_trees: &[(Name, (Option<Oid>, u32))],
) -> bool {
    before.tree.is_some()
        && before.entries.len() == entries.len()
        && before
            .entries
            .iter()
            .zip(entries)
            .all(|((old_name, old), (name, new))| {
                old_name == name
                    && match (old, new) {
                        (Entry::File(old), Entry::File(new)) => {
                            old.id == new.id
                                && old.mode == new.mode
                                && old.stamp.mode == new.stamp.mode
                        }
                        (Entry::Folder(_), Entry::Folder(new)) => {
                            let at = old_trees.binary_search_by(|(n, _)| n.cmp(name));
                            at.is_ok_and(|at| old_trees[at].1 == (new.tree, new.mode))
                        }
                        _ => false,
                    }
            })
}

/// A folder of which nothing is taken has an empty tree, so that the folder itself is part of the
/// snapshot.
fn write_tree(scan: &Scan<'_>, entries: &[(Name, Entry)], is_root: bool) -> Result<Oid> {
    let rows: Vec<Row<'_>> = entries
        .iter()
        .filter_map(|(name, entry)| row(name, entry))
        .collect();
    let list = tree::permission_list(&rows, is_root);
    let list = list.map(|list| scan.batch.put(ObjectKind::Blob, &list));
    let bytes = tree::encode_folder(&rows, list.transpose()?);
    scan.batch.put(ObjectKind::Tree, &bytes)
}

fn row<'a>(name: &'a [u8], entry: &Entry) -> Option<Row<'a>> {
    let (mode, id, permissions) = match entry {
        Entry::File(file) => {
            let kind = match file.mode {
                Mode::Link => Kind::Link,
                _ => Kind::File,
            };
            (file.mode, file.id, file.stamp.permissions(kind))
        }
        Entry::Folder(inner) => {
            let stamp = Stamp {
                mode: inner.mode,
                ..Stamp::default()
            };
            (Mode::Folder, inner.tree?, stamp.permissions(Kind::Folder))
        }
    };
    Some(Row {
        name,
        mode,
        id,
        permissions,
    })
}
