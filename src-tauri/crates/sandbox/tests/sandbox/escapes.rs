//! Every way out, tried with every engine.

use std::ffi::CString;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use lathe_sandbox::{Engine, Plan, Probe, Promise};

use crate::attacker::ATTEMPT;
use crate::attempts::{ATTEMPTS, Attempt, How, Outside, Stop};
use crate::world::{World, finish};

#[test]
fn there_are_at_least_forty_ways_out_to_try() {
    assert!(ATTEMPTS.len() >= 40, "{}", ATTEMPTS.len());
}

#[test]
fn bubblewrap_stops_every_way_out() {
    stops_every_way_out(Engine::Bubblewrap, |attempt| attempt.bubblewrap);
}

#[test]
fn landlock_stops_every_way_out_but_for_what_it_says() {
    stops_every_way_out(Engine::Landlock, |attempt| attempt.landlock);
}

/// Shows that the attempts are real ones.
#[test]
fn outside_of_a_sandbox_the_attempts_succeed() {
    let shared = Shared::new();
    for attempt in ATTEMPTS.iter().filter(|row| row.outside == Outside::Works) {
        let mut world = World::new();
        let output = run(attempt, &world, &shared, |program| Command::new(program));
        let damage = damage(attempt, &mut world, &output);
        let succeeded = output.status.success() || damage.is_some();
        assert!(succeeded, "{}: {output:?}", attempt.what);
    }
}

fn stops_every_way_out(engine: Engine, stop: fn(&Attempt) -> Stop) {
    let probe = Probe::this_machine();
    if let Some(reason) = probe.failure(engine) {
        // A machine without it has nothing to test, and says so.
        println!("{engine:?} is not tried: {reason}");
        return;
    }
    let shared = Shared::new();
    let mut escaped = Vec::new();
    for attempt in ATTEMPTS {
        let mut world = World::new();
        let plan = Plan::new(engine, &world.confinement(), probe).unwrap();
        let launch = plan.launch().unwrap();
        let output = run(attempt, &world, &shared, |program| launch.command(program));
        drop(launch);
        let damage = damage(attempt, &mut world, &output);
        let out = match (output.status.success(), damage) {
            (_, Some(damage)) => Some(damage),
            (true, None) if !harmless_by_itself(attempt) => Some("it ended well".to_owned()),
            _ => None,
        };
        match stop(attempt) {
            Ok(by) => {
                println!("{engine:?}: {}: stopped by {by}", attempt.what);
                escaped.extend(out.map(|out| format!("{}: {out}: {output:?}", attempt.what)));
            }
            Err(promise) => {
                println!("{engine:?}: {}: not covered", attempt.what);
                assert!(plan.not_covered.contains(&promise), "{promise:?}");
                // Or the list promises less than is held. Root without its capabilities may do
                // less to its processes than others to theirs.
                let held_for_root =
                    promise == Promise::Processes && rustix::process::geteuid().is_root();
                assert!(
                    held_for_root || out.is_some(),
                    "{} is covered: {output:?}",
                    attempt.what
                );
            }
        }
    }
    assert!(escaped.is_empty(), "{engine:?}: {escaped:#?}");
}

/// Ends well whether or not it got out: the world tells.
fn harmless_by_itself(attempt: &Attempt) -> bool {
    [
        "outlive the command",
        "send by UDP",
        "leave a file in the machine's shared memory",
    ]
    .contains(&attempt.what)
}

fn damage(attempt: &Attempt, world: &mut World, output: &Output) -> Option<String> {
    if attempt.what == "outlive the command" {
        std::thread::sleep(Duration::from_millis(1500));
        let late = world.project().join("src/late");
        return late.exists().then(|| "it wrote after its end".to_owned());
    }
    let left = Path::new("/dev/shm").join(format!("lathe-sandbox-{}", std::process::id()));
    if std::fs::remove_file(&left).is_ok() {
        return Some("a file is in the machine's shared memory".into());
    }
    world.damage(output)
}

fn run(
    attempt: &Attempt,
    world: &World,
    shared: &Shared,
    start: impl Fn(&Path) -> Command,
) -> Output {
    let mut command = match attempt.how {
        How::Shell(script) => {
            let mut command = start(Path::new("/bin/sh"));
            command.args(["-c", script]);
            world.dress(&mut command);
            command
        }
        How::Native(name) => {
            let mut command = start(&std::env::current_exe().unwrap());
            command.args(["--exact", "attacker::attacker", "--nocapture"]);
            world.dress(&mut command);
            command.env(ATTEMPT, name);
            command
        }
    };
    command.env("SHARED", shared.key.to_string());
    finish(command)
}

/// Shared memory and a message queue of the machine, under names that attempts know.
struct Shared {
    key: i32,
    segment: i32,
    queue: CString,
}

#[allow(unsafe_code)] // There is no other way to make them.
impl Shared {
    fn new() -> Self {
        static NEXT: AtomicI32 = AtomicI32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let key = std::process::id().cast_signed() * 16 + number;
        let queue = CString::new(format!("/lathe-sandbox-{key}")).unwrap();
        // SAFETY: makes a segment or finds it.
        let segment = unsafe { libc::shmget(key, 1, libc::IPC_CREAT | 0o600) };
        let attributes = std::ptr::null_mut::<libc::mq_attr>();
        let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: makes a queue or finds it, and closes it again.
        unsafe { libc::mq_close(libc::mq_open(queue.as_ptr(), flags, 0o600, attributes)) };
        Self {
            key,
            segment,
            queue,
        }
    }
}

#[allow(unsafe_code)]
impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: nothing is attached, and the name is a string.
        unsafe {
            libc::shmctl(self.segment, libc::IPC_RMID, std::ptr::null_mut());
            libc::mq_unlink(self.queue.as_ptr());
        }
    }
}
