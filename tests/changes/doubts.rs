//! Changes of which it is not known whether they are the agent's: a person decides.

use std::fs;

use lathe_protocol::Part;
use lathe_protocol::ipc::{
    RevertChoice, RevertLinesOptions, RevertOptions, ReviewDoubt, StepPlace,
};
use lathe_test_support::scripted_agent::Agent;
use serde_json::{Value, json};

use crate::reviewing::{ALL, Reviewing, choosing, no_fold, numbered, told, turn};

const BETWEEN: &str = "it was also changed between two of the agent's steps";
const SHARED: &str =
    "changed while a command of the agent ran, and it is not known whether only the command did it";

async fn doubts(agent: &Agent) -> Vec<(String, Option<ReviewDoubt>)> {
    let files = agent.files(&ALL).await.into_iter();
    files.map(|file| (file.path, file.doubt)).collect()
}

/// Everything is asked about, nothing is changed before the answer, and the answer counts.
async fn is_left_until_decided(agent: &Agent, path: &str, why: &str, before: Option<&str>) {
    let now = agent.app.read(path);
    let file = agent.whole(&ALL, path).await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let none = RevertLinesOptions::default();
    let planned = changes.preview_revert_lines(id, &ALL, &file, &none).await;
    assert!(planned.unwrap().iter().all(|one| one.was_conflict));
    let done = agent.revert(&file).await;
    assert!(told(&done.done)[0].ends_with(why), "{:?}", done.done);
    assert_eq!((agent.app.read(path), done.undo), (now.clone(), None));

    agent
        .revert_with(&file, &choosing(path, RevertChoice::Mine))
        .await;
    assert_eq!(agent.app.read(path), now);
    agent
        .revert_with(&file, &choosing(path, RevertChoice::Before))
        .await;
    let then = fs::read_to_string(agent.app.path(path)).ok();
    assert_eq!(then.as_deref(), before);
    agent.undo().await;
    assert_eq!(agent.app.read(path), now);
}

#[tokio::test]
async fn what_a_person_wrote_into_a_new_file_between_two_turns_is_not_reverted_unasked() {
    let agent = Agent::start().await;
    agent.turn("printf 'title\\n' > notes.md").await;
    let mine = format!("title\n{}", numbered(1..=200));
    agent.app.write("notes.md", &mine);
    agent.turn("printf 'end\\n' >> notes.md").await;
    assert_eq!(
        doubts(&agent).await,
        [("notes.md".to_owned(), Some(ReviewDoubt::Between))]
    );
    is_left_until_decided(&agent, "notes.md", BETWEEN, None).await;
    let steps = agent.changes().session_steps(&agent.app.session.id).await;
    let place = StepPlace {
        message_id: steps.unwrap().remove(0).turn_id,
        part_id: None,
    };
    let options = RevertOptions::default();
    let (changes, id) = (agent.changes(), &agent.app.session.id);
    changes.restore_files(id, &place, &options).await.unwrap();
    assert_eq!(agent.app.read("notes.md"), format!("{mine}end\n"));
}

#[tokio::test]
async fn a_line_that_a_person_changed_after_the_agent_and_before_its_next_turn_is_not_reverted_unasked()
 {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let mine = agent.app.read("a.txt").replace("five\n", "FIVE, better\n");
    agent.app.write("a.txt", &mine);
    agent.turn("sed -i 's/line 25$/25/' a.txt").await;
    assert_eq!(
        doubts(&agent).await,
        [("a.txt".to_owned(), Some(ReviewDoubt::Between))]
    );
    is_left_until_decided(&agent, "a.txt", BETWEEN, Some(&numbered(1..=30))).await;
}

#[tokio::test]
async fn what_a_person_changed_elsewhere_between_two_turns_stays_and_nothing_is_asked() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let mine = agent.app.read("a.txt").replace("line 15\n", "mine\n");
    agent.app.write("a.txt", &mine);
    agent.turn("sed -i 's/line 25$/25/' a.txt").await;
    assert_eq!(doubts(&agent).await, [("a.txt".to_owned(), None)]);
    let file = agent.whole(&ALL, "a.txt").await;
    agent.revert(&file).await;
    let wanted = numbered(1..=30).replace("line 15\n", "mine\n");
    assert_eq!(agent.app.read("a.txt"), wanted);
}

#[tokio::test]
async fn a_file_that_the_person_and_the_command_wrote_is_left_until_the_person_decides() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let path = agent.app.path("a.txt");
    let person = move || fs::write(path, "mine\n").unwrap();
    agent
        .turn_while("true", person, "echo agent >> a.txt")
        .await;
    assert_eq!(
        doubts(&agent).await,
        [("a.txt".to_owned(), Some(ReviewDoubt::Shared))]
    );
    is_left_until_decided(&agent, "a.txt", SHARED, Some("1\n")).await;
}

#[tokio::test]
async fn a_call_that_no_snapshot_speaks_for_is_named_in_the_list_and_before_a_restore() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let prompt = agent.turn("printf '2\\n' > a.txt").await;
    let messages = agent.app.messages().await;
    let mut parts = messages.iter().flat_map(|message| message.parts.iter());
    let call = parts.find(|part| matches!(part, Part::Tool(_))).unwrap();
    let path = agent.app.data_dir().join(format!(
        "storage/part/{}/{}.json",
        call.message_id(),
        call.id()
    ));
    let mut stored: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    stored["credit"] = json!({ "unknown": "the disk is full" });
    fs::write(path, stored.to_string()).unwrap();
    let agent = agent.restart().await;
    let (changes, id) = (agent.changes(), &agent.app.session.id);
    let why = ["What bash (printf '2\\n' > a.txt) did is not known: the disk is full"];
    let all = [ALL, turn(&prompt)];
    for scope in all {
        let shown = changes.review_files(id, &scope, no_fold).await.unwrap();
        assert_eq!(
            (shown.files.len(), &shown.unknown[..]),
            (0, &why.map(str::to_owned)[..])
        );
    }
    let place = StepPlace {
        message_id: prompt,
        part_id: None,
    };
    let plan = changes.preview_restore(id, &place).await.unwrap();
    assert_eq!(
        (plan.files.len(), &plan.unseen.unknown[..]),
        (0, &why.map(str::to_owned)[..])
    );
}

#[tokio::test]
async fn files_outside_of_the_project_are_named_as_not_shown() {
    let agent = Agent::start().await;
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("o.txt").canonicalize();
    let file = file.unwrap_or_else(|_| outside.path().canonicalize().unwrap().join("o.txt"));
    let input = json!({ "filePath": file.display().to_string(), "content": "1\n" });
    agent.call("write", input).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    let (changes, id) = (agent.changes(), &agent.app.session.id);
    let shown = changes.review_files(id, &ALL, no_fold).await.unwrap();
    let why = format!(
        "1 file outside of the project can be reverted with the turn only, such as {}",
        file.display()
    );
    assert_eq!((shown.files.len(), shown.not_shown), (0, vec![why]));
}
