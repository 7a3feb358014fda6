//! Reverts and unreverts that are killed at any point, and what the next start makes of them.

use std::task::Poll;

use lathe_protocol::MessageId;
use lathe_protocol::ipc::RevertTarget;
use lathe_session::{Failed, Sessions};

use crate::revert::{revert, to, unrevert};
use lathe_test_support::scripted_agent::Agent;

/// Drops the work before it is continued for the n-th time: for what is stored, that is a kill.
/// Returns whether it came to its end before.
pub async fn at_most<T>(polls: usize, work: impl Future<Output = T>) -> bool {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(|context| match left.checked_sub(1) {
        None => Poll::Ready(false),
        Some(rest) => {
            left = rest;
            work.as_mut().poll(context).map(|_| true)
        }
    })
    .await
}

/// Kills the work after so many polls. What has begun to write ends, as a system call does.
async fn kill<F>(agent: Agent, polls: usize, work: impl FnOnce(Sessions) -> F) -> (Agent, bool)
where
    F: Future + Send + 'static,
{
    let work = work(agent.app.sessions.clone());
    let killed = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let survived = runtime.block_on(at_most(polls, work));
        runtime.shutdown_timeout(std::time::Duration::from_secs(60));
        survived
    });
    let survived = killed.await.unwrap();
    let agent = agent.restart().await;
    let app = &agent.app;
    app.sessions.recover(&app.session.id).await;
    (agent, survived)
}

/// Every point of a short work, some points of a long one.
fn points() -> impl Iterator<Item = usize> {
    let every = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 1,
        None => 3,
    };
    (0..).step_by(every)
}

/// Two turns: the first one changes both files, the second one only `a.txt`.
async fn worked() -> (Agent, MessageId, MessageId) {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    let first = agent.turn("echo 2 > a.txt; echo 2 > b.txt").await;
    let second = agent.turn("echo 3 > a.txt").await;
    (agent, first, second)
}

#[tokio::test]
async fn a_second_revert_that_is_killed_anywhere_is_repeated_and_undone_exactly() {
    for polls in points() {
        let (agent, first, second) = worked().await;
        revert(&agent.app, &to(&second)).await;
        let (id, target) = (agent.app.session.id.clone(), to(&first));
        let (agent, survived) = kill(agent, polls, |sessions| async move {
            sessions.revert(&id, &target).await.map(drop)
        })
        .await;
        let done = ["a.txt 1\n", "b.txt 1\n"];
        let not_done = ["a.txt 2\n", "b.txt 2\n"];
        let app = &agent.app;
        let pending = app.sessions.get(&app.session.id).await.unwrap().revert;
        let goes_to = pending.unwrap().message_id;
        let wanted = match goes_to == first {
            true => done,
            false => not_done,
        };
        assert_eq!(agent.tree(), wanted, "killed after {polls} polls");
        let again = revert(app, &to(&first)).await;
        assert!(again.complete);
        assert_eq!(agent.tree(), done, "killed after {polls} polls");
        unrevert(app).await;
        assert_eq!(agent.tree(), ["a.txt 3\n", "b.txt 2\n"]);
        if survived {
            return;
        }
    }
}

#[tokio::test]
async fn a_revert_of_one_file_that_is_killed_anywhere_is_undone_or_forgotten() {
    for polls in points() {
        let (agent, _, _) = worked().await;
        let target = RevertTarget::File {
            message_id: None,
            path: "a.txt".into(),
        };
        let id = agent.app.session.id.clone();
        let (agent, survived) = kill(agent, polls, |sessions| async move {
            sessions.revert(&id, &target).await.map(drop)
        })
        .await;
        let app = &agent.app;
        let undone = app.sessions.unrevert(&app.session.id).await;
        assert_eq!(agent.tree(), ["a.txt 3\n", "b.txt 2\n"]);
        // A round that was rolled back is not played into what comes later.
        let is_forgotten = matches!(undone, Err(Failed::Refused(_)));
        assert!(is_forgotten || !undone.unwrap().files.is_empty(), "{polls}");
        if survived {
            assert!(!is_forgotten);
            return;
        }
    }
}

#[tokio::test]
async fn an_unrevert_that_is_killed_anywhere_is_finished_by_the_next_start() {
    for polls in points() {
        let (agent, first, second) = worked().await;
        revert(&agent.app, &to(&second)).await;
        revert(&agent.app, &to(&first)).await;
        let id = agent.app.session.id.clone();
        let (agent, survived) = kill(agent, polls, |sessions| async move {
            sessions.unrevert(&id).await.map(drop)
        })
        .await;
        let app = &agent.app;
        let session = app.sessions.get(&app.session.id).await.unwrap();
        let wanted = match session.revert {
            Some(_) => ["a.txt 1\n", "b.txt 1\n"],
            None => ["a.txt 3\n", "b.txt 2\n"],
        };
        assert_eq!(agent.tree(), wanted, "killed after {polls} polls");
        assert!(revert(app, &to(&first)).await.complete);
        assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
        if survived {
            return;
        }
    }
}

#[tokio::test]
async fn nothing_is_reverted_on_top_of_a_revert_that_could_not_be_rolled_back() {
    let (agent, first, _) = worked().await;
    let target = RevertTarget::File {
        message_id: None,
        path: "a.txt".into(),
    };
    revert(&agent.app, &target).await;
    // As a kill leaves it, where the files cannot be written after that.
    let log = agent.app.data_dir().join(format!(
        "storage/session_revert/{}.json",
        agent.app.session.id
    ));
    let mut stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&log).unwrap()).unwrap();
    stored[0]["underway"] = "reverting".into();
    let killed = stored.to_string();
    stored[0]["files"][0]["to"] = "no tree".into();
    std::fs::write(&log, stored.to_string()).unwrap();
    let agent = agent.restart().await;
    let reverted = ["a.txt 1\n", "b.txt 2\n"];
    let refused = |error: Failed| {
        let why = error.to_string();
        assert!(why.starts_with("A revert was interrupted and"), "{why}");
    };
    let (sessions, id) = (&agent.app.sessions, &agent.app.session.id);
    refused(sessions.revert(id, &to(&first)).await.unwrap_err());
    refused(sessions.unrevert(id).await.unwrap_err());
    assert_eq!(agent.tree(), reverted);

    std::fs::write(&log, killed).unwrap();
    let agent = agent.restart().await;
    let done = revert(&agent.app, &to(&first)).await;
    assert!(done.complete, "{done:#?}");
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
    let agent = agent.restart().await;
    agent.app.sessions.recover(&agent.app.session.id).await;
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
    unrevert(&agent.app).await;
    assert_eq!(agent.tree(), ["a.txt 3\n", "b.txt 2\n"]);
}

#[tokio::test]
async fn a_revert_beyond_the_number_that_can_be_undone_is_in_the_list() {
    let agent = Agent::start().await;
    agent
        .turn("for n in $(seq 51); do echo $n > $n.txt; done")
        .await;
    let app = &agent.app;
    for n in 1..=51 {
        let target = RevertTarget::File {
            message_id: None,
            path: format!("{n}.txt"),
        };
        revert(app, &target).await;
    }
    assert_eq!(agent.tree(), [""; 0]);
    let list = app.sessions.reverted(&app.session.id).await.unwrap();
    let files: Vec<&[String]> = list.iter().map(|item| item.files.as_slice()).collect();
    assert_eq!(files, [["1.txt".to_owned()]]);
}
