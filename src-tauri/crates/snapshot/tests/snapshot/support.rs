//! A work tree and its side repository in a temporary folder.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lathe_snapshot::{
    Mode, Options, PathRestore, Plan, RelPath, RestoreAction, SideRepo, Snapshot, TreeId,
};
use tempfile::TempDir;

pub struct World {
    dir: TempDir,
    data: PathBuf,
    options: Options,
    pub repo: SideRepo,
    watched: Cell<bool>,
}

/// The mode and the content of each file, by path.
pub type Files = BTreeMap<String, (Mode, Vec<u8>)>;

pub fn options() -> Options {
    Options {
        keep_free: 0,
        ..Options::default()
    }
}

pub fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

impl World {
    pub fn new() -> Self {
        Self::with(options())
    }

    pub fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().to_owned();
        Self::make(dir, &data, options)
    }

    /// With our own data in another folder, for example on another file system.
    pub fn with_data(data: &Path) -> Self {
        Self::make(tempfile::tempdir().unwrap(), data, options())
    }

    fn make(dir: TempDir, data: &Path, options: Options) -> Self {
        fs::create_dir(dir.path().join("tree")).unwrap();
        let root = data.to_owned();
        let data = root.join("data");
        let repo = SideRepo::open_with(&data, &dir.path().join("tree"), options.clone()).unwrap();
        let watched = Cell::default();
        Self {
            dir,
            data: root,
            options,
            repo,
            watched,
        }
    }

    /// Opens the repository again, as after a restart of the app.
    pub fn reopen(&mut self) {
        self.repo = SideRepo::open_with(&self.data(), &self.tree(), self.options.clone()).unwrap();
        self.watched.set(false);
    }

    pub fn reopen_with(&mut self, options: Options) {
        self.options = options;
        self.reopen();
    }

    pub fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    pub fn data(&self) -> PathBuf {
        self.data.join("data")
    }

    pub fn trash(&self) -> PathBuf {
        self.data.join("trash")
    }

    /// The folder of the side repository.
    pub fn repository_dir(&self) -> PathBuf {
        let mut dirs = fs::read_dir(self.data().join("snapshot")).unwrap();
        dirs.next().unwrap().unwrap().path()
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.tree().join(path)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, content).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub fn exists(&self, path: &str) -> bool {
        self.at(path).symlink_metadata().is_ok()
    }

    /// Takes a snapshot. The first call takes two, because the work tree is watched only from the
    /// second one on.
    pub fn take(&self) -> Snapshot {
        if !self.watched.replace(true) {
            self.take_once();
        }
        self.take_once()
    }

    pub fn take_once(&self) -> Snapshot {
        self.repo.take("session").unwrap()
    }

    pub fn plan(&self, paths: &[&str], target: &Snapshot, post: &Snapshot) -> Plan {
        let paths = paths.iter().map(|text| path(text)).collect();
        self.plan_paths(paths, target, post)
    }

    fn plan_paths(&self, paths: Vec<RelPath>, target: &Snapshot, post: &Snapshot) -> Plan {
        let restores: Vec<PathRestore> = paths
            .into_iter()
            .map(|path| PathRestore {
                path,
                target: target.hash,
                post_image: post.hash,
            })
            .collect();
        self.repo.plan_restore(&restores).unwrap()
    }

    /// Reverts everything that differs between the two.
    pub fn revert(&self, target: &Snapshot, post: &Snapshot) -> lathe_snapshot::Outcome {
        let paths = self.repo.changed_files(target.hash, post.hash).unwrap();
        let plan = self.plan_paths(paths, target, post);
        self.repo.apply(&plan, &self.trash())
    }

    pub fn snapshot_files(&self, tree: TreeId) -> Files {
        snapshot_files(&self.repo, tree)
    }

    pub fn files(&self) -> Files {
        let mut state = Files::new();
        gather(&self.tree(), "", &mut state);
        state
    }
}

pub fn snapshot_files(repo: &SideRepo, tree: TreeId) -> Files {
    let files = repo.files(tree).unwrap();
    files
        .into_iter()
        .map(|(path, mode)| {
            let bytes = repo.blob(tree, &path).unwrap();
            (path.to_string(), (mode, bytes))
        })
        .collect()
}

pub fn steps(plan: &Plan) -> Vec<(String, RestoreAction)> {
    plan.actions()
        .map(|(path, step)| (path.to_string(), step.clone()))
        .collect()
}

pub fn names<'a>(paths: impl IntoIterator<Item = &'a RelPath>) -> Vec<String> {
    paths.into_iter().map(RelPath::to_string).collect()
}

fn gather(dir: &Path, prefix: &str, state: &mut Files) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            gather(&entry.path(), &format!("{name}/"), state);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            let bytes = target.as_os_str().as_encoded_bytes().to_vec();
            state.insert(name, (Mode::Link, bytes));
        } else if kind.is_file() {
            let mode = match executable(&entry.path()) {
                true => Mode::Executable,
                false => Mode::File,
            };
            state.insert(name, (mode, fs::read(entry.path()).unwrap()));
        }
    }
}

#[cfg(unix)]
fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn executable(_path: &Path) -> bool {
    false
}

#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The number of test cases: `soak` in a long run, else `everyday`.
pub fn cases(everyday: u32, soak: u32) -> u32 {
    match std::env::var_os("LATHE_SOAK") {
        Some(_) => soak,
        None => everyday,
    }
}
