//! The sandbox of a project, on real processes; PROMISES 24.
//!
//! The folders are not in a temporary folder of the system, because those are writable inside.

#[cfg(unix)]
mod bash_tool;
#[cfg(target_os = "linux")]
mod generated;
#[cfg(unix)]
mod protected_files;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_policy::{Freedom, defaults};
use lathe_tools::Refused;
use tempfile::TempDir;

use super::*;
use crate::outside;

struct Place {
    _scratch: TempDir,
    base: PathBuf,
    sandbox: Sandbox,
}

impl Place {
    fn new() -> Self {
        let scratch = outside::test_folder().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        for (path, content) in [
            ("home/.ssh/id_ed25519", "TOP-SECRET"),
            ("home/.bashrc", "# start-up"),
            ("data/project.json", "TOP-SECRET"),
            ("config/lathe/lathe.json", "TOP-SECRET"),
            ("outside/file.txt", "outside"),
            ("project/src/main.c", "int main;"),
            ("project/.git/HEAD", "ref: refs/heads/main"),
            ("project/.git/hooks/README", "hooks"),
            ("project/packages/one/.vscode/settings.json", "{}"),
        ] {
            let path = base.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let config = base.join("config");
        let sandbox = Sandbox::new(Some(base.join("home")), &base.join("data"), Some(&config));
        Self {
            _scratch: scratch,
            base,
            sandbox,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// As a login shell has it: with programs in a folder of the home that nobody else knows.
    fn search_path(&self) -> String {
        let own = self.path("home/.some-tool/bin");
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", own.display())
    }

    async fn walls(&self, grants: SandboxGrants) -> Arc<dyn Walls> {
        let root = self.path("project");
        let is_secret = lathe_policy::is_secret(&defaults(Freedom::default()), &[]);
        let may_read = Arc::new(move |path: &str| !is_secret(path));
        let variables = std::env::vars().chain([("PATH".to_owned(), self.search_path())]);
        let variables = variables.collect();
        let walls = self.sandbox.confine(&root, grants, may_read, &variables);
        walls.await.unwrap()
    }

    /// The exit code, the output, and what the sandbox refused.
    async fn run(&self, script: &str, grants: SandboxGrants) -> (i32, String, Option<Refused>) {
        let walls = self.walls(grants).await;
        let mut command = match walls.prefix().split_first() {
            Some((program, rest)) => {
                let mut command = std::process::Command::new(program);
                command.args(rest).arg("/bin/sh");
                command
            }
            None => std::process::Command::new("/bin/sh"),
        };
        command
            .args(["-c", script])
            .current_dir(self.path("project"))
            .env("HOME", self.path("home"));
        walls.install(&mut command);
        let output = command.output().unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let refusal = walls.refusal(output.status.code(), &text);
        let code = output.status.code().unwrap_or(-1);
        let refused = refusal.map(|mut refusal| refusal.refused.remove(0));
        (code, text, refused)
    }

    async fn refused(&self, script: &str) -> Option<Refused> {
        let (code, text, refused) = self.run(script, SandboxGrants::default()).await;
        assert_ne!(code, 0, "{script}: {text}");
        assert!(!text.contains("TOP-SECRET"), "{script}: {text}");
        refused
    }
}

/// Nothing to see on a machine without a sandbox, which says so.
fn available(place: &Place) -> bool {
    let view = view();
    assert_eq!(view.engine.is_some(), place.sandbox.is_available());
    assert_eq!(view.unavailable.is_none(), place.sandbox.is_available());
    place.sandbox.is_available()
}

#[tokio::test]
async fn the_project_and_temporary_folders_are_writable_and_nothing_else_is() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let script = "echo x > src/new && echo x > $(mktemp) && cat ../outside/file.txt";
    let (code, text, refused) = place.run(script, SandboxGrants::default()).await;
    assert_eq!((code, text.as_str(), refused), (0, "outside", None));
    let outside = place.path("outside/file.txt");
    let refused = place.refused("echo x > ../outside/file.txt").await;
    assert_eq!(refused, Some(Refused::Write(outside.clone())));
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "outside");
}

#[tokio::test]
async fn protected_paths_are_read_only_also_where_they_do_not_exist_yet() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    for path in [
        ".git/hooks/pre-commit",
        ".git/HEAD",
        ".lathe/agent/x.md",
        ".opencode/x",
        ".vscode/tasks.json",
        ".husky/pre-commit",
        "packages/one/.vscode/settings.json",
    ] {
        let script = format!("mkdir -p $(dirname {path}) && echo evil > {path}");
        place.refused(&script).await;
        let found = std::fs::read_to_string(place.path("project").join(path));
        assert!(!found.is_ok_and(|text| text.contains("evil")), "{path}");
    }
    assert!(!place.path("project/.lathe").exists(), "only while it runs");
}

#[tokio::test]
async fn hooks_that_lie_elsewhere_in_the_project_are_read_only() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let hooks = place.path("project/tools/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let config = place.path("project/.git/config");
    std::fs::write(config, "[core]\n\thooksPath = tools/hooks\n").unwrap();
    let hook = hooks.join("pre-commit");
    let refused = place.refused("echo evil > tools/hooks/pre-commit").await;
    assert_eq!(refused, Some(Refused::Write(hook.clone())));
    place
        .refused("mv tools old && mkdir -p tools/hooks && echo evil > tools/hooks/pre-commit")
        .await;
    assert!(!hook.exists());
}

#[tokio::test]
async fn secrets_and_our_own_folders_cannot_be_read() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    for path in [
        "home/.ssh/id_ed25519",
        "data/project.json",
        "config/lathe/lathe.json",
    ] {
        let refused = place.refused(&format!("cat ../{path}")).await;
        let folder = place.path(path).parent().map(Path::to_owned).unwrap();
        let named = match refused {
            Some(Refused::Read(path)) => path.starts_with(&folder),
            // A folder that is empty inside has no such file.
            None => true,
            _ => false,
        };
        assert!(named, "{path}");
    }
}

/// Its new name would be one that no rule knows.
#[tokio::test]
async fn a_folder_with_a_secret_in_it_is_not_renamed() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let key = place.path("project/src/deep/er/prod.env");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&key, "KEY=TOP-SECRET").unwrap();
    for folder in ["src/deep/er", "src/deep", "src"] {
        place.refused(&format!("mv {folder} moved")).await;
    }
    assert!(key.exists());
}

/// A folder of a large project that is looked at late.
#[cfg(unix)]
#[tokio::test]
async fn behind_thousands_of_folders_secrets_are_hidden_and_protected_files_are_read_only() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let project = place.path("project");
    for number in 0..6_000 {
        std::fs::create_dir_all(project.join(format!("many/{number}"))).unwrap();
    }
    let deep = project.join("packages/x/y/.husky");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("pre-commit"), "own").unwrap();
    std::fs::write(project.join("packages/x/y/.env"), "KEY=TOP-SECRET").unwrap();
    place.refused("cat packages/x/y/.env").await;
    place
        .refused("echo evil > packages/x/y/.husky/pre-commit")
        .await;
    let left = std::fs::read_to_string(deep.join("pre-commit")).unwrap();
    assert_eq!(left, "own");
}

#[test]
fn there_is_no_sandbox_for_a_project_of_which_not_everything_was_looked_at() {
    let place = Place::new();
    let project = place.path("project");
    let may_read: MayRead = Arc::new(|_| true);
    let confined = |folders| {
        let extent = Extent {
            folders,
            ..Extent::PROJECT
        };
        confinement(
            &project,
            None,
            &[],
            &[],
            &SandboxGrants::default(),
            &may_read,
            extent,
        )
        .map(|_| ())
    };
    let why = "the project has more than 4 folders, too many to look for files to hide";
    assert_eq!(confined(4), Err(why.to_owned()));
    // The project, `src`, `packages`, `packages/one` and its `.vscode`.
    assert_eq!(confined(5), Ok(()));
}

#[tokio::test]
async fn secret_files_of_the_project_are_read_only_by_a_command_that_was_granted_them() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let project = place.path("project");
    // Also in folders that are protected as a whole.
    let secrets = [
        ".env",
        "packages/one/prod.env",
        ".env.local",
        ".devcontainer/.env",
        ".claude/deep/er/.env",
    ];
    for name in secrets {
        let path = project.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "KEY=TOP-SECRET").unwrap();
    }
    std::fs::write(project.join(".env.example"), "KEY=").unwrap();
    let read = |name: &str| format!("awk '{{ print }}' {name}");
    for name in secrets {
        let refused = place.refused(&read(name)).await;
        assert_eq!(refused, Some(Refused::Read(project.join(name))), "{name}");
        let copy = format!("ln {name} copy; cp {name} copy; mv {name} copy; cat copy");
        place.refused(&copy).await;
        place
            .refused(&format!("mv packages moved; cat moved/one/prod.env {name}"))
            .await;
        let undo = "mv moved packages";
        place.run(undo, SandboxGrants::default()).await;
    }
    let (code, text, _) = place
        .run(&read(".env.example"), SandboxGrants::default())
        .await;
    assert_eq!((code, text.as_str()), (0, "KEY=\n"));
    let granted = SandboxGrants {
        readable: vec![project.join(".env")],
        ..SandboxGrants::default()
    };
    let (code, text, _) = place.run(&read(".env"), granted.clone()).await;
    assert_eq!((code, text.as_str()), (0, "KEY=TOP-SECRET\n"));
    let (code, text, _) = place.run(&read(".env.local"), granted).await;
    assert!(code != 0 && !text.contains("TOP-SECRET"), "{text}");
    let whole = std::fs::read_to_string(project.join(".env")).unwrap();
    assert_eq!(whole, "KEY=TOP-SECRET");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_the_login_shell_finds_can_be_started() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    if !available(&place) {
        return;
    }
    for name in [".some-tool/bin/tool", ".other-tool/bin/tool"] {
        let program = place.path("home").join(name);
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "#!/bin/sh\necho started\n").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(program, mode).unwrap();
    }
    let run = async |script: &str| place.run(script, SandboxGrants::default()).await;
    let (code, text, _) = run("~/.some-tool/bin/tool").await;
    assert_eq!((code, text.as_str()), (0, "started\n"));
    // What is hidden is missing inside, and that is said.
    let hidden = place.path("home/.other-tool/bin/tool");
    let (code, _, refused) = run("~/.other-tool/bin/tool").await;
    assert!(code == 126 || code == 127, "{code}");
    assert_eq!(refused, Some(Refused::Read(hidden)));
}

#[cfg(unix)]
#[tokio::test]
async fn in_a_folder_that_was_opened_hooks_are_read_only_however_deep_they_lie() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let hook = place.path("outside/a/b/c/d/.git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "own").unwrap();
    let grants = SandboxGrants {
        writable: vec![place.path("outside")],
        ..SandboxGrants::default()
    };
    let script = "echo evil > ../outside/a/b/c/d/.git/hooks/pre-commit";
    let (code, text, _) = place.run(script, grants).await;
    assert_ne!(code, 0, "{text}");
    assert_eq!(std::fs::read_to_string(hook).unwrap(), "own");
}

#[tokio::test]
async fn a_grant_opens_its_folder_the_network_or_git_and_nothing_more() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let folder = |name: &str| SandboxGrants {
        writable: vec![place.path(name)],
        ..SandboxGrants::default()
    };
    let script = "echo granted > ../outside/file.txt";
    assert_eq!(place.run(script, folder("outside")).await.0, 0);
    let (code, ..) = place.run("echo x > ../home/.bashrc", folder("home")).await;
    assert_ne!(code, 0, "start-up files stay protected in a granted folder");
    let (code, text, _) = place.run("echo x > ../home/new", folder("home")).await;
    assert_eq!(code, 0, "{text}");
    let git = folder("project/.git");
    let (code, text, _) = place.run("echo x > .git/index.lock", git.clone()).await;
    assert_eq!(code, 0, "{text}");
    let (code, ..) = place.run("echo x > .git/hooks/pre-commit", git).await;
    assert_ne!(code, 0, "git may write, and its hooks stay protected");
    let missing = folder("no/such/folder");
    assert_eq!(place.run("true", missing).await.0, 0);
}

#[tokio::test]
async fn there_is_no_network_unless_it_is_granted() {
    let place = Place::new();
    if !available(&place) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'");
    place.refused(&script).await;
    assert!(listener.accept().is_err(), "nothing arrived");
    let grants = SandboxGrants {
        network: true,
        ..SandboxGrants::default()
    };
    let (code, text, _) = place.run(&script, grants).await;
    assert_eq!(code, 0, "{text}");
    assert!(listener.accept().is_ok());
}

#[test]
fn a_path_in_a_git_folder_opens_it_for_git_unless_it_is_guarded() {
    for (path, opens) in [
        ("/p/.git", true),
        ("/p/.git/refs/heads", true),
        ("/p/.git/hooks", false),
        ("/p/.git/modules/x/objects", false),
        ("/p/src", false),
    ] {
        assert_eq!(opens_git(Path::new(path)), opens, "{path}");
    }
}
