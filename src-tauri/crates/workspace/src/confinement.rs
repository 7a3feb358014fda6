//! The sandbox that commands of a project run in: what is writable, protected and hidden there.
//!
//! Puts together what the `sandbox` crate needs to know of a project and of the person, and offers
//! the result to tools as [`Walls`]. Does not decide which commands are confined.

mod made;
mod protected_paths;
mod walls;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::SandboxView;
use lathe_sandbox::{Confinement, Engine, Grant, Plan, Probe, prepare, remove_leftovers};
use lathe_tools::context::MayRead;
use lathe_tools::environment::Variables;
use lathe_tools::{Walls, paths};

use crate::by_link::hooks_folder;

use self::made::Before;
use self::protected_paths::{Extent, Scan, never_created};
use self::walls::SandboxWalls;

/// What in a git folder runs programs, or says where such things are. It stays protected when git
/// may write.
const GIT_GUARDED: [&str; 6] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "modules",
    "worktrees",
];

/// Each costs a mount, and there is a limit to the words of a command.
const MOST_HIDDEN: usize = 1_000;

/// The sandbox of this machine, with the places that every project must keep hidden.
pub struct Sandbox {
    home: Option<PathBuf>,
    /// What commands have in the project while they run, for after a crash.
    notes: PathBuf,
    /// Our own data and settings, and those of the agent that we share settings with.
    own: Vec<PathBuf>,
}

/// What is open in the sandbox besides the project and temporary folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxGrants {
    /// Folders and files that may be changed. The project's `.git` opens it for git: its objects, references
    /// and index, but not its hooks and settings. What is missing is left out.
    pub writable: Vec<PathBuf>,
    /// Files of the project that may be read although they are secret.
    pub readable: Vec<PathBuf>,
    pub network: bool,
    /// Protected paths that the person allowed to be made. Those that are there stay read-only.
    pub protected: Vec<PathBuf>,
}

impl SandboxGrants {
    #[must_use]
    pub fn and(mut self, more: SandboxGrants) -> Self {
        self.writable.extend(more.writable);
        self.readable.extend(more.readable);
        self.network |= more.network;
        self.protected.extend(more.protected);
        self
    }
}

impl Sandbox {
    pub fn new(home: Option<PathBuf>, data_dir: &Path, config_home: Option<&Path>) -> Self {
        let mut own = vec![data_dir.to_owned()];
        let settings = ["lathe", "opencode"].map(|name| config_home.map(|home| home.join(name)));
        own.extend(settings.into_iter().flatten());
        let notes = data_dir.join("placeholders");
        Self { home, notes, own }
    }

    /// Removes, in the background, what commands left in projects when the app was killed.
    pub fn clean_up(&self) {
        let notes = self.notes.clone();
        std::thread::spawn(move || remove_leftovers(&notes));
    }

    /// Whether commands can be confined here. The first call tries it out, which takes some 20 ms:
    /// only who wants to confine something asks.
    pub fn is_available(&self) -> bool {
        Probe::this_machine().engine().is_some()
    }

    /// What confines commands on this machine, or why nothing does.
    pub async fn view(&self) -> SandboxView {
        let view = tokio::task::spawn_blocking(view).await;
        view.unwrap_or_else(|error| SandboxView {
            unavailable: Some(sentence(&error.to_string())),
            ..SandboxView::default()
        })
    }

    /// A sandbox for one command in the project with this root, or why there is none. `may_read`
    /// says of each file there, as rules see it, whether every command may read it. `variables` are
    /// those that the command gets: an app started from the desktop lacks what a login sets.
    pub async fn confine(
        &self,
        root: &Path,
        grants: SandboxGrants,
        may_read: MayRead,
        variables: &Variables,
    ) -> Result<Arc<dyn Walls>, String> {
        let (root, home, own) = (root.to_owned(), self.home.clone(), self.own.clone());
        let programs = program_folders(variables);
        let notes = self.notes.clone();
        let prepared = tokio::task::spawn_blocking(move || {
            remove_leftovers(&notes);
            let (mut confinement, before) = confinement(
                &root,
                home.as_deref(),
                &own,
                &programs,
                &grants,
                &may_read,
                Extent::PROJECT,
            )?;
            confinement.notes = Some(notes);
            let (plan, launch) = prepare(&confinement).map_err(|error| error.to_string())?;
            let engine = name(plan.engine());
            Ok(SandboxWalls::new(engine, launch, confinement, root, before))
        });
        match prepared.await {
            Ok(Ok(walls)) => Ok(Arc::new(walls)),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("preparing it broke off".to_owned()),
        }
    }
}

fn confinement(
    root: &Path,
    home: Option<&Path>,
    own: &[PathBuf],
    programs: &[PathBuf],
    grants: &SandboxGrants,
    may_read: &MayRead,
    extent: Extent,
) -> Result<(Confinement, Before), String> {
    let is_secret = |path: &Path| {
        let granted = grants.readable.iter().any(|readable| readable == path);
        !granted && !may_read(&paths::shown(path, root))
    };
    let mut before = Before::new(root, home, &grants.protected);
    let mut confinement = Confinement::new(root);
    confinement.writable.extend(temporary_folders());
    let Scan {
        found,
        secret,
        incomplete,
    } = before.look_through(root, extent, &is_secret);
    if incomplete {
        // What was not looked at would be readable and writable.
        return Err(format!(
            "the project has more than {} folders, too many to look for files to hide",
            extent.folders
        ));
    }
    confinement.protected = found;
    confinement.unreadable.extend(secret);
    for path in never_created(root) {
        let protected = &mut confinement.protected;
        before.cannot_be_made(&path);
        if !protected.iter().any(|known| path.starts_with(known)) {
            protected.push(path);
        }
    }
    // What git runs lies in the project under any name.
    if let Some(hooks) =
        hooks_folder(root, home).filter(|hooks| hooks.starts_with(root) && hooks != root)
    {
        confinement.protected.push(hooks);
    }
    if let Some(home) = home {
        confinement.hide_secrets(home, programs);
    }
    confinement.unreadable.extend(own.iter().cloned());
    for path in &grants.writable {
        if opens_git(path) {
            confinement.git_writable = true;
        } else if path.exists() {
            if path.is_dir() {
                let inside = before.look_through(path, Extent::GRANTED, &is_secret);
                confinement.protected.extend(inside.found);
                confinement.unreadable.extend(inside.secret);
            }
            confinement.grants.push(Grant::Write(path.clone()));
        }
    }
    if confinement.git_writable {
        let protected = confinement.protected.iter();
        let is_git = |path: &&PathBuf| path.file_name().is_some_and(|name| name == ".git");
        protected
            .filter(is_git)
            .for_each(|dot_git| before.git_may_write(dot_git));
    }
    if grants.network {
        confinement.grants.push(Grant::Network);
    }
    match confinement.unreadable.len() > MOST_HIDDEN {
        true => Err("there are too many files to hide".to_owned()),
        false => Ok((confinement, before)),
    }
}

/// Whether a granted path lies in a git folder, where more than it names must be writable for git
/// to work, and less than the whole.
fn opens_git(path: &Path) -> bool {
    let mut names = path.components().map(|part| part.as_os_str());
    let in_git = names.any(|name| name == ".git");
    in_git && names.all(|name| !GIT_GUARDED.iter().any(|guarded| name == *guarded))
}

fn view() -> SandboxView {
    let probe = Probe::this_machine();
    let Some(engine) = probe.engine() else {
        let reason = probe.reason().unwrap_or("no sandbox works here");
        return SandboxView {
            unavailable: Some(sentence(reason)),
            ..SandboxView::default()
        };
    };
    let plan = Plan::new(engine, &Confinement::default(), probe);
    let not_covered = plan.map(|plan| plan.not_covered).unwrap_or_default();
    SandboxView {
        engine: Some(name(engine).to_owned()),
        unavailable: None,
        not_covered: not_covered
            .iter()
            .map(|promise| sentence(&promise.to_string()))
            .collect(),
    }
}

fn temporary_folders() -> Vec<PathBuf> {
    let usual: &[&str] = if cfg!(unix) {
        &["/tmp", "/var/tmp"]
    } else {
        &[]
    };
    let mut folders = vec![std::env::temp_dir()];
    folders.extend(usual.iter().map(PathBuf::from));
    folders
}

/// Where programs and toolchains are, wherever the person put them.
fn program_folders(variables: &Variables) -> Vec<PathBuf> {
    const HOMES: [&str; 12] = [
        "ANDROID_HOME",
        "CARGO_HOME",
        "CONDA_PREFIX",
        "GOPATH",
        "GOROOT",
        "GRADLE_USER_HOME",
        "JAVA_HOME",
        "NVM_DIR",
        "PNPM_HOME",
        "PYENV_ROOT",
        "RUSTUP_HOME",
        "VIRTUAL_ENV",
    ];
    let path = variables.get("PATH").map_or("", String::as_str);
    let homes = HOMES.iter().filter_map(|name| variables.get(*name));
    let homes = homes.map(PathBuf::from);
    let folders = std::env::split_paths(path).chain(homes);
    folders.filter(|folder| folder.is_absolute()).collect()
}

fn name(engine: Engine) -> &'static str {
    match engine {
        Engine::Bubblewrap => "Bubblewrap",
        Engine::Landlock => "Landlock",
        Engine::Seatbelt => "Seatbelt",
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests;
