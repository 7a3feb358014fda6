//! Clean-up of snapshots: trees that a record names stay complete, the others are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::ipc::{DataKind, RevertTarget};
use lathe_protocol::{MessageId, Part, SessionId};
use lathe_session::clock::ManualClock;
use lathe_session::{Failed, Options, Sessions};
use lathe_snapshot::{SideRepo, TreeId};
use lathe_test_support::app::{BEFORE_WRAP, TestApp, until_idle};
use lathe_test_support::dice::Dice;
use lathe_test_support::fake_model::{call, pause, text};
use lathe_test_support::scripted_agent::{Agent, git};
use serde_json::{Value, json};

fn to(message: &MessageId) -> RevertTarget {
    RevertTarget::Message {
        message_id: message.clone(),
        keep_files: false,
    }
}

fn side(app: &TestApp) -> SideRepo {
    SideRepo::open(app.data_dir(), &app.path("")).unwrap()
}

/// The files of a tree with their bytes.
fn content(repo: &SideRepo, tree: TreeId) -> Vec<(String, Vec<u8>)> {
    let files = repo.files(tree).unwrap().into_iter();
    files
        .map(|(path, mode)| {
            let bytes = repo.blob(tree, &path).unwrap();
            (format!("{path} {mode:?}"), bytes)
        })
        .collect()
}

/// Every tree that a record of the session names.
async fn named(app: &TestApp, id: &SessionId) -> BTreeSet<TreeId> {
    let page = app.sessions.messages(id, None, usize::MAX).await.unwrap();
    let session = app.sessions.get(id).await.unwrap();
    let mut trees = BTreeSet::new();
    collect(&json!(page.messages), &mut trees);
    // Not the whole record: the id of a project is a commit and looks like a tree.
    collect(&json!(session.revert), &mut trees);
    for kind in ["session_revert", "session_reverted"] {
        let stored = app.data_dir().join(format!("storage/{kind}/{id}.json"));
        if let Ok(bytes) = fs::read(stored) {
            collect(&serde_json::from_slice(&bytes).unwrap(), &mut trees);
        }
    }
    trees
}

fn collect(value: &Value, trees: &mut BTreeSet<TreeId>) {
    match value {
        Value::String(text) => trees.extend(text.parse::<TreeId>().ok()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, trees)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, trees)),
        _ => {}
    }
}

fn held(repo: &SideRepo, id: &SessionId) -> BTreeSet<TreeId> {
    let held = repo.references(id.as_str()).unwrap();
    held.iter().map(|one| one.tree()).collect()
}

struct Story {
    agent: Agent,
    dice: Dice,
    turns: Vec<MessageId>,
    /// Every tree that was ever named, as it was when it was seen first.
    seen: BTreeMap<TreeId, Vec<(String, Vec<u8>)>>,
}

impl Story {
    async fn tell(seed: u64, steps: usize) {
        let agent = Agent::start().await.file("a.txt", "start\n");
        let mut story = Story {
            agent,
            dice: Dice::new(seed),
            turns: Vec::new(),
            seen: BTreeMap::new(),
        };
        for step in 0..steps {
            story.step(step).await;
            story.look().await;
            if story.dice.roll(3) == 0 {
                story.clean_up().await;
            }
        }
        story.clean_up().await;
    }

    async fn step(&mut self, step: usize) {
        let app = &self.agent.app;
        let id = &app.session.id;
        let count = self.turns.len();
        let allowed = |done: Option<Failed>| {
            assert!(matches!(done, None | Some(Failed::Refused(_))), "{done:?}");
        };
        match self.dice.roll(8) {
            0..=2 => {
                let command = format!("echo {step} > a.txt; echo {step} > {}.txt", step % 4);
                let turn = self.agent.turn(&command).await;
                self.turns.push(turn);
                let there = self.agent.app.messages().await;
                let there = |id: &MessageId| there.iter().any(|one| one.info.id() == id);
                self.turns.retain(there);
            }
            3 if count > 0 => {
                let target = to(&self.turns[self.dice.roll(count)]);
                fs::write(app.path("mine.txt"), format!("{step}\n")).unwrap();
                app.sessions.preview_revert(id, &target).await.unwrap();
                allowed(app.sessions.revert(id, &target).await.err());
            }
            4 => {
                let (message_id, path) = (None, "a.txt".to_owned());
                let target = RevertTarget::File { message_id, path };
                allowed(app.sessions.revert(id, &target).await.err());
            }
            5 => allowed(app.sessions.unrevert(id).await.err()),
            6 => drop(app.sessions.take_snapshot(id, "kept").await.unwrap()),
            _ => {
                fs::write(app.path("mine.txt"), format!("{step}\n")).unwrap();
                let before = match count {
                    0 => None,
                    count => Some(&self.turns[self.dice.roll(count)]),
                };
                // A message that is hidden is no place to fork at.
                drop(app.sessions.fork(id, before, false).await);
            }
        }
    }

    async fn look(&mut self) {
        let repo = side(&self.agent.app);
        for session in self.agent.app.sessions.list_all().await.unwrap() {
            for tree in named(&self.agent.app, &session.id).await {
                let read = || content(&repo, tree);
                self.seen.entry(tree).or_insert_with(read);
            }
        }
    }

    async fn clean_up(&self) {
        let app = &self.agent.app;
        app.sessions.clean_up(0).await;
        let repo = side(app);
        for session in app.sessions.list_all().await.unwrap() {
            let named = named(app, &session.id).await;
            assert_eq!(held(&repo, &session.id), named);
            for tree in named {
                assert_eq!(content(&repo, tree), self.seen[&tree]);
            }
        }
        let all = repo.all_references().unwrap();
        assert!(all.iter().all(|one| one.label().starts_with("ses_")));
    }
}

#[tokio::test]
async fn clean_up_leaves_every_named_tree_complete_and_removes_the_others() {
    let stories = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 200,
        None => 3,
    };
    for seed in 1..=stories {
        Story::tell(seed, 12).await;
    }
}

#[tokio::test]
async fn a_final_revert_frees_its_snapshots_after_thirty_days() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = &agent.app;
    let snapshots = async || {
        let view = app.sessions.data_use().await.unwrap();
        let used = view.uses.iter().find(|one| one.kind == DataKind::Snapshots);
        used.unwrap().bytes
    };
    for round in 0..6 {
        let turn = agent.turn("head -c 300000 /dev/urandom > noise").await;
        app.sessions
            .revert(&app.session.id, &to(&turn))
            .await
            .unwrap();
        assert!(!app.path("noise").exists(), "{round}");
    }
    app.sessions.clean_up(0).await;
    let used = snapshots().await;
    assert!(used > 6 * 300_000, "all of them can be restored: {used}");
    app.clock.advance(Duration::from_secs(31 * 24 * 3600));
    app.sessions.clean_up(0).await;
    let used = snapshots().await;
    // The last one is not final yet.
    assert!((300_000..600_000).contains(&used), "{used}");
    app.sessions.unrevert(&app.session.id).await.unwrap();
    assert_eq!(fs::metadata(app.path("noise")).unwrap().len(), 300_000);
}

#[tokio::test]
async fn a_clean_up_during_a_turn_removes_nothing_it_needs() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let first = agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    let id = &app.session.id;
    app.sessions.revert(id, &to(&first)).await.unwrap();

    agent.model.reply([call(
        "bash",
        json!({ "command": "printf '3\\n' > a.txt; sleep 0.3", "description": "edit" }),
    )]);
    agent.model.reply([text("wait"), pause(300)]);
    let mut events = app.sessions.subscribe();
    let second = app.send("once more").await;
    let idle = until_idle(&mut events, id);
    let cleaning = async {
        loop {
            app.sessions.clean_up(0).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = idle => {}
        () = cleaning => {}
    }
    app.sessions.clean_up(0).await;
    let repo = side(app);
    assert_eq!(held(&repo, id), named(app, id).await);
    app.sessions.revert(id, &to(&second)).await.unwrap();
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn nothing_is_removed_while_a_part_cannot_be_read() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    let id = &app.session.id;
    let parts = app.messages().await;
    let mut parts = parts.iter().flat_map(|message| &message.parts);
    let finish = parts.find(|part| matches!(part, Part::StepFinish(_)));
    let finish = finish.unwrap();
    let (message, part) = (finish.message_id(), finish.id());
    let file = app
        .data_dir()
        .join(format!("storage/part/{message}/{part}.json"));
    let whole = fs::read(&file).unwrap();
    let before = held(&side(app), id);
    fs::write(&file, "{").unwrap();
    app.sessions.clean_up(0).await;
    assert_eq!(held(&side(app), id), before);

    fs::write(&file, whole).unwrap();
    app.sessions.revert(id, &to(&turn)).await.unwrap();
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn snapshots_of_a_missing_folder_are_removed_with_its_session() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = &agent.app;
    for args in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "one"],
    ] {
        git(&app.path(""), args);
    }
    agent.turn("printf '2\\n' > a.txt").await;
    let fork = app.sessions.fork(&app.session.id, None, true).await;
    let fork = fork.unwrap();
    app.sessions.take_snapshot(&fork.id, "kept").await.unwrap();
    let all = || {
        fs::read_dir(app.data_dir().join("snapshot"))
            .unwrap()
            .count()
    };
    assert_eq!(all(), 2);

    fs::remove_dir_all(&fork.directory).unwrap();
    app.sessions.clean_up(0).await;
    assert_eq!(all(), 2, "the folder may come back");

    app.sessions.remove(&fork.id).await.unwrap();
    app.sessions.clean_up(0).await;
    assert_eq!(all(), 2, "so may the session");

    fs::remove_dir_all(app.data_dir().join("trash").join(fork.id.as_str())).unwrap();
    app.sessions.clean_up(0).await;
    assert_eq!(all(), 1);
    assert_eq!(
        held(&side(app), &app.session.id),
        named(app, &app.session.id).await
    );
}

#[tokio::test]
async fn unneeded_snapshots_are_removed_once_a_day() {
    const GONE: &str = "ses_000000000001aaaaaaaaaaaaaa";
    let hour = Duration::from_secs(3600);
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join(".git")).unwrap();
    let clock = ManualClock::at(BEFORE_WRAP);
    let mut options = Options::new(data.path());
    options.clock = Arc::new(clock.clone());
    options.config_home = None;
    options.cleans_up = false;
    let sessions = Sessions::open(options).await.unwrap();
    sessions.open_project(folder.path()).await.unwrap();
    let repo = SideRepo::open(data.path(), folder.path()).unwrap();
    let left = || repo.all_references().unwrap().len();

    repo.take(GONE).unwrap();
    sessions.clean_up_if_due().await;
    assert_eq!(left(), 0);

    repo.take(GONE).unwrap();
    clock.advance(23 * hour);
    sessions.clean_up_if_due().await;
    assert_eq!(left(), 1, "not twice a day");
    clock.advance(hour);
    sessions.clean_up_if_due().await;
    assert_eq!(left(), 0);

    repo.take(GONE).unwrap();
    clock.set(BEFORE_WRAP);
    sessions.clean_up_if_due().await;
    assert_eq!(
        left(),
        0,
        "a clock that was wrong does not stop it for years"
    );
}
