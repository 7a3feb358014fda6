//! What is shown, what is kept and reverted, and undoing that.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{
    KeptState, RevertChange, RevertChoice, RevertLinesOptions, ReviewScope, ReviewSelection,
};
use lathe_protocol::view::DiffStatus;
use lathe_test_support::scripted_agent::Agent;

use crate::reviewing::{ALL, Reviewing, numbered};

#[tokio::test]
async fn each_scope_lists_its_own_files() {
    let agent = Agent::start()
        .await
        .file("a.txt", &numbered(1..=3))
        .file("gone.txt", "1\n");
    let first = agent
        .turn("sed -i 's/line 2/two/' a.txt; rm gone.txt")
        .await;
    let second = agent
        .turn("printf 'x\\ny\\n' > new.txt; sed -i 's/line 3/three/' a.txt")
        .await;
    assert_eq!(
        agent.listed(&ALL).await,
        [
            "Modified a.txt +2 -2 None",
            "Deleted gone.txt +0 -1 None",
            "Added new.txt +2 -0 None",
        ]
    );
    let turn = |message_id: &MessageId| ReviewScope::Turn {
        message_id: message_id.clone(),
    };
    assert_eq!(
        agent.listed(&turn(&first)).await,
        ["Modified a.txt +1 -1 None", "Deleted gone.txt +0 -1 None"]
    );
    assert_eq!(
        agent.listed(&turn(&second)).await,
        ["Modified a.txt +1 -1 None", "Added new.txt +2 -0 None"]
    );
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let steps = changes.session_steps(id).await.unwrap();
    let told: Vec<_> = steps
        .iter()
        .map(|step| (&step.turn_id, step.files.join(" ")))
        .collect();
    assert_eq!(
        told,
        [
            (&first, "a.txt gone.txt".to_owned()),
            (&second, "a.txt new.txt".to_owned())
        ]
    );
    let step = ReviewScope::Step {
        message_id: steps[0].message_id.clone(),
        part_id: steps[0].part_id.clone(),
    };
    assert_eq!(agent.listed(&step).await, agent.listed(&turn(&first)).await);
    let until = ReviewScope::Until {
        message_id: steps[1].message_id.clone(),
        part_id: steps[1].part_id.clone(),
    };
    assert_eq!(agent.listed(&until).await, agent.listed(&ALL).await);
}

#[tokio::test]
async fn only_what_a_person_changed_is_marked_as_edited_at_an_earlier_step() {
    let agent = Agent::start()
        .await
        .file("later.txt", "1\n")
        .file("mine.txt", "1\n")
        .file("back.txt", "1\n");
    agent
        .turn("printf '2\n' | tee later.txt mine.txt back.txt")
        .await;
    agent
        .turn("printf '3\n' > later.txt; printf '1\n' > back.txt")
        .await;
    agent.app.write("mine.txt", "2\nmine\n");
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let step = changes.session_steps(id).await.unwrap().remove(0);
    let until = ReviewScope::Until {
        message_id: step.message_id,
        part_id: step.part_id,
    };
    assert_eq!(
        agent.listed(&until).await,
        [
            "Modified back.txt +1 -1 None",
            "Modified later.txt +1 -1 None",
            "Modified mine.txt +1 -1 None edited",
        ]
    );
}

#[tokio::test]
async fn what_changed_since_a_snapshot_is_listed_whoever_changed_it() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let part = agent
        .app
        .sessions
        .take_snapshot(&agent.app.session.id, "here")
        .await
        .unwrap();
    let since = ReviewScope::Snapshot {
        message_id: part.message_id,
        part_id: part.id,
    };
    assert_eq!(agent.listed(&since).await, [] as [&str; 0]);
    agent.turn("printf '3\\n' > a.txt").await;
    agent.app.write("b.txt", "mine\n");
    assert_eq!(
        agent.listed(&since).await,
        ["Modified a.txt +1 -1 None", "Modified b.txt +1 -1 None"]
    );
}

#[tokio::test]
async fn the_rows_of_a_long_diff_are_read_window_by_window() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=40));
    agent
        .turn("seq 1 5000 > long.txt; sed -i 's/line 20$/twenty/' a.txt")
        .await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let shape = changes
        .review_file(id, &ALL, "long.txt", false)
        .await
        .unwrap();
    let runs: Vec<_> = shape.hunks.iter().flat_map(|hunk| &hunk.runs).collect();
    assert_eq!(
        (runs.len(), runs[0].lines, shape.new_lines),
        (1, 5000, 5000)
    );
    let file = ("long.txt", shape.version.as_str());
    let (_, rows) = changes
        .review_rows(id, &ALL, file, false, 0, 4998..9000)
        .await
        .unwrap();
    let numbers: Vec<_> = rows.iter().filter_map(|row| row.new).collect();
    assert_eq!(numbers, [4999, 5000]);
    let shape = changes.review_file(id, &ALL, "a.txt", false).await.unwrap();
    let hunk = &shape.hunks[0];
    let kinds: Vec<_> = hunk
        .runs
        .iter()
        .map(|run| format!("{:?} {}", run.kind, run.lines))
        .collect();
    assert_eq!(kinds, ["Context 3", "Del 1", "Add 1", "Context 3"]);
    assert_eq!(
        (
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines
        ),
        (17, 7, 17, 7)
    );
    let file = ("a.txt", shape.version.as_str());
    let (_, rows) = changes.review_context(id, &ALL, file, 1..3).await.unwrap();
    assert_eq!(
        rows.iter()
            .map(|row| (row.old, row.new))
            .collect::<Vec<_>>(),
        [(Some(1), Some(1)), (Some(2), Some(2)), (Some(3), Some(3)),]
    );
}

#[tokio::test]
async fn kept_lines_stay_kept_after_a_restart_until_the_agent_changes_them() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent
        .turn("sed -i 's/line 5$/five/; s/line 25$/twentyfive/' a.txt")
        .await;
    let done = agent.keep(&agent.line("a.txt", 5).await).await;
    assert_eq!(done.changed, ["a.txt"]);
    let agent = agent.restart().await;
    assert_eq!(agent.files(&ALL).await[0].kept, KeptState::Some);
    agent.keep(&agent.line("a.txt", 25).await).await;
    assert_eq!(agent.files(&ALL).await[0].kept, KeptState::All);
    agent.turn("sed -i 's/five$/FIVE/' a.txt").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let shape = changes.review_file(id, &ALL, "a.txt", false).await.unwrap();
    // Both "five" and "twentyfive" were changed.
    assert!(shape.hunks.iter().all(|hunk| hunk.kept == KeptState::None));
    agent.undo().await;
    let unkept = agent.undo().await;
    assert_eq!((unkept.undo, unkept.redo.is_some()), (None, true));
}

#[tokio::test]
async fn a_hunk_is_reverted_around_what_a_person_edited_elsewhere_and_comes_back_after_a_restart() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent
        .turn("sed -i 's/line 5$/five/; s/line 25$/twentyfive/' a.txt")
        .await;
    let with_agent = agent.app.read("a.txt").replace("line 15\n", "mine\n");
    agent.app.write("a.txt", &with_agent);
    let line = agent.line("a.txt", 5).await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let options = RevertLinesOptions::default();
    let planned = changes
        .preview_revert_lines(id, &ALL, &line, &options)
        .await
        .unwrap();
    assert!(planned[0].merged && planned[0].conflicts.is_empty());
    assert_eq!(agent.app.read("a.txt"), with_agent);

    let done = agent.revert(&line).await;
    assert_eq!(done.done[0].change, RevertChange::Restore);
    let reverted = with_agent
        .replace("five\n", "line 5\n")
        .replace("twentyline 5", "twentyfive");
    assert_eq!(agent.app.read("a.txt"), reverted);
    assert_eq!(
        agent.listed(&ALL).await,
        ["Modified a.txt +1 -1 None edited"]
    );

    let agent = agent.restart().await;
    agent
        .app
        .write("a.txt", reverted.replace("line 30\n", "end\n"));
    agent.undo().await;
    assert_eq!(
        agent.app.read("a.txt"),
        with_agent.replace("line 30\n", "end\n")
    );
    agent.redo().await;
    assert_eq!(
        agent.app.read("a.txt"),
        reverted.replace("line 30\n", "end\n")
    );
}

#[tokio::test]
async fn an_overlap_is_shown_with_both_sides_and_done_as_the_person_chooses() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=20));
    agent
        .turn("sed -i 's/line 5$/five/; s/line 15$/fifteen/' a.txt")
        .await;
    let mine = agent.app.read("a.txt").replace("five\n", "FIVE, better\n");
    agent.app.write("a.txt", &mine);
    let file = agent.files(&ALL).await.remove(0);
    let whole = ReviewSelection::File {
        path: file.path,
        version: file.version,
    };
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let none = RevertLinesOptions::default();
    let planned = changes
        .preview_revert_lines(id, &ALL, &whole, &none)
        .await
        .unwrap();
    let conflict = &planned[0].conflicts[0];
    let sides = (
        conflict.line,
        &*conflict.mine,
        &*conflict.before,
        &*conflict.agent,
    );
    assert_eq!(sides, (5, "FIVE, better\n", "line 5\n", "five\n"));

    let left = agent.revert(&whole).await;
    assert_eq!(
        (left.done[0].change, left.undo),
        (RevertChange::Conflict, None)
    );
    assert_eq!(agent.app.read("a.txt"), mine);

    let choose = |choice| RevertLinesOptions {
        choices: [("a.txt".to_owned(), choice)].into(),
        keep_kept: false,
    };
    agent.revert_with(&whole, &choose(RevertChoice::Mine)).await;
    assert_eq!(agent.app.read("a.txt"), mine.replace("fifteen", "line 15"));
    agent.undo().await;
    assert_eq!(agent.app.read("a.txt"), mine);
    agent
        .revert_with(&whole, &choose(RevertChoice::Before))
        .await;
    assert_eq!(agent.app.read("a.txt"), numbered(1..=20));
    agent.undo().await;
    agent.revert_with(&whole, &choose(RevertChoice::Both)).await;
    assert_eq!(agent.app.read("a.txt"), mine.replace("fifteen", "line 15"));
    assert_eq!(agent.app.read("a.before.txt"), numbered(1..=20));
    agent.undo().await;
    assert_eq!(agent.app.read("a.txt"), mine);
    assert!(!agent.app.path("a.before.txt").exists());
}

#[tokio::test]
async fn new_deleted_and_renamed_files_are_reverted_and_come_back() {
    let text = numbered(1..=20);
    let agent = Agent::start()
        .await
        .file("gone.txt", "1\n")
        .file("old.txt", &text);
    agent
        .turn("rm gone.txt; printf 'x\\n' > new.txt; mv old.txt name.txt")
        .await;
    let files = agent.files(&ALL).await;
    let status: Vec<_> = files
        .iter()
        .map(|file| (&*file.path, file.status))
        .collect();
    assert_eq!(
        status,
        [
            ("gone.txt", DiffStatus::Deleted),
            ("name.txt", DiffStatus::Renamed),
            ("new.txt", DiffStatus::Added),
        ]
    );
    let before = agent.tree();
    agent.revert(&ReviewSelection::All).await;
    assert_eq!(
        agent.tree(),
        ["gone.txt 1\n".to_owned(), format!("old.txt {text}")]
    );
    agent.undo().await;
    assert_eq!(agent.tree(), before);
    agent.redo().await;
    assert_eq!(agent.files(&ALL).await, []);
}

#[tokio::test]
async fn a_click_on_lines_that_were_shown_a_moment_ago_still_means_them() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    agent
        .turn("sed -i 's/line 5$/five/; s/line 25$/25/' a.txt")
        .await;
    let (first, second) = (agent.line("a.txt", 5).await, agent.line("a.txt", 25).await);
    agent.keep(&second).await;
    agent.revert(&first).await;
    agent.revert(&second).await;
    assert_eq!(agent.app.read("a.txt"), numbered(1..=30));
    assert_eq!(agent.files(&ALL).await, []);
}
