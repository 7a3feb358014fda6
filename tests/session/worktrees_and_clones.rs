//! Worktrees and clones of one repository are separate.

use std::fs;
use std::path::Path;

use lathe_protocol::{Project, Session};
use lathe_provider::WireKind;
use lathe_session::Sessions;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use lathe_test_support::git::{commit_all, git};
use serde_json::json;

struct Checkouts {
    model: FakeModel,
    app: TestApp,
    folder: tempfile::TempDir,
}

impl Checkouts {
    /// `main` is a repository with one file; nothing else is there yet.
    async fn start() -> Self {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("main");
        fs::create_dir(&main).unwrap();
        fs::write(main.join("a.txt"), "one\n").unwrap();
        commit_all(&main).unwrap();
        Checkouts { model, app, folder }
    }

    async fn open(&self, name: &str) -> Project {
        let opened = self.app.sessions.open_project(&self.path(name)).await;
        opened.unwrap()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A new session as the window makes one: it knows the project by its id.
    async fn begin(&self, project: &Project) -> Session {
        let sessions = &self.app.sessions;
        let project = sessions.project(&project.id).await.unwrap();
        sessions.create(&project, None).await.unwrap()
    }

    async fn write(&self, session: &Session, command: &str) {
        let input = json!({ "command": command, "description": "edit" });
        self.model.reply([call("bash", input)]);
        self.model.reply([text("Done.")]);
        say(&self.app.sessions, session).await;
    }
}

async fn say(sessions: &Sessions, session: &Session) {
    let mut events = sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "go".into(),
        ..Default::default()
    };
    sessions.prompt(&session.id, input).await.unwrap();
    until_idle(&mut events, &session.id).await;
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test]
async fn a_session_of_a_linked_worktree_works_in_that_worktree() {
    let checkouts = Checkouts::start().await;
    let main = checkouts.open("main").await;
    let args = ["worktree", "add", "-q", "../feature"];
    git(&checkouts.path("main"), &args).unwrap();
    let feature = checkouts.open("feature").await;
    assert_eq!(feature.id, main.id);
    assert_eq!(feature.worktree, shown(&checkouts.path("feature")));
    let session = checkouts.begin(&feature).await;
    assert_eq!(session.directory, shown(&checkouts.path("feature")));

    checkouts.open("main").await;
    let session = checkouts.begin(&main).await;
    assert_eq!(session.directory, shown(&checkouts.path("main")));
}

#[tokio::test]
async fn two_clones_of_one_repository_stay_apart() {
    let checkouts = Checkouts::start().await;
    let one = checkouts.open("main").await;
    let first = checkouts.begin(&one).await;
    git(checkouts.folder.path(), &["clone", "-q", "main", "clone"]).unwrap();
    fs::write(checkouts.path("clone").join("AGENTS.md"), "Only here.").unwrap();
    let two = checkouts.open("clone").await;
    let second = checkouts.begin(&two).await;
    assert_eq!(two.id, one.id);
    assert_eq!(second.directory, shown(&checkouts.path("clone")));

    let rule = |permission: &str| lathe_protocol::Rule {
        permission: permission.into(),
        pattern: "*".into(),
        action: lathe_protocol::Action::Allow,
    };
    // A file outside would ask for permission, and the test would hang.
    checkouts
        .app
        .sessions
        .set_rules(vec![rule("bash"), rule("edit")]);
    let path = checkouts.path("main").join("a.txt");
    let read = json!({ "filePath": shown(&path) });
    checkouts.model.reply([call("read", read)]);
    checkouts.write(&first, "echo two > a.txt").await;
    for request in checkouts.model.requests() {
        assert!(!request.body.to_string().contains("Only here."));
    }
    let diff = checkouts.app.sessions.diff(&first.id, None).await.unwrap();
    let files: Vec<_> = diff.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(files, ["a.txt"]);
    let clone = fs::read_to_string(checkouts.path("clone").join("a.txt"));
    assert_eq!(clone.unwrap(), "one\n");
}

#[tokio::test]
async fn what_is_always_allowed_in_a_clone_is_asked_in_another_one() {
    let checkouts = Checkouts::start().await;
    let sessions = &checkouts.app.sessions;
    let one = checkouts.open("main").await;
    let first = checkouts.begin(&one).await;
    let mut events = sessions.subscribe();
    let fetch = || call("webfetch", json!({ "url": "http://plants.invalid/" }));
    let go = || lathe_protocol::ipc::PromptInput {
        text: "go".into(),
        ..Default::default()
    };
    checkouts.model.reply([fetch()]);
    checkouts.model.reply([text("It does not answer.")]);
    sessions.prompt(&first.id, go()).await.unwrap();
    let asked = checkouts.app.next_permission(&mut events).await;
    let always = lathe_session::Answer::Always;
    sessions.answer_permission(&asked.id, always).await.unwrap();
    until_idle(&mut events, &first.id).await;
    let approved = sessions.approved(&one).await.unwrap();
    assert_eq!(approved.len(), 1);

    git(checkouts.folder.path(), &["clone", "-q", "main", "clone"]).unwrap();
    let two = checkouts.open("clone").await;
    assert_eq!(two.id, one.id, "they have the same first commit");
    let second = checkouts.begin(&two).await;
    checkouts.model.reply([fetch()]);
    checkouts.model.reply([text("Not allowed.")]);
    sessions.prompt(&second.id, go()).await.unwrap();
    let again = checkouts.app.next_permission(&mut events).await;
    assert_eq!(
        (&again.session_id, &again.patterns),
        (&second.id, &asked.patterns)
    );
    sessions.abort(&second.id).await;
    until_idle(&mut events, &second.id).await;
}

#[tokio::test]
async fn a_project_stays_in_its_folder_while_that_folder_exists() {
    let checkouts = Checkouts::start().await;
    let one = checkouts.open("main").await;
    git(checkouts.folder.path(), &["clone", "-q", "main", "clone"]).unwrap();
    checkouts.open("clone").await;
    let clone = shown(&checkouts.path("clone"));

    let another = checkouts.app.second_process().await;
    let project = another.project(&one.id).await.unwrap();
    assert_eq!(project.worktree, shown(&checkouts.path("main")));
    assert_eq!(project.sandboxes, Some(vec![clone.clone()]));

    fs::remove_dir_all(checkouts.path("main")).unwrap();
    another
        .open_project(&checkouts.path("clone"))
        .await
        .unwrap();
    let another = checkouts.app.second_process().await;
    let moved = another.project(&one.id).await.unwrap();
    assert_eq!(moved.worktree, clone);
    assert_eq!(moved.sandboxes, Some(Vec::new()));
}
