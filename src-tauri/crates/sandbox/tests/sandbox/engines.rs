//! What the engines say of themselves, and how a command is started with them.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use lathe_sandbox::{
    Engine, Grant, Launch, Limit, Plan, Probe, Promise, Refused, SandboxError, explain, prepare,
};

use crate::world::{World, finish};

/// Runs a script inside, by each engine that works here.
fn with_each_engine(check: impl Fn(Engine, &World, &dyn Fn(&str) -> Output)) {
    with_each_engine_and(|_, confinement| confinement, check);
}

type Confine = lathe_sandbox::Confinement;

fn with_each_engine_and(
    confine: impl Fn(&World, Confine) -> Confine,
    check: impl Fn(Engine, &World, &dyn Fn(&str) -> Output),
) {
    let probe = Probe::this_machine();
    for engine in [Engine::Bubblewrap, Engine::Landlock] {
        if probe.failure(engine).is_some() {
            continue;
        }
        let world = World::new();
        let confinement = confine(&world, world.confinement());
        let run = |script: &str| {
            let plan = Plan::new(engine, &confinement, probe).unwrap();
            let launch = plan.launch().unwrap();
            shell(&launch, &world, script)
        };
        check(engine, &world, &run);
    }
}

fn shell(launch: &Launch, world: &World, script: &str) -> Output {
    let mut command = launch.command("/bin/sh");
    command.args(["-c", script]);
    world.dress(&mut command);
    finish(command)
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Tests of the sandbox try what works, and say nothing where nothing does. `cargo xtask test`
/// provides an engine, and then they must have been run.
#[test]
fn where_an_engine_was_provided_it_works() {
    let provided = std::env::var_os("LATHE_SANDBOX_PROVIDED").is_some();
    let reason = Probe::this_machine().reason();
    assert!(
        !provided || reason.is_none(),
        "no test of the sandbox was run: {}",
        reason.unwrap_or_default()
    );
}

#[test]
fn the_probe_names_an_engine_or_a_reason() {
    let probe = Probe::this_machine();
    assert!(
        probe.engine().is_some() != probe.reason().is_some(),
        "{probe:?}"
    );
    assert!(probe.failure(Engine::Seatbelt).is_some());
    println!("{probe:?}");
}

#[test]
fn a_required_promise_that_is_not_held_stops_the_start() {
    let probe = Probe::this_machine();
    if probe.failure(Engine::Landlock).is_some() {
        return;
    }
    let world = World::new();
    let mut confinement = world.confinement();
    confinement.required = vec![Promise::Survivors];
    let error = Plan::new(Engine::Landlock, &confinement, probe).unwrap_err();
    assert!(matches!(error, SandboxError::NotCovered(_)), "{error}");
    assert!(error.to_string().contains("outlive"), "{error}");
}

#[test]
fn landlock_says_in_which_folders_no_entry_can_be_created() {
    let probe = Probe::this_machine();
    if probe.failure(Engine::Landlock).is_some() {
        return;
    }
    let world = World::new();
    let plan = Plan::new(Engine::Landlock, &world.confinement(), probe).unwrap();
    let fixed = |path| plan.limits.contains(&Limit::FixedEntries(path));
    assert!(fixed(world.project()) && fixed(world.project().join("sub")));
    assert!(!fixed(world.project().join("src")));
    let output = shell(&plan.launch().unwrap(), &world, "echo x > new");
    let confinement = world.confinement();
    let denial = explain(
        output.status.code(),
        &text(&output),
        &world.project(),
        &confinement,
    );
    let expected = Refused::Write(world.project().join("new"));
    let refused: Vec<Refused> = denial.into_iter().map(|one| one.refused).collect();
    assert_eq!(refused, [expected], "{output:?}");
}

#[test]
fn what_was_refused_is_recognised_in_what_the_command_said() {
    with_each_engine(|engine, world, run| {
        let confinement = world.confinement();
        let home = world.home();
        let refused = |script: &str| {
            let output = run(script);
            let denial = explain(
                output.status.code(),
                &text(&output),
                &world.project(),
                &confinement,
            );
            denial.into_iter().next().map(|one| one.refused)
        };
        let write = |path: &str| Some(Refused::Write(home.join(path)));
        assert_eq!(
            refused("touch ../outside/new"),
            write("outside/new"),
            "{engine:?}"
        );
        assert_eq!(
            refused("echo x > $HOME/important.txt"),
            write("important.txt"),
            "{engine:?}"
        );
        assert_eq!(
            refused("echo x >> .git/config"),
            write("project/.git/config"),
            "{engine:?}"
        );
        let key = Some(Refused::Read(home.join(".ssh/id_ed25519")));
        assert_eq!(refused("cat ~/.ssh/id_ed25519"), key, "{engine:?}");
        assert_eq!(refused("cat missing.txt"), None, "{engine:?}");
        let python =
            "/usr/bin/python3 -c 'import socket; socket.create_connection((\"example.org\", 80))'";
        if fs::exists("/usr/bin/python3").unwrap() {
            let network = refused(python);
            assert!(
                matches!(network, Some(Refused::Network(_))),
                "{engine:?}: {network:?}"
            );
        }
    });
}

#[test]
fn grants_open_what_they_name_and_nothing_else() {
    let confine = |world: &World, mut confinement: Confine| {
        let home = world.home();
        confinement.grants = vec![
            Grant::Write(home.join("outside")),
            Grant::Read(home.join(".netrc")),
            Grant::Write(world.project().join("sub/.vscode")),
        ];
        confinement
    };
    with_each_engine_and(confine, |engine, _, run| {
        for script in [
            "echo x > $HOME/outside/new",
            "grep -q SECRET $HOME/.netrc",
            "echo x > sub/.vscode/tasks.json",
        ] {
            let output = run(script);
            assert!(output.status.success(), "{engine:?}: {script}: {output:?}");
        }
        for script in ["echo x > $HOME/important.txt", "cat $HOME/.aws/credentials"] {
            let output = run(script);
            assert!(!output.status.success(), "{engine:?}: {script}: {output:?}");
        }
    });
}

#[test]
fn with_the_network_granted_a_host_is_reached_but_no_unix_socket() {
    let confine = |_: &World, mut confinement: Confine| {
        confinement.grants = vec![Grant::Network];
        confinement
    };
    with_each_engine_and(confine, |engine, world, _| {
        let confinement = confine(world, world.confinement());
        let plan = Plan::new(engine, &confinement, Probe::this_machine()).unwrap();
        for (attempt, works) in [("tcp", true), ("unix", false), ("abstract connect", false)] {
            let launch = plan.launch().unwrap();
            let mut command = launch.command(std::env::current_exe().unwrap());
            command.args(["--exact", "attacker::attacker", "--nocapture"]);
            world.dress(&mut command);
            command.env(crate::attacker::ATTEMPT, attempt);
            let output = finish(command);
            assert_eq!(
                output.status.success(),
                works,
                "{engine:?}: {attempt}: {output:?}"
            );
        }
    });
}

#[test]
fn a_protected_link_can_neither_be_replaced_nor_written_through() {
    let confine = |world: &World, mut confinement: Confine| {
        let project = world.project();
        fs::create_dir_all(project.join("tools/hooks")).unwrap();
        symlink("tools/hooks", project.join(".githooks")).unwrap();
        confinement.protected.push(project.join(".githooks"));
        confinement
    };
    with_each_engine_and(confine, |engine, world, run| {
        for script in [
            "rm .githooks",
            "ln -sfn src .githooks",
            "mv -T src .githooks",
            "echo x > .githooks/pre-commit",
            "echo x > tools/hooks/pre-commit",
            "mv tools other",
        ] {
            let output = run(script);
            assert!(!output.status.success(), "{engine:?}: {script}: {output:?}");
        }
        let link = fs::read_link(world.project().join(".githooks")).unwrap();
        assert_eq!(link.to_str(), Some("tools/hooks"));
        assert!(run("echo x > src/new").status.success(), "{engine:?}");
    });
}

#[test]
fn a_writable_repository_does_not_let_git_run_anything_new() {
    let confine = |world: &World, mut confinement: Confine| {
        // What the world's repository has besides its hooks and configuration is missing.
        assert!(!world.project().join(".git/commondir").exists());
        confinement.git_writable = true;
        confinement
    };
    with_each_engine_and(confine, |engine, world, run| {
        for script in [
            "echo x > .git/hooks/pre-commit",
            "mv .git/hooks .git/old && mkdir .git/hooks",
            "git config core.fsmonitor ./evil",
            "echo x > .git/new && mv .git/new .git/config",
            "echo ../src > .git/commondir",
            "rm -f .git/commondir && echo ../src > .git/commondir",
            "echo x > .git/config.worktree",
            "mkdir -p .git/modules/a && echo x > .git/modules/a/config",
            "mkdir -p .git/worktrees/a && echo x > .git/worktrees/a/commondir",
            "mv .git old",
        ] {
            let output = run(script);
            assert!(!output.status.success(), "{engine:?}: {script}: {output:?}");
        }
        let entries = fs::read_dir(world.project().join(".git")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "new");
        names.sort();
        assert_eq!(
            names,
            ["HEAD", "config", "hooks", "objects", "refs"],
            "{engine:?}"
        );
    });
}

#[test]
fn git_works_in_a_linked_worktree_whose_repository_is_outside() {
    let probe = Probe::this_machine();
    if probe.failure(Engine::Bubblewrap).is_some() {
        return;
    }
    let world = World::new();
    let linked = world.home().join("linked");
    let mut setup = Command::new("/bin/sh");
    let script = "rm -r .git; git -c init.defaultBranch=main init -q; git add src; \
        git config user.name Test; git config user.email test@localhost; \
        git commit -q -m first; git worktree add -q ../linked -b topic";
    setup.args(["-ec", script]);
    world.dress(&mut setup);
    assert!(finish(setup).status.success());
    let mut confinement = Confine::new(&linked);
    confinement.protected = vec![linked.join(".git")];
    confinement.git_writable = true;
    let plan = Plan::new(Engine::Bubblewrap, &confinement, probe).unwrap();
    let run = |script: &str| {
        let launch = plan.launch().unwrap();
        let mut command = launch.command("/bin/sh");
        command.args(["-ec", script]);
        world.dress(&mut command);
        command.current_dir(&linked);
        finish(command)
    };
    let output = run("echo x > new; git add new; git commit -q -m second; git status --short");
    assert!(output.status.success(), "{output:?}");
    for script in [
        "echo x > ../project/src/main.c",
        "echo x > ../project/.git/hooks/pre-commit",
        "git config core.fsmonitor ./evil",
        "echo x > .git",
        "echo /elsewhere > ../project/.git/worktrees/linked/commondir",
    ] {
        let output = run(script);
        assert!(!output.status.success(), "{script}: {output:?}");
    }
}

#[test]
fn a_shell_of_the_callers_own_may_stay_outside() {
    let probe = Probe::this_machine();
    let Some(engine) = probe.engine() else {
        return;
    };
    let world = World::new();
    let plan = Plan::new(engine, &world.confinement(), probe).unwrap();
    let launch = plan.launch().unwrap();
    let mut supervisor = Command::new("/bin/sh");
    supervisor
        .args(["-c", "\"$@\"; echo \"code $?\"", "supervisor"])
        .args(launch.prefix())
        .args([
            "/bin/sh",
            "-c",
            "echo inside; echo x > $HOME/outside/new || exit 7",
        ]);
    world.dress(&mut supervisor);
    launch.install(&mut supervisor);
    let output = finish(supervisor);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "inside\ncode 7\n",
        "{output:?}"
    );
}

#[tokio::test]
async fn a_command_is_started_by_tokio_like_any_other() {
    let world = World::new();
    let Ok((_, launch)) = prepare(&world.confinement()) else {
        return;
    };
    let mut command = launch.command("/bin/echo");
    command.arg("hello");
    world.dress(&mut command);
    let output = tokio::process::Command::from(command)
        .output()
        .await
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n");
}

#[test]
fn nothing_is_left_in_the_project_after_a_command() {
    with_each_engine(|engine, world, run| {
        let names = || {
            let entries = fs::read_dir(world.project()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        assert!(run("true").status.success());
        assert_eq!(names(), before, "{engine:?}");
    });
}
