//! The real bash tool in Auto mode: every command is confined, and what the sandbox refuses is
//! asked about once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{MessageId, Question, SessionId, Todo};
use lathe_tools::context::{AgentSwitch, MayRead};
use lathe_tools::{
    CallIds, CommandAsk, Environment, EnvironmentSettings, FailureKind, FileReads, Host,
    PermissionAsk, Progress, Refusal, Registry, RunPermit, SystemClock, TaskRequest, TaskResult,
    ToolContext, ToolFailure, ToolOutput,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

/// What the person says when a command is to leave the sandbox.
pub enum Answer {
    No,
    Grant(SandboxGrants),
    Free,
}

pub struct AutoMode {
    place: Arc<Place>,
    answer: Answer,
    refusals: Mutex<Vec<Vec<Refused>>>,
    /// What the sandbox is open for from the start.
    pub open: Mutex<SandboxGrants>,
    /// Whether protected files that a command made may stay.
    pub keeps: Mutex<bool>,
    pub asked: Mutex<Vec<Vec<String>>>,
}

fn unused() -> ToolFailure {
    ToolFailure::failed("not part of this test")
}

#[async_trait]
impl Host for AutoMode {
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        for want in ask.wants {
            assert_eq!(want.permission, "edit");
            self.asked.lock().push(want.patterns);
        }
        match *self.keeps.lock() {
            true => Ok(()),
            false => Err(ToolFailure::denied("The user said no.")),
        }
    }

    async fn ask_to_run(&self, _: CommandAsk) -> Result<RunPermit, ToolFailure> {
        let open = self.open.lock().clone();
        let walls = self.place.walls(open).await;
        Ok(RunPermit::Confined(walls))
    }

    async fn ask_to_leave_sandbox(
        &self,
        _: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure> {
        self.refusals.lock().push(refusal.refused);
        match &self.answer {
            Answer::No => Err(ToolFailure::denied("The user said no.")),
            Answer::Free => Ok(RunPermit::Free),
            Answer::Grant(grants) => {
                let walls = self.place.walls(grants.clone()).await;
                Ok(RunPermit::Confined(walls))
            }
        }
    }

    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        Err(unused())
    }

    fn progress(&self, _: Progress) {}

    async fn question(&self, _: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure> {
        Err(unused())
    }

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure> {
        Err(unused())
    }

    async fn set_todos(&self, _: Vec<Todo>) -> Result<(), ToolFailure> {
        Err(unused())
    }

    async fn spawn_task(&self, _: TaskRequest) -> Result<TaskResult, ToolFailure> {
        Err(unused())
    }

    async fn switch_agent(&self, _: AgentSwitch) -> Result<(), ToolFailure> {
        Err(unused())
    }

    async fn ensure_writable(&self) -> Result<(), ToolFailure> {
        Ok(())
    }

    async fn file_edited(&self, _: &Path) {}
}

pub struct Call {
    pub host: Arc<AutoMode>,
    cx: ToolContext,
}

impl Call {
    pub fn new(place: &Arc<Place>, answer: Answer) -> Self {
        let variables: BTreeMap<String, String> = [
            ("HOME", place.path("home").display().to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("SHELL", "/bin/bash".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let host = Arc::new(AutoMode {
            place: place.clone(),
            answer,
            refusals: Mutex::default(),
            open: Mutex::default(),
            keeps: Mutex::default(),
            asked: Mutex::default(),
        });
        let cx = ToolContext {
            root: place.path("project"),
            cwd: place.path("project"),
            call: CallIds {
                session: SessionId::parse("ses_000000000001aaaaaaaaaaaaaa").unwrap(),
                message: MessageId::parse("msg_000000000001aaaaaaaaaaaaaa").unwrap(),
                call: "call_1".to_owned(),
            },
            cancel: CancellationToken::new(),
            reads: Arc::new(FileReads::default()),
            output_dir: place.path("data/tool-output"),
            environment: Arc::new(Environment::fixed(
                variables,
                EnvironmentSettings::default(),
            )),
            clock: Arc::new(SystemClock),
            host: host.clone(),
        };
        Self { host, cx }
    }

    pub async fn run(&self, command: &str) -> ToolOutput {
        let input = json!({ "command": command, "description": "a test" });
        let registry = Registry::builtin();
        registry.run("bash", input, &self.cx).await.unwrap()
    }

    pub fn refusals(&self) -> Vec<Vec<Refused>> {
        self.host.refusals.lock().clone()
    }
}

#[tokio::test]
async fn usual_commands_run_inside_and_their_cards_say_so() {
    let place = Arc::new(Place::new());
    if !available(&place) {
        return;
    }
    let call = Call::new(&place, Answer::No);
    for command in [
        "echo x > src/a && cat src/a",
        "mkdir -p src/deep && mv src/a src/deep/b && rm -r src/deep",
        "f=$(mktemp) && echo x > $f && rm $f",
        "cat ../outside/file.txt",
        "sleep 0.01 & wait",
    ] {
        let result = call.run(command).await;
        assert_eq!(result.metadata["exit"], 0, "{command}: {}", result.output);
        let engine = view().engine.unwrap();
        assert_eq!(result.metadata["sandbox"], engine.as_str(), "{command}");
    }
    assert_eq!(call.refusals(), Vec::<Vec<Refused>>::new());
}

#[tokio::test]
async fn ways_out_are_stopped_through_the_tool_as_well() {
    let place = Arc::new(Place::new());
    if !available(&place) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let call = Call::new(&place, Answer::No);
    for command in [
        "echo evil > ../outside/file.txt".to_owned(),
        "ln -s ../../outside/file.txt src/link && echo evil > src/link".to_owned(),
        "cat ~/.ssh/id_ed25519".to_owned(),
        "cat ../data/project.json".to_owned(),
        "echo evil > .git/hooks/pre-commit".to_owned(),
        "mkdir -p .lathe && echo evil > .lathe/x".to_owned(),
        format!("echo evil > /dev/tcp/127.0.0.1/{port}"),
        "(setsid sh -c 'sleep 0.2; echo evil > ../outside/file.txt' & ) ; false".to_owned(),
        "kill -9 $PPID && echo evil > ../outside/file.txt".to_owned(),
    ] {
        let result = call.run(&command).await;
        assert_ne!(result.metadata["exit"], 0, "{command}: {}", result.output);
        assert!(!result.output.contains("TOP-SECRET"), "{command}");
    }
    assert!(listener.accept().is_err(), "nothing was sent");
    let outside = std::fs::read_to_string(place.path("outside/file.txt")).unwrap();
    assert_eq!(outside, "outside");
    assert!(!place.path("project/.git/hooks/pre-commit").exists());
    assert!(!place.path("project/.lathe").exists());
}

#[tokio::test]
async fn a_refusal_is_asked_about_once_and_a_no_leaves_the_first_result_with_a_note() {
    let place = Arc::new(Place::new());
    if !available(&place) {
        return;
    }
    let call = Call::new(&place, Answer::No);
    let result = call.run("echo x > ../outside/file.txt").await;
    let refused = Refused::Write(place.path("outside/file.txt"));
    assert_eq!(call.refusals(), [vec![refused]]);
    let note = "It was not run again: The user said no.)";
    assert!(result.output.ends_with(note), "{}", result.output);
    assert!(result.output.contains("The sandbox stopped this command."));
    assert_eq!(result.metadata["exit"], 1);
    assert!(result.metadata.contains_key("refused"));
}

#[tokio::test]
async fn what_the_person_grants_works_in_the_second_run() {
    let place = Arc::new(Place::new());
    if !available(&place) {
        return;
    }
    let grants = SandboxGrants {
        writable: vec![place.path("outside")],
        ..SandboxGrants::default()
    };
    let call = Call::new(&place, Answer::Grant(grants));
    let result = call.run("echo granted > ../outside/file.txt").await;
    assert_eq!(result.metadata["exit"], 0, "{}", result.output);
    assert!(result.metadata.contains_key("sandbox"));
    let twice = "echo x > ../outside/file.txt && echo x > ../home/new";
    let result = call.run(twice).await;
    assert!(
        result
            .output
            .contains("home/new, which is outside the project")
    );
    assert_eq!(call.refusals().len(), 2, "one question per call");

    let call = Call::new(&place, Answer::Free);
    let result = call.run("echo free > ../outside/file.txt").await;
    assert_eq!(result.metadata["exit"], 0, "{}", result.output);
    assert!(!result.metadata.contains_key("sandbox"));
    let outside = std::fs::read_to_string(place.path("outside/file.txt")).unwrap();
    assert_eq!(outside, "free\n");
}

#[tokio::test]
async fn an_abort_ends_what_is_confined() {
    let place = Arc::new(Place::new());
    if !available(&place) {
        return;
    }
    let call = Call::new(&place, Answer::No);
    let ready = place.path("project/src/ready");
    let input = json!({
        "command": "setsid sleep 97531 & touch src/ready; sleep 97531",
        "description": "a test",
    });
    let registry = Registry::builtin();
    let cancel = async {
        while !ready.exists() {
            tokio::task::yield_now().await;
        }
        call.cx.cancel.cancel();
    };
    let (result, ()) = tokio::join!(registry.run("bash", input, &call.cx), cancel);
    assert_eq!(result.unwrap_err().kind, FailureKind::Aborted);
    let left = std::fs::read_dir("/proc").unwrap().flatten();
    let left = left.filter(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|words| String::from_utf8_lossy(&words).contains("97531"))
    });
    assert_eq!(left.count(), 0);
}
