//! One file in several scopes: what is done in one of them counts in the others.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{
    FileVersion, RevertLinesOptions, RevertTarget, ReviewActionKind, ReviewFile, ReviewScope,
    ReviewSelection,
};
use lathe_session::Failed;
use lathe_test_support::git::commit_all;
use lathe_test_support::scripted_agent::Agent;

use crate::reviewing::{ALL, Reviewing, no_fold, numbered, turn};

/// The first turn changes line 5, the second one line 25.
async fn two_turns() -> (Agent, MessageId, MessageId) {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    let first = agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let second = agent.turn("sed -i 's/line 25$/25/' a.txt").await;
    (agent, first, second)
}

#[tokio::test]
async fn what_is_kept_in_a_turn_is_kept_beside_what_is_kept_elsewhere() {
    let (agent, first, second) = two_turns().await;
    agent.keep(&agent.line("a.txt", 5).await).await;
    let later = agent.whole(&turn(&second), "a.txt").await;
    agent.keep_in(&turn(&second), &later).await;
    assert_eq!(agent.kept(&ALL, "a.txt").await, [5, 25]);
    let again = agent.keep_in(&turn(&second), &later).await;
    assert_eq!(again.changed, [] as [&str; 0]);
    assert_eq!(agent.kept(&turn(&first), "a.txt").await, [5]);

    let options = RevertLinesOptions::default();
    agent.revert_in(&turn(&second), &later, &options).await;
    assert_eq!(agent.kept(&ALL, "a.txt").await, [5]);
    agent.undo().await;
    assert_eq!(agent.kept(&ALL, "a.txt").await, [5, 25]);
    agent.undo().await;
    assert_eq!(agent.kept(&ALL, "a.txt").await, [5]);
}

#[tokio::test]
async fn what_is_reverted_in_a_turn_is_gone_from_every_scope_and_the_rest_is_there() {
    let (agent, first, second) = two_turns().await;
    let five = agent.whole(&turn(&first), "a.txt").await;
    let options = RevertLinesOptions::default();
    agent.revert_in(&turn(&first), &five, &options).await;
    let later = numbered(1..=30).replace("line 25\n", "25\n");
    assert_eq!(agent.app.read("a.txt"), later);
    let rest = ["Modified a.txt +1 -1 None"];
    assert_eq!(agent.listed(&ALL).await, rest);
    assert_eq!(agent.listed(&turn(&second)).await, rest);
    assert_eq!(agent.listed(&turn(&first)).await, [] as [&str; 0]);

    let rest = agent.whole(&turn(&second), "a.txt").await;
    agent.revert_in(&turn(&second), &rest, &options).await;
    assert_eq!(agent.app.read("a.txt"), numbered(1..=30));
    assert_eq!(agent.files(&ALL).await, []);
    agent.undo().await;
    agent.undo().await;
    assert_eq!(agent.listed(&ALL).await, ["Modified a.txt +2 -2 None"]);
}

#[tokio::test]
async fn a_revert_of_what_is_uncommitted_takes_no_line_of_a_person_for_the_agents() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    commit_all(&agent.app.path("")).unwrap();
    agent
        .turn("sed -i 's/line 5$/five/; s/line 25$/25/' a.txt")
        .await;
    let mine = agent.app.read("a.txt").replace("line 15\n", "mine\n");
    agent.app.write("a.txt", mine);
    let scope = ReviewScope::Uncommitted;
    let whole = agent.whole(&scope, "a.txt").await;
    let options = RevertLinesOptions::default();
    agent.revert_in(&scope, &whole, &options).await;
    assert_eq!(agent.app.read("a.txt"), numbered(1..=30));
    assert_eq!(agent.files(&ALL).await, []);
}

#[tokio::test]
async fn only_what_was_shown_is_kept_by_keeping_everything() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let shown = ReviewSelection::Files {
        files: agent.files(&ALL).await.into_iter().map(version).collect(),
    };
    agent.turn("printf '3\\n' > b.txt").await;
    agent.keep(&shown).await;
    assert_eq!(
        agent.listed(&ALL).await,
        ["Modified a.txt +1 -1 All", "Added b.txt +1 -0 None"]
    );
}

fn version(file: ReviewFile) -> FileVersion {
    FileVersion {
        path: file.path,
        version: file.version,
    }
}

#[tokio::test]
async fn an_action_whose_turn_is_undone_in_the_timeline_is_not_undone_after_it() {
    let (agent, first, second) = two_turns().await;
    let (sessions, id) = (&agent.app.sessions, &agent.app.session.id);
    let later = agent.whole(&turn(&second), "a.txt").await;
    agent.keep(&agent.line("a.txt", 5).await).await;
    let options = RevertLinesOptions::default();
    agent.revert_in(&turn(&second), &later, &options).await;
    let next = || async {
        let changes = agent.changes();
        let listed = changes.review_files(id, &ALL, no_fold).await;
        listed.unwrap().undo.map(|action| action.kind)
    };
    assert_eq!(next().await, Some(ReviewActionKind::Revert));
    let target = RevertTarget::Message {
        message_id: first,
        keep_files: false,
    };
    sessions.revert(id, &target).await.unwrap();
    assert_eq!(next().await, None);
    let refused = agent.changes().undo_review(id, &options).await;
    assert!(matches!(refused, Err(Failed::Refused(_))), "{refused:?}");
    assert_eq!(agent.app.read("a.txt"), numbered(1..=30));
    sessions.unrevert(id).await.unwrap();
    agent.undo().await;
    let both = numbered(1..=30)
        .replace("line 5\n", "five\n")
        .replace("line 25\n", "25\n");
    assert_eq!(agent.app.read("a.txt"), both);
}

#[tokio::test]
async fn a_revert_in_a_session_without_messages_is_refused_before_it_is_shown() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    commit_all(&agent.app.path("")).unwrap();
    agent.app.write("a.txt", "2\n");
    let scope = ReviewScope::Uncommitted;
    let whole = agent.whole(&scope, "a.txt").await;
    let (changes, id) = (agent.changes(), &agent.app.session.id);
    let options = RevertLinesOptions::default();
    let planned = changes.preview_revert_lines(id, &scope, &whole, &options);
    let refused = planned.await;
    assert!(matches!(refused, Err(Failed::Refused(_))), "{refused:?}");
}
