//! A session of very many parts, and very many sessions.

#![cfg(unix)]

use lathe_test_support::fake_model::{FakeModel, text as say};
use lathe_test_support::side_by_side::generate;

use crate::lathectl::{Home, ended, text};

#[tokio::test]
async fn a_large_history_is_listed_and_shown_in_little_memory() {
    let (sessions, messages) = match std::env::var_os("LATHE_SOAK") {
        // 4.4 parts a message.
        Some(_) => (2_000, 22_800),
        None => (200, 500),
    };
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([say("hello")]);
    home.run(&["run", "hello"]).await;
    let id = generate(&home.data(), &home.project(), sessions, messages).unwrap();

    let all = home.json(&["sessions", "--json"]).await;
    assert_eq!(all.as_array().map(Vec::len), Some(sessions + 1));
    let found = home
        .json(&["sessions", "--json", "--search", "number 17"])
        .await;
    let titles = found.as_array().unwrap().iter();
    assert!(titles.clone().count() > 0);
    assert!(
        titles
            .clone()
            .all(|one| one["title"].as_str().unwrap().contains("17"))
    );

    let list = ended(home.within(150, &["sessions"])).await;
    assert!(list.status.success(), "{}", text(&list.stderr));
    let export = home.json(&["export", &id]).await;
    assert_eq!(export["messages"].as_array().map(Vec::len), Some(messages));
}
