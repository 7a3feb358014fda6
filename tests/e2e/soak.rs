//! Hours of use in a row: sessions, turns, reloads of the page, a network that goes and comes back.
//! After each round the window shows what is stored, nothing has gone wrong unnoticed, and the memory
//! is bounded. A short form runs every day, the long one with `--soak`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lathe_test_support::fake_model::{FakeModel, reset, text};
use lathe_test_support::window::{Window, WindowError};
use serde_json::{Value, json};

use crate::steps::{STOP, current_session, new_session, open_with, project, send};

struct Plan {
    rounds: usize,
    sessions_a_round: usize,
    turns_a_session: usize,
    /// The network is gone for one turn of every round up to this one.
    losses: usize,
}

/// 500 sessions, 2,000 turns, 50 reloads and 20 losses; every day a part of it.
fn plan() -> Plan {
    let tenths = match std::env::var("LATHE_SOAK").ok().as_deref() {
        None => {
            return Plan {
                rounds: 2,
                sessions_a_round: 2,
                turns_a_session: 2,
                losses: 1,
            };
        }
        Some("tenth") => 1,
        Some(_) => 10,
    };
    Plan {
        rounds: 5 * tenths,
        sessions_a_round: 10,
        turns_a_session: 4,
        losses: 2 * tenths,
    }
}

/// What the rounds may add to the memory of the app and its page.
const MOST_GROWTH: u64 = 300 << 20;

/// The texts of the open session as they are drawn, prompts and answers in their order.
const DRAWN: &str = "[...document.querySelectorAll('.user-message, .assistant-message')]
  .flatMap((one) => [...one.querySelectorAll('[data-part=text]')].map((part) =>
    (part.querySelector('.markdown') ?? part).textContent.trim()))";

fn read_all(folder: &Path) -> Vec<Value> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut records: Vec<Value> = files
        .filter_map(|file| serde_json::from_slice(&fs::read(file.path()).ok()?).ok())
        .collect();
    let created = |one: &Value| one["time"]["created"].as_i64().unwrap_or_default();
    let id = |one: &Value| one["id"].as_str().unwrap_or_default().to_owned();
    records.sort_by_key(|one| (created(one), id(one)));
    records
}

/// The texts of a session as they are stored.
fn stored(data: &Path, session: &str) -> Vec<String> {
    let storage = data.join("storage");
    let messages = read_all(&storage.join("message").join(session));
    let parts = messages.iter().flat_map(|message| {
        let id = message["id"].as_str().unwrap_or_default();
        read_all(&storage.join("part").join(id))
    });
    let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
    texts
        .filter_map(|part| Some(part["text"].as_str()?.trim().to_owned()))
        .collect()
}

fn sessions_on_disk(data: &Path) -> BTreeSet<String> {
    let projects = fs::read_dir(data.join("storage/session")).into_iter();
    let sessions = projects
        .flatten()
        .flatten()
        .flat_map(|project| read_all(&project.path()));
    sessions
        .filter_map(|session| session["id"].as_str().map(str::to_owned))
        .collect()
}

/// The window shows what is stored, and nothing is busy.
async fn compare(window: &Window) -> Result<(), WindowError> {
    window.wait_gone(".session-row .spinner").await?;
    let open = current_session(window).await?;
    let open = open.as_str().unwrap_or_default();
    let wanted = stored(window.data_dir(), open);
    let drawn = format!("JSON.stringify({DRAWN}) === JSON.stringify(given)");
    let what = format!("the texts of {open}: {wanted:?}");
    window.wait_until_with(&what, &drawn, json!(wanted)).await?;
    let rows = "[...document.querySelectorAll('.session-row')].map((row) => row.dataset.sessionId)";
    let rows = window.value_of(rows, Value::Null).await?;
    let on_disk = sessions_on_disk(window.data_dir());
    let unknown: Vec<_> = rows
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|id| !on_disk.contains(*id))
        .collect();
    assert_eq!(unknown, [""; 0], "rows of sessions that do not exist");
    Ok(())
}

/// What went wrong, in the core or in the page.
fn errors(window: &Window) -> Vec<String> {
    let log = fs::read_to_string(window.data_dir().join("logs/lathe.log")).unwrap_or_default();
    let lines = log.lines().filter(|line| line.contains("ERROR"));
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_day_of_use_leaves_the_window_as_the_core_is() -> Result<(), WindowError> {
    let (model, garden, plan) = (FakeModel::start().await, project()?, plan());
    let window = open_with(&model, &garden).await?;
    let mut turns = 0;
    let mut after_the_first = 0;
    for round in 0..plan.rounds {
        for session in 0..plan.sessions_a_round {
            if round + session > 0 {
                new_session(&window).await?;
            }
            for turn in 0..plan.turns_a_session {
                turns += 1;
                if round < plan.losses && session + turn == 0 {
                    model.reply([text("Bed"), reset()]);
                }
                model.reply([text(format!("Bed {turns} has {} roses.", turns * 3))]);
                send(&window, &format!("Count bed {turns}")).await?;
                let answer = format!("Bed {turns} has");
                window.wait_for_text(".assistant-message", &answer).await?;
                window.wait_gone(STOP).await?;
                // Each request is a record of the fake model.
                model.forget();
            }
        }
        window.reload().await?;
        compare(&window).await?;
        assert_eq!(errors(&window), [""; 0], "in round {round}");
        let memory = window.resident_bytes();
        if round == 0 {
            after_the_first = memory;
        }
        let grown = memory.saturating_sub(after_the_first);
        assert!(grown < MOST_GROWTH, "{grown} bytes more in round {round}");
        println!("round {round}: {turns} turns, {} MB", memory >> 20);
    }
    assert_eq!(model.unused_replies(), 0);
    window.close().await
}
