//! A renamed file goes back as one: at its old place, and no longer at its new one.

use lathe_protocol::ipc::{RevertChoice, RevertLinesOptions};
use lathe_test_support::scripted_agent::Agent;

use crate::reviewing::{ALL, Reviewing, choosing, numbered, told};

/// The agent has moved a file and changed a line of it.
async fn moved() -> Agent {
    let agent = Agent::start().await.file("old.txt", &numbered(1..=30));
    agent.turn("mv old.txt new.txt").await;
    agent.turn("sed -i 's/line 5$/five/' new.txt").await;
    agent
}

#[tokio::test]
async fn what_a_person_changed_in_a_renamed_file_goes_back_with_it() {
    let agent = moved().await;
    let with_agent = agent.app.read("new.txt");
    let mine = with_agent.replace("line 15\n", "mine\n");
    agent.app.write("new.txt", &mine);
    let file = agent.whole(&ALL, "new.txt").await;
    let done = agent.revert(&file).await;
    assert_eq!(told(&done.done), ["new.txt Delete", "old.txt Create"]);
    let back = numbered(1..=30).replace("line 15\n", "mine\n");
    assert_eq!(agent.tree(), [format!("old.txt {back}")]);
    agent.undo().await;
    assert_eq!(agent.tree(), [format!("new.txt {mine}")]);
    agent.redo().await;
    assert_eq!(agent.tree(), [format!("old.txt {back}")]);
}

#[tokio::test]
async fn a_renamed_file_stays_whole_while_another_one_has_its_old_name() {
    let agent = moved().await;
    let with_agent = agent.app.read("new.txt");
    agent.app.write("old.txt", "mine\n");
    let both = [format!("new.txt {with_agent}"), "old.txt mine\n".to_owned()];
    let file = agent.whole(&ALL, "new.txt").await;
    let done = agent.revert(&file).await;
    let why = "old.txt Conflict: a file of this name was made since";
    assert_eq!(told(&done.done), [why]);
    assert_eq!(agent.tree(), both);
    let choose = |choice| choosing("old.txt", choice);
    agent.revert_with(&file, &choose(RevertChoice::Mine)).await;
    assert_eq!(agent.tree(), both);
    agent
        .revert_with(&file, &choose(RevertChoice::Before))
        .await;
    assert_eq!(agent.tree(), [format!("old.txt {}", numbered(1..=30))]);
    agent.undo().await;
    assert_eq!(agent.tree(), both);
    agent.revert_with(&file, &choose(RevertChoice::Both)).await;
    let beside = format!("old.before.txt {}", numbered(1..=30));
    assert_eq!(agent.tree(), [both[0].clone(), beside, both[1].clone()]);
}

#[tokio::test]
async fn an_overlap_in_a_renamed_file_is_decided_before_anything_is_moved() {
    let agent = moved().await;
    let mine = agent.app.read("new.txt").replace("five\n", "FIVE\n");
    agent.app.write("new.txt", &mine);
    let file = agent.whole(&ALL, "new.txt").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let none = RevertLinesOptions::default();
    let planned = changes.preview_revert_lines(id, &ALL, &file, &none).await;
    let planned = planned.unwrap();
    assert_eq!((planned.len(), planned[0].conflicts.len()), (1, 1));
    agent.revert(&file).await;
    assert_eq!(agent.tree(), [format!("new.txt {mine}")]);
    agent
        .revert_with(&file, &choosing("new.txt", RevertChoice::Before))
        .await;
    assert_eq!(agent.tree(), [format!("old.txt {}", numbered(1..=30))]);
}

#[tokio::test]
async fn a_renamed_file_that_is_back_already_is_only_removed_from_its_new_place() {
    let agent = moved().await;
    agent.app.write("old.txt", numbered(1..=30));
    let file = agent.whole(&ALL, "new.txt").await;
    agent.revert(&file).await;
    assert_eq!(agent.tree(), [format!("old.txt {}", numbered(1..=30))]);
}
