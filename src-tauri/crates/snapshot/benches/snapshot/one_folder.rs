//! Many files changed in one folder: what a summary, a preview, a revert and an unrevert cost,
//! against `git checkout` of the same change. Half of the files are edited, a quarter is new and
//! a quarter deleted.

use std::{fs, path::Path, time::Duration};

use lathe_snapshot::{Options, PathRestore, Plan, SideRepo, Snapshot};

use crate::{Git, median, middle, once, row};

/// In multiples of `git checkout`.
const BAR: f64 = 2.0;
/// From the small number of files to the large one, time may grow so much more than the number.
const GROWTH: f64 = 1.5;

pub fn run(dir: &Path, small: bool) {
    let sizes = if small { [200, 4_000] } else { [1_000, 20_000] };
    let [few, many] = sizes.map(|files| one(&dir.join(files.to_string()), files));
    for ((name, few), (_, many)) in few.into_iter().zip(many) {
        let times = sizes[1] as f64 / sizes[0] as f64;
        let name = format!("{name}, growth from {} to {} files", sizes[0], sizes[1]);
        row(&name, many / few, times, "times", Some(GROWTH));
    }
}

/// Returns the times, for the growth.
fn one(dir: &Path, files: usize) -> Vec<(&'static str, f64)> {
    let tree = dir.join("tree");
    fs::create_dir_all(tree.join("folder")).unwrap();
    let options = Options {
        keep_free: 0,
        rescan_after: Duration::from_secs(86_400),
        ..Options::default()
    };
    let repo = SideRepo::open_with(&dir.join("ours"), &tree, options).unwrap();
    let take = || repo.take_safety("bench").unwrap();
    write(&tree, files, false);
    take();
    let before = take();
    change(&tree, files);
    let after = take();

    let theirs = checkout(&dir.join("theirs"), files);
    let summary = median(3, || drop(repo.diff(before.hash, after.hash).unwrap()));
    let preview = median(3, || drop(plan(&repo, &before, &after)));
    let nothing = median(5, || drop(take()));
    let trash = dir.join("trash");
    let (mut reverts, mut unreverts) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        reverts.push(once(|| {
            let outcome = repo.apply(&plan(&repo, &before, &after), &trash);
            assert_eq!(outcome.conflicts, []);
        }));
        assert_eq!(take().hash, before.hash);
        unreverts.push(once(|| {
            let outcome = repo.apply(&plan(&repo, &after, &before), &trash);
            assert_eq!(outcome.conflicts, []);
        }));
        assert_eq!(take().hash, after.hash);
    }
    let (revert, unrevert) = (middle(reverts), middle(unreverts));
    let times = vec![
        ("summary", summary),
        ("preview", preview),
        ("revert", revert),
        ("unrevert", unrevert),
    ];
    for (what, ours) in &times {
        row(
            &format!("{what} of {files} files"),
            *ours,
            theirs,
            "s",
            Some(BAR),
        );
    }
    let name = format!("0 changes, one folder of {files} files");
    row(&name, nothing, theirs, "s", None);
    times
}

fn plan(repo: &SideRepo, target: &Snapshot, post: &Snapshot) -> Plan {
    let paths = repo.changed_files(target.hash, post.hash).unwrap();
    let restores: Vec<PathRestore> = paths
        .into_iter()
        .map(|path| PathRestore {
            path,
            target: target.hash,
            post_image: post.hash,
        })
        .collect();
    repo.plan_restore(&restores).unwrap()
}

fn text(n: usize, version: usize) -> String {
    (0..40).fold(String::new(), |text, line| {
        text + &format!(
            "line {line} of file {n}, in version {}\n",
            if line == 7 { version } else { 0 }
        )
    })
}

/// Three of four files are there before the change; the last quarter is new.
fn write(tree: &Path, files: usize, changed: bool) {
    for n in 0..files {
        let path = tree.join(format!("folder/file{n}.rs"));
        match (n % 4, changed) {
            (0 | 1, _) => fs::write(path, text(n, usize::from(changed))).unwrap(),
            (2, false) | (3, true) => fs::write(path, text(n, 0)).unwrap(),
            _ => {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn change(tree: &Path, files: usize) {
    write(tree, files, true);
}

/// The mean of both directions.
fn checkout(dir: &Path, files: usize) -> f64 {
    let tree = dir.join("tree");
    fs::create_dir_all(tree.join("folder")).unwrap();
    let git = Git::new(dir, &tree);
    let commit = |name: &str| {
        git.run(&["add", "-A"]);
        git.run(&[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
            "commit",
            "-qm",
            name,
        ]);
        git.run(&["tag", name]);
    };
    write(&tree, files, false);
    commit("before");
    write(&tree, files, true);
    commit("after");
    let both = median(3, || {
        git.run(&["checkout", "-q", "before"]);
        git.run(&["checkout", "-q", "after"]);
    });
    both / 2.0
}
