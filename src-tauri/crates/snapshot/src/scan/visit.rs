//! One directory after the other, several at a time.

use std::{io, sync::atomic::Ordering};

use gix_object::{Kind as ObjectKind, tree::EntryKind};
use rayon::prelude::*;

use super::{
    Reason, Scan, Scope,
    known::{Entry, Known, KnownFile, is_racy, now},
    rules::{Rules, Verdict, read_gitignore},
};
use crate::{
    error::Result,
    os::{Folder, Kind, Stat},
    path::{allowed_name, join},
    tree::{self, Mode, Oid},
};

/// Each level holds an open directory.
const MAX_DEPTH: usize = 200;
const READ_TRIES: usize = 3;

/// A directory on its turn.
struct Turn<'a> {
    at: &'a [u8],
    inherited: &'a Rules,
    /// A rule matches the folder: only what is tracked in it counts.
    tracked_only: bool,
    /// Visit all below, whatever the scope says.
    all: bool,
    depth: usize,
}

pub(super) fn root(scan: &Scan<'_>, folder: &Folder, before: Known) -> Result<Known> {
    let top = Rules::top(b"", scan.worktree, &scan.user);
    let turn = Turn {
        at: b"",
        inherited: &top,
        tracked_only: false,
        all: matches!(scan.scope, Scope::Everything),
        depth: 0,
    };
    let mut root = visit(scan, folder, before, turn)?;
    if root.tree.is_none() {
        root.tree = Some(scan.batch.put(ObjectKind::Tree, b"")?);
    }
    Ok(root)
}

fn visit(scan: &Scan<'_>, folder: &Folder, before: Known, turn: Turn<'_>) -> Result<Known> {
    let touched = match &scan.scope {
        Scope::Everything => true,
        Scope::Touched(touched) => touched.contains(turn.at),
    };
    if turn.all || touched || before.rules.is_none() {
        look(scan, folder, before, turn)
    } else {
        pass_through(scan, folder, before, turn)
    }
}

/// Nothing happened here, only further down.
fn pass_through(
    scan: &Scan<'_>,
    folder: &Folder,
    mut before: Known,
    turn: Turn<'_>,
) -> Result<Known> {
    let Some(rules) = before.rules.clone() else {
        return look(scan, folder, before, turn);
    };
    let Scope::Touched(touched) = &scan.scope else {
        return look(scan, folder, before, turn);
    };
    let mut same = true;
    for (name, entry) in &mut before.entries {
        let path = join(turn.at, name);
        let Entry::Folder(inner) = entry else {
            continue;
        };
        if !touched.at_or_below(&path) {
            continue;
        }
        // A folder that is gone or replaced was an event in this one: it cannot happen here,
        // and if it does all the same, this directory is looked at properly.
        let Ok(open) = folder.subfolder(name) else {
            return look(scan, folder, before, turn);
        };
        let old_tree = inner.tree;
        let inner_turn = Turn {
            at: &path,
            inherited: &rules,
            tracked_only: inner.tracked_only,
            all: false,
            depth: turn.depth + 1,
        };
        **inner = visit(scan, &open, std::mem::take(&mut **inner), inner_turn)?;
        same &= inner.tree == old_tree;
    }
    if !same {
        before.tree = write_tree(scan, &before.entries)?;
    }
    Ok(before)
}

fn look(scan: &Scan<'_>, folder: &Folder, mut before: Known, turn: Turn<'_>) -> Result<Known> {
    if let Some(watch) = scan.watch {
        // Before the names are read: what happens in between is then heard of.
        watch.add(folder, turn.at);
    }
    let Ok((own, mut names)) = folder
        .stat_self()
        .and_then(|own| Ok((own, folder.names()?)))
    else {
        return Ok(unreadable(scan, before));
    };
    names.sort_unstable();
    let repository = names.binary_search(&b".git".to_vec()).is_ok();
    let rules = rules_of(scan, folder, &before, &turn, repository, &names);
    let key = rules.key() ^ u64::from(turn.tracked_only);
    let same_rules = before.rules_key == key && before.rules.is_some();
    let identity = (own.stamp.device, own.stamp.inode);
    let turn = Turn {
        inherited: &rules,
        all: turn.all || !same_rules || before.identity != identity,
        ..turn
    };

    let mut judged = Judged::default();
    for name in names {
        judge(scan, folder, &before, &turn, same_rules, name, &mut judged);
    }
    let mut entries = judged.unchanged;
    let mut left_out = judged.left_out;
    let files = read_files(scan, folder, &judged.to_read)?;
    let folders = visit_folders(scan, folder, &mut before, &turn, judged.folders)?;
    for (name, found) in files.into_iter().chain(folders) {
        match found {
            Ok(entry) => entries.push((name, entry)),
            Err(Some(reason)) => left_out.push((name, reason)),
            Err(None) => {}
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    left_out.sort();
    let tree = match same_content(&before, &entries, &judged.old_trees) {
        true => before.tree,
        false => write_tree(scan, &entries)?,
    };
    if tree != before.tree || left_out != before.left_out || before.rules_key != key {
        scan.changed.store(true, Ordering::Relaxed);
    }
    let shared = |entry: &Entry| matches!(entry, Entry::File(file) if file.stamp.links > 1);
    Ok(Known {
        identity,
        shared_files: entries.iter().any(|(_, entry)| shared(entry)),
        entries,
        left_out,
        tree,
        rules_key: key,
        rules: Some(rules.clone()),
        tracked_only: turn.tracked_only,
        repository,
    })
}

fn unreadable(scan: &Scan<'_>, before: Known) -> Known {
    if before.tree.is_some() {
        scan.changed.store(true, Ordering::Relaxed);
    }
    Known {
        // The empty name stands for the folder itself.
        left_out: vec![(Box::default(), Reason::Unreadable)],
        ..Known::default()
    }
}

fn rules_of(
    scan: &Scan<'_>,
    folder: &Folder,
    before: &Known,
    turn: &Turn<'_>,
    repository: bool,
    names: &[Vec<u8>],
) -> Rules {
    let base = if repository && turn.depth > 0 {
        let path = scan.worktree.join(crate::os::path_of(turn.at));
        &Rules::top(turn.at, &path, &scan.user)
    } else {
        turn.inherited
    };
    if names.binary_search(&b".gitignore".to_vec()).is_ok() {
        base.with(turn.at, &read_gitignore(folder), before.rules.as_ref())
    } else {
        base.clone()
    }
}

type Name = Box<[u8]>;

#[derive(Default)]
struct Judged {
    unchanged: Vec<(Name, Entry)>,
    to_read: Vec<(Name, Stat)>,
    folders: Vec<(Name, Stat, bool)>,
    left_out: Vec<(Name, Reason)>,
    old_trees: Vec<(Name, Option<Oid>)>,
}

fn judge(
    scan: &Scan<'_>,
    folder: &Folder,
    before: &Known,
    turn: &Turn<'_>,
    same_rules: bool,
    name: Vec<u8>,
    judged: &mut Judged,
) {
    if name.eq_ignore_ascii_case(b".git") {
        return;
    }
    let name: Name = name.into();
    if !allowed_name(&name) {
        return judged.left_out.push((name, Reason::BadName));
    }
    let stat = match folder.stat(&name) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(_) => return judged.left_out.push((name, Reason::Unreadable)),
    };
    let is_folder = stat.kind == Kind::Folder;
    let old = before.entry(&name);
    let judged_before = match old {
        Some(Entry::File(_)) => same_rules && !is_folder,
        Some(Entry::Folder(_)) | None => false,
    };
    let path = join(turn.at, &name);
    let rules = turn.inherited;
    let verdict = match turn.tracked_only {
        true if rules.tracks(&path, is_folder) => Verdict::TrackedOnly,
        true => Verdict::LeaveOut,
        false if judged_before => Verdict::Take,
        false => rules.judge(&path, is_folder),
    };
    if verdict == Verdict::LeaveOut {
        return judged.left_out.push((name, Reason::Ignored));
    }
    match (stat.kind, old) {
        (Kind::Special, _) => judged.left_out.push((name, Reason::Special)),
        (Kind::Folder, _) if turn.depth >= MAX_DEPTH => {
            judged.left_out.push((name, Reason::TooDeep));
        }
        (Kind::Folder, old) => {
            if let Some(Entry::Folder(inner)) = old {
                judged.old_trees.push((name.clone(), inner.tree));
            }
            judged
                .folders
                .push((name, stat, verdict == Verdict::TrackedOnly));
        }
        (Kind::File, _) if too_large(scan, rules, &path, stat.stamp.size) => {
            judged.left_out.push((name, Reason::TooLarge));
        }
        (_, Some(Entry::File(file))) if file.stamp == stat.stamp && !file.racy => {
            judged.unchanged.push((name, Entry::File(*file)));
        }
        _ => judged.to_read.push((name, stat)),
    }
}

fn too_large(scan: &Scan<'_>, rules: &Rules, path: &[u8], size: u64) -> bool {
    size > scan.limits.tracked || size > scan.limits.untracked && !rules.tracks(path, false)
}

/// An entry, or why there is none; `None` for what vanished meanwhile.
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
            return Ok(Ok(Entry::File(KnownFile {
                stamp,
                racy,
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
    before: &mut Known,
    turn: &Turn<'_>,
    folders: Vec<(Name, Stat, bool)>,
) -> Result<Vec<(Name, Found)>> {
    let mut with_old: Vec<_> = Vec::with_capacity(folders.len());
    for (name, stat, tracked_only) in folders {
        let at = before.entries.binary_search_by(|(n, _)| n.cmp(&name));
        let old = match at.ok().map(|at| &mut before.entries[at].1) {
            Some(Entry::Folder(inner)) => std::mem::take(&mut **inner),
            _ => Known::default(),
        };
        with_old.push((name, stat, tracked_only, old));
    }
    let each = |(name, stat, tracked_only, old): (Name, Stat, bool, Known)| {
        let path = join(turn.at, &name);
        let same_folder = old.identity == (stat.stamp.device, stat.stamp.inode);
        if let (false, true, Scope::Touched(touched)) = (turn.all, same_folder, &scan.scope)
            && !touched.at_or_below(&path)
        {
            return Ok((name, Ok(Entry::Folder(Box::new(old)))));
        }
        let open = match folder.subfolder(&name) {
            Ok(open) => open,
            Err(error) => return Ok((name, Err(not_opened(&error)))),
        };
        let turn = Turn {
            at: &path,
            inherited: turn.inherited,
            tracked_only,
            all: turn.all || !same_folder,
            depth: turn.depth + 1,
        };
        let known = visit(scan, &open, old, turn)?;
        Ok((name, Ok(Entry::Folder(Box::new(known)))))
    };
    if with_old.len() < 2 {
        return with_old.into_iter().map(each).collect();
    }
    with_old.into_par_iter().map(each).collect()
}

fn not_opened(error: &io::Error) -> Option<Reason> {
    match error.kind() {
        io::ErrorKind::NotFound => None,
        // It became a file or a link after we looked.
        io::ErrorKind::NotADirectory => Some(Reason::Unstable),
        _ => Some(Reason::Unreadable),
    }
}

/// `before`'s folders have been moved out by now; their trees were noted.
fn same_content(
    before: &Known,
    entries: &[(Name, Entry)],
    old_trees: &[(Name, Option<Oid>)],
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
                            old.id == new.id && old.mode == new.mode
                        }
                        (Entry::Folder(_), Entry::Folder(new)) => {
                            let at = old_trees.binary_search_by(|(n, _)| n.cmp(name));
                            at.is_ok_and(|at| old_trees[at].1 == new.tree)
                        }
                        _ => false,
                    }
            })
}

fn write_tree(scan: &Scan<'_>, entries: &[(Name, Entry)]) -> Result<Option<Oid>> {
    let mut rows: Vec<(&[u8], EntryKind, Oid)> = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        match entry {
            Entry::File(file) => rows.push((name, file.mode.entry_kind(), file.id)),
            Entry::Folder(inner) => {
                if let Some(tree) = inner.tree {
                    rows.push((name, EntryKind::Tree, tree));
                }
            }
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let bytes = tree::encode(&mut rows);
    scan.batch.put(ObjectKind::Tree, &bytes).map(Some)
}
