//! Broken servers, hostile commands, and keys that must not appear anywhere.

use std::path::Path;

use lathe_provider::WireKind;
use lathe_test_support::fake_model::{FakeModel, Reply, bad_json, call, cut, reset, text as say};
use serde_json::json;

use crate::crash_recovery::records_named;
use crate::lathectl::{Home, ended, text};

/// Servers that keep failing. Each is retried as often as allowed, with the real pauses; in
/// parallel that takes half a minute.
#[tokio::test]
async fn a_broken_or_missing_answer_is_never_a_success() {
    let call = call("read", json!({ "filePath": "a.txt" }));
    let broken = [
        ("cut", Reply::Say(vec![say("half a sen"), cut()])),
        (
            "bad json",
            Reply::Say(vec![say("half a sen"), bad_json(), cut()]),
        ),
        (
            "long line",
            Reply::Say(vec![say("x".repeat(1_000_000)), cut()]),
        ),
        ("cut in a call", Reply::Say(vec![call, cut()])),
        ("silent", Reply::Hang),
        ("empty", Reply::Empty),
    ];
    let tried = broken.map(|(what, reply)| async move {
        let model = FakeModel::start().await;
        // Silence is waited out; whatever else happens must not be taken for it.
        let seconds = if what == "silent" { 1 } else { 60 };
        let home = Home::with_config(patient(&model, seconds));
        for _ in 0..6 {
            model.reply_with(reply.clone());
        }
        let output = home.run(&["run", "hello"]).await;
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{what}");
        assert!(model.requests().len() <= 6, "{what}: {said}");
        assert!(said.contains("lathectl: "), "{what}: {said}");
        assert!(!said.contains("· read"), "{what}: a call ran");
    });
    futures::future::join_all(tried).await;
}

#[tokio::test]
async fn a_connection_reset_after_a_call_runs_the_call_once() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let once = || {
        call(
            "bash",
            json!({ "command": "echo x >> ran", "description": "Once" }),
        )
    };
    model.reply([once(), reset()]);
    model.reply([once()]);
    model.reply([say("done")]);
    let output = home.run(&["run", "--yes", "go"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    let ran = std::fs::read_to_string(home.project().join("ran")).unwrap();
    assert_eq!(ran, "x\n");
}

/// The fake model with a timeout in seconds and no pause between attempts.
fn patient(model: &FakeModel, seconds: u64) -> serde_json::Value {
    let options = json!({
        "baseURL": model.base_url(WireKind::OpenaiChat), "apiKey": "k",
        "timeout": seconds * 1000,
    });
    let limit = json!({ "context": 200_000, "output": 8_000 });
    let provider = json!({ "fake": {
        "npm": "@ai-sdk/openai-compatible", "options": options, "models": { "m": { "limit": limit } },
    } });
    json!({ "provider": provider, "model": "fake/m", "small_model": "fake/m" })
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn commands_that_flood_ignore_signals_or_detach_leave_nothing_behind() {
    let marker = format!("9{:08}", std::process::id());
    let commands = [
        "head -c 1G /dev/zero".to_owned(),
        "yes | head -c 300000000".to_owned(),
        format!("sleep {marker} &"),
        format!("trap '' TERM; sleep {marker} & echo up"),
        format!("setsid sleep {marker} & echo up"),
    ];
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for command in &commands {
        model.reply([call(
            "bash",
            json!({ "command": command, "description": "Try", "timeout": 20_000 }),
        )]);
        model.reply([say("done")]);
        let output = ended(home.within(160, &["run", "--yes", "go"])).await;
        assert!(
            output.status.success(),
            "{command}: {}",
            text(&output.stderr)
        );
        assert_eq!(survivors(&marker), Vec::<String>::new(), "{command}");
    }
}

/// Processes whose command line contains the marker.
#[cfg(target_os = "linux")]
pub fn survivors(marker: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(text(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(marker)).collect()
}

#[tokio::test]
async fn a_key_appears_in_no_file_and_no_output() {
    const CANARY: &str = "sk-canary-0123456789abcdef";
    let model = FakeModel::start().await;
    let mut config = patient(&model, 5);
    config["provider"]["fake"]["options"]["apiKey"] = json!("{env:CANARY_KEY}");
    let home = Home::with_config(config);
    model.reply([say("fine")]);
    model.refuse(401, &[], &format!("the key {CANARY} is not known"));
    for _ in 0..6 {
        model.refuse(
            500,
            &[("retry-after-ms", "1")],
            &format!("crashed with {CANARY}"),
        );
    }
    let mut printed = String::new();
    for args in [
        &["run", "--json", "a"][..],
        &["run", "--json", "b"],
        &["run", "c"],
    ] {
        let mut command = home.command(args);
        command.env("CANARY_KEY", CANARY);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        let output = output.await.unwrap();
        printed += &text(&output.stdout);
        printed += &text(&output.stderr);
    }
    for id in home.sessions().await {
        printed += &text(&home.run(&["export", &id]).await.stdout);
    }
    assert!(!printed.contains(CANARY), "{printed}");
    assert_eq!(files_with(&home.data(), CANARY), Vec::<String>::new());
    #[cfg(unix)]
    private(&home.data());
}

fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let holds = |path: &String| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    let files = records_named(folder, |_| true);
    files.into_iter().filter(holds).collect()
}

/// Only the owner may use files and folders.
#[cfg(unix)]
fn private(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for file in records_named(folder, |_| true) {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
    let storage = std::fs::metadata(folder.join("storage")).unwrap();
    assert_eq!(storage.permissions().mode() & 0o077, 0);
}
