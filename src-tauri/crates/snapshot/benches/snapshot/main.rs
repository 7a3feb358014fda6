//! What a snapshot costs, against `git add -A && git write-tree` with a side index.
//!
//! Prints one JSON object a line: `{"name", "ours", "baseline", "ratio", "unit", "bar"}`.
//! 50,000 files in 1 GB; `LATHE_BENCH_SMALL` takes 5,000 files in 20 MB. "kept open" is how the
//! app works: the handle stays open and watches the tree. "looking everywhere" is a handle that
//! does not watch, "restarted" a new handle with the stat cache from disk, and "cold" the very
//! first snapshot. The page cache is warm for both sides. `LATHE_BENCH_ONE_FOLDER` measures only
//! what is in `one_folder.rs`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use lathe_snapshot::{Options, SideRepo};

mod one_folder;

struct Size {
    files: usize,
    average: usize,
    snapshots: usize,
}

fn main() {
    let small = std::env::var_os("LATHE_BENCH_SMALL").is_some();
    let size = match small {
        true => Size {
            files: 5_000,
            average: 4_000,
            snapshots: 100,
        },
        false => Size {
            files: 50_000,
            average: 20_000,
            snapshots: 500,
        },
    };
    let dir = tempfile::tempdir().unwrap();
    one_folder::run(&dir.path().join("one-folder"), small);
    if std::env::var_os("LATHE_BENCH_ONE_FOLDER").is_some() {
        return;
    }
    time(dir.path(), &size);
    disk(&dir.path().join("disk"), size.snapshots);
}

fn time(dir: &Path, size: &Size) {
    let tree = dir.join("tree");
    generate(&tree, size.files, size.average);
    let git = Git::new(dir, &tree);
    let open = |data: &str, rescan_after| {
        let options = Options {
            rescan_after,
            keep_free: 0,
            ..Options::default()
        };
        SideRepo::open_with(&dir.join(data), &tree, options).unwrap()
    };
    let watching = open("ours", Duration::from_secs(86_400));
    let cold = once(|| drop(watching.take("bench").unwrap()));
    row("cold", cold, once(|| git.add()), "s", None);

    let scanning = open("scanning", Duration::ZERO);
    scanning.take("bench").unwrap();
    scanning.take("bench").unwrap();
    watching.take("bench").unwrap();
    git.add();
    let baseline = median(9, || git.add());
    let ours = median(9, || drop(watching.take("bench").unwrap()));
    row("0 changes, kept open", ours, baseline, "s", Some(0.5));
    let ours = median(9, || drop(scanning.take("bench").unwrap()));
    row("0 changes, looking everywhere", ours, baseline, "s", None);
    let ours = median(5, || {
        drop(open("ours", Duration::ZERO).take("bench").unwrap())
    });
    row("0 changes, restarted", ours, baseline, "s", None);

    for (changes, runs) in [(1, 7), (500, 3)] {
        let (mut kept, mut all, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..runs {
            change(&tree, size.files, changes, run);
            kept.push(once(|| drop(watching.take("bench").unwrap())));
            all.push(once(|| drop(scanning.take("bench").unwrap())));
            theirs.push(once(|| git.add()));
        }
        let baseline = middle(theirs);
        row(
            &format!("{changes} changes, kept open"),
            middle(kept),
            baseline,
            "s",
            None,
        );
        row(
            &format!("{changes} changes, looking everywhere"),
            middle(all),
            baseline,
            "s",
            None,
        );
    }
    watching.collect_garbage().unwrap();
    git.keep(0);
    git.run(&["gc", "-q", "--prune=now"]);
    let (ours, theirs) = (used(&dir.join("ours")), used(&git.dir));
    row("disk after clean-up", ours, theirs, "bytes", Some(1.1));
}

/// A project so small that most of the space is taken by the changes, not by the first snapshot.
fn disk(dir: &Path, snapshots: usize) {
    let tree = dir.join("tree");
    generate(&tree, 1_000, 4_000);
    let git = Git::new(dir, &tree);
    let repo = SideRepo::open(&dir.join("ours"), &tree).unwrap();
    for n in 0..snapshots {
        change(&tree, 1_000, 1, n);
        repo.take("bench").unwrap();
        git.add();
        git.keep(n);
    }
    repo.collect_garbage().unwrap();
    git.run(&["gc", "-q", "--prune=now"]);
    let name = format!("disk of {snapshots} snapshots");
    row(
        &name,
        used(&dir.join("ours")),
        used(&git.dir),
        "bytes",
        Some(1.1),
    );
}

struct Git {
    dir: PathBuf,
    tree: PathBuf,
}

impl Git {
    fn new(dir: &Path, tree: &Path) -> Self {
        let git = Self {
            dir: dir.join("git"),
            tree: tree.to_owned(),
        };
        git.run(&["init", "-q"]);
        // Sample hooks would count as used disk space.
        let _ = fs::remove_dir_all(git.dir.join("hooks"));
        git
    }

    fn run(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .env("GIT_DIR", &self.dir)
            .env("GIT_WORK_TREE", &self.tree)
            .env("GIT_INDEX_FILE", self.dir.join("side-index"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn add(&self) {
        self.run(&["add", "-A"]);
        self.run(&["write-tree"]);
    }

    fn keep(&self, n: usize) {
        let tree = self.run(&["write-tree"]);
        self.run(&["update-ref", &format!("refs/snapshots/{n}"), &tree]);
    }
}

fn path_of(tree: &Path, n: usize) -> PathBuf {
    tree.join(format!(
        "part{:02}/module{:02}/file{n}.rs",
        n % 50,
        n / 50 % 20
    ))
}

/// Text of random words; it compresses about as well as code.
fn generate(tree: &Path, files: usize, average: usize) {
    let mut random = Random(7);
    let words: Vec<String> = (0..4_000)
        .map(|_| {
            let letters = 3 + random.below(9);
            (0..letters)
                .map(|_| char::from(b'a' + random.below(26) as u8))
                .collect()
        })
        .collect();
    for n in 0..files {
        let path = path_of(tree, n);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let size = average / 10 + random.below(average * 9 / 5);
        let mut text = String::with_capacity(size + 80);
        while text.len() < size {
            for _ in 0..8 {
                text.push_str(&words[random.below(words.len())]);
                text.push(' ');
            }
            text.push('\n');
        }
        fs::write(path, text).unwrap();
    }
    fs::write(
        tree.join(".gitignore"),
        "target/\n*.log\nnode_modules\n/build\n",
    )
    .unwrap();
}

fn change(tree: &Path, files: usize, count: usize, run: usize) {
    for n in 0..count {
        let path = path_of(tree, (run * 7919 + n * 97) % files);
        let mut text = fs::read_to_string(&path).unwrap();
        let middle = text.len() / 2;
        text.insert_str(middle, &format!("changed in run {run}, {n}\n"));
        fs::write(path, text).unwrap();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn once(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(runs: usize, mut work: impl FnMut()) -> f64 {
    middle((0..runs).map(|_| once(&mut work)).collect())
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Blocks on disk, as `du` counts them.
fn used(dir: &Path) -> f64 {
    let mut sum = 0.0;
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            sum += meta.blocks() as f64 * 512.0;
        }
        #[cfg(not(unix))]
        {
            sum += meta.len() as f64;
        }
        if meta.is_dir() {
            sum += used(&entry.path());
        }
    }
    sum
}

fn row(name: &str, ours: f64, baseline: f64, unit: &str, bar: Option<f64>) {
    let ratio = ours / baseline;
    let bar = bar.map_or("null".to_owned(), |bar| bar.to_string());
    println!(
        r#"{{"name":"{name}","ours":{ours:.6},"baseline":{baseline:.6},"unit":"{unit}","ratio":{ratio:.4},"bar":{bar}}}"#
    );
}
