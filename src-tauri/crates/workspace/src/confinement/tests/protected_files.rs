//! In Auto mode, a command makes files that decide what runs later. They do not stay unless the
//! person says so; PROMISES 23.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::bash_tool::{Answer, Call};
use super::*;

/// In places that no sandbox can protect beforehand.
const MADE: [&str; 12] = [
    "lathe.json",
    ".envrc",
    ".mcp.json",
    ".npmrc",
    "src/.envrc",
    "src/.vscode/tasks.json",
    "src/.git/hooks/post-checkout",
    "src/new/.git/config",
    "src/deep/er/and/deeper/.lathe/agent.md",
    "src/deep/er/.opencode/x",
    "src/.idea/runConfigurations/x.xml",
    "vendor/lib/.cargo/config.toml",
];

fn write(path: &str) -> String {
    format!("mkdir -p $(dirname {path}) && echo evil > {path}")
}

/// The protected file or folder that a path lies in.
fn protected_part(path: &str) -> String {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let mut parts = ends.chain([path.len()]).map(|end| &path[..end]);
    let part = parts.find(|part| lathe_policy::protected::find(part, None).is_some());
    part.unwrap().to_owned()
}

fn place_with_sandbox() -> Option<Arc<Place>> {
    let place = Arc::new(Place::new());
    // Bubblewrap: with Landlock nothing at all can be made beside a protected path.
    let engine = available(&place).then(|| view().engine)?;
    (engine.as_deref() == Some("Bubblewrap")).then_some(place)
}

#[tokio::test]
async fn a_protected_file_that_a_command_makes_is_set_aside_unless_the_person_says_yes() {
    for path in MADE {
        let Some(place) = place_with_sandbox() else {
            return;
        };
        let file = place.path("project").join(path);
        let call = Call::new(&place, Answer::No);
        let result = call.run(&write(path)).await;
        let protected = protected_part(path);
        assert_eq!(*call.host.asked.lock(), [[protected.clone()]], "{path}");
        assert!(!file.exists(), "{path}");
        let aside = place.path("project").join(format!("{protected}.set-aside"));
        assert!(aside.exists(), "{path}: what the command made is not lost");
        let note = format!("{protected} is protected, so it was renamed to ");
        assert!(result.output.contains(&note), "{}", result.output);
        assert_eq!(result.metadata["setAside"], serde_json::json!([protected]));

        *call.host.keeps.lock() = true;
        let result = call.run(&write(path)).await;
        assert_eq!(fs::read_to_string(&file).unwrap(), "evil\n", "{path}");
        assert!(!result.metadata.contains_key("setAside"), "{path}");
        assert_eq!(call.host.asked.lock().len(), 2, "{path}");
    }
}

#[tokio::test]
async fn what_is_there_is_read_only_however_deep_it_lies() {
    let Some(place) = place_with_sandbox() else {
        return;
    };
    let path = "a/b/c/d/e/f/.npmrc";
    let file = place.path("project").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "own").unwrap();
    let call = Call::new(&place, Answer::No);
    call.run(&write(path)).await;
    call.run("rm -rf a/b/c").await;
    call.run("mv a/b x && echo evil > x/c/d/e/f/.npmrc").await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "own");
    // What `mv` cannot move it copies.
    assert_eq!(*call.host.asked.lock(), [["x/c/d/e/f/.npmrc"]]);
    assert!(!place.path("project/x/c/d/e/f/.npmrc").exists());
}

#[tokio::test]
async fn tricks_do_not_hide_a_protected_file() {
    for (trick, asked) in [
        // Under another name first.
        ("echo evil > src/x; mv src/x src/.envrc", "src/.envrc"),
        ("echo evil > src/x; ln src/x src/.envrc", "src/.envrc"),
        ("echo evil > src/x; ln -s x src/.envrc", "src/.envrc"),
        ("ln -s /nowhere src/.envrc", "src/.envrc"),
        ("mkfifo src/.envrc", "src/.envrc"),
        // A folder from elsewhere.
        (
            "d=$(mktemp -d); echo evil > $d/tasks.json; ln -s $d src/.vscode",
            "src/.vscode",
        ),
        // The last moment.
        (
            "(setsid sh -c 'sleep 0.3; echo evil > src/.envrc' &) ; sleep 0.1; echo evil > src/.envrc",
            "src/.envrc",
        ),
        // Folders that cannot be changed.
        (
            "mkdir src/x; echo evil > src/x/.envrc; chmod 555 src/x",
            "src/x/.envrc",
        ),
        // Thousands of folders.
        (
            "mkdir -p src/many && cd src/many && mkdir $(seq 6000) && echo evil > 77/.envrc",
            "src/many/77/.envrc",
        ),
        // Another case, for other file systems.
        ("echo evil > src/.EnvRC", "src/.EnvRC"),
    ] {
        let Some(place) = place_with_sandbox() else {
            return;
        };
        let call = Call::new(&place, Answer::No);
        let result = call.run(trick).await;
        let found = call.host.asked.lock().clone();
        assert_eq!(found, [[asked.to_owned()]], "{trick}: {}", result.output);
        let left = fs::symlink_metadata(place.path("project").join(asked));
        assert!(left.is_err(), "{trick}");
        let x = place.path("project/src/x");
        if x.is_dir() {
            fs::set_permissions(x, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

#[tokio::test]
async fn what_the_person_allowed_before_or_a_command_removes_again_is_not_asked_about() {
    let Some(place) = place_with_sandbox() else {
        return;
    };
    let call = Call::new(&place, Answer::No);
    call.host.open.lock().protected = vec![place.path("project/.envrc")];
    call.run("echo own > .envrc").await;
    assert!(place.path("project/.envrc").exists());
    let passing = "mkdir -p src/t && cd src/t && git init -q . && cd .. && rm -rf t";
    let result = call.run(passing).await;
    assert_eq!(result.metadata["exit"], 0, "{}", result.output);
    // Packages bring such files along, and nothing starts them there.
    call.run(&write("node_modules/lib/.npmrc")).await;
    assert_eq!(*call.host.asked.lock(), Vec::<Vec<String>>::new());
}

#[tokio::test]
async fn what_git_would_run_when_a_rebase_goes_on_is_set_aside_too() {
    let Some(place) = place_with_sandbox() else {
        return;
    };
    let call = Call::new(&place, Answer::No);
    call.host.open.lock().writable = vec![place.path("project/.git")];
    let todo = ".git/rebase-merge/git-rebase-todo";
    call.run(&write(todo)).await;
    assert_eq!(*call.host.asked.lock(), [[".git/rebase-merge"]]);
    assert!(!place.path("project").join(todo).exists());

    let own = place.path("project").join(todo);
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "pick 1").unwrap();
    let result = call.run(&write(todo)).await;
    assert_ne!(result.metadata["exit"], 0, "{}", result.output);
    assert_eq!(fs::read_to_string(own).unwrap(), "pick 1");
    assert_eq!(call.host.asked.lock().len(), 1);
}

#[tokio::test]
async fn in_a_folder_that_was_opened_protected_files_are_set_aside_too() {
    let Some(place) = place_with_sandbox() else {
        return;
    };
    let call = Call::new(&place, Answer::No);
    call.host.open.lock().writable = vec![place.path("home")];
    call.run("mkdir -p ~/.config/autostart && echo evil > ~/.config/autostart/x.desktop")
        .await;
    call.run("echo evil > ~/.zshrc").await;
    let home = place.path("home").display().to_string();
    let asked = [
        [format!("{home}/.config/autostart")],
        [format!("{home}/.zshrc")],
    ];
    assert_eq!(*call.host.asked.lock(), asked);
    assert!(!place.path("home/.zshrc").exists());
}
