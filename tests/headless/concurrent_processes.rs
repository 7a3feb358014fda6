//! Several processes on one data directory.

use lathe_test_support::fake_model::{FakeModel, pause, text as say};
use serde_json::Value;

use crate::crash_recovery::records;
use crate::lathectl::{Home, text};

#[tokio::test]
async fn many_processes_at_once_corrupt_and_lose_nothing() {
    let rounds = if std::env::var_os("LATHE_SOAK").is_some() {
        250
    } else {
        6
    };
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for _ in 0..rounds {
        for _ in 0..2 {
            model.reply([say("one "), pause(5), say("two")]);
        }
        let (a, b, list, check) = tokio::join!(
            home.run(&["run", "first"]),
            home.run(&["run", "second"]),
            home.run(&["sessions", "--json"]),
            home.run(&["check"]),
        );
        for output in [a, b, list, check] {
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        records(&home.data().join("storage"));
    }
    assert_eq!(home.sessions().await.len(), 2 * rounds);
    for id in home.sessions().await {
        let export = home.json(&["export", &id]).await;
        assert_eq!(export["messages"].as_array().map(Vec::len), Some(2), "{id}");
    }
}

#[tokio::test]
async fn a_session_has_one_writer_and_is_free_at_once_when_that_process_dies() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([say("hello")]);
    home.run(&["run", "hello"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    let held = model.reply([say("thinking"), lathe_test_support::fake_model::stall()]);
    let mut holder = home
        .command(&["run", "--session", &id, "take your time"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    held.asked().await;
    let second = home.run(&["run", "--session", &id, "me too"]).await;
    assert!(!second.status.success());
    let said = text(&second.stderr);
    assert!(said.contains(&format!("process {}", holder.id())), "{said}");
    // Every process may read. What was written a moment ago may not be in its file yet, where
    // other processes see it.
    while messages(&home, &id).await < 4 {}
    assert_eq!(messages(&home, &id).await, 4);

    holder.kill().unwrap();
    holder.wait().unwrap();
    model.reply([say("mine now")]);
    let third = home.run(&["run", "--session", &id, "and now?"]).await;
    assert!(third.status.success(), "{}", text(&third.stderr));
}

async fn messages(home: &Home, id: &str) -> usize {
    let shown: Value = home.json(&["export", id]).await;
    shown["messages"].as_array().map_or(0, Vec::len)
}
