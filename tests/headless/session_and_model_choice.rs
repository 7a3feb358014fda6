//! Which session, agent and model a run uses, and what a refused run leaves behind.

use lathe_provider::WireKind;
use lathe_session::{Options, Sessions};
use lathe_test_support::fake_model::{FakeModel, text as say};
use lathe_test_support::git::commit_all;
use serde_json::{Value, json};

use crate::crash_recovery::records;
use crate::lathectl::{Home, text};

fn provider(model: &FakeModel) -> Value {
    let models = json!({ "m": {}, "m2": { "reasoning": true, "variants": { "high": {} } } });
    json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": model.base_url(WireKind::OpenaiChat), "apiKey": "k" },
        "models": models,
    })
}

async fn newest_prompt(home: &Home) -> Value {
    let id = &home.sessions().await[0];
    let export = home.json(&["export", id]).await;
    let messages = export["messages"].as_array().unwrap().iter().rev();
    let mut prompts = messages.filter(|message| message["info"]["role"] == "user");
    prompts.next().unwrap()["info"].clone()
}

#[tokio::test]
async fn a_session_continues_with_the_agent_model_and_variant_of_its_newest_prompt() {
    let model = FakeModel::start().await;
    let config = json!({ "provider": { "fake": provider(&model) }, "model": "fake/m" });
    let home = Home::with_config(config);
    for answer in ["one", "two", "three", "four"] {
        model.reply([say(answer)]);
    }
    let flags = ["--model", "fake/m2", "--variant", "high", "--agent", "plan"];
    home.run(&[&["run"], &flags[..], &["first"]].concat()).await;
    home.run(&["run", "--continue", "second"]).await;
    let m2 = json!({ "providerID": "fake", "modelID": "m2" });
    let prompt = newest_prompt(&home).await;
    assert_eq!(prompt["model"], m2);
    assert_eq!(prompt["variant"], "high");
    assert_eq!(prompt["agent"], "plan");

    let [id] = home.sessions().await.try_into().unwrap();
    home.run(&["run", "--session", &id, "--agent", "build", "third"])
        .await;
    let prompt = newest_prompt(&home).await;
    assert_eq!((&prompt["model"], &prompt["agent"]), (&m2, &json!("build")));

    home.run(&["run", "--continue", "--model", "fake/m", "fourth"])
        .await;
    let prompt = newest_prompt(&home).await;
    assert_eq!(prompt["model"]["modelID"], "m");
    assert_eq!(prompt["variant"], Value::Null, "it was another model's");
}

#[tokio::test]
async fn a_local_server_is_listed_and_used_when_no_other_model_is_set_up() {
    let model = FakeModel::start().await;
    let url = model.base_url(WireKind::OpenaiChat);
    let home = Home::with_config(json!({
        "provider": { "ollama": { "options": { "baseURL": url } } },
    }));
    let listed = text(&home.run(&["models"]).await.stdout);
    let lists = |wanted: &str| listed.lines().any(|line| line == wanted);
    assert!(lists("ollama/fake-model"), "{listed}");
    model.reply([say("from next door")]);
    let output = home.run(&["run", "hello"]).await;
    assert_eq!(text(&output.stdout), "from next door\n");
}

#[tokio::test]
async fn models_lists_those_of_the_named_project_once_it_is_trusted() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let own = json!({ "provider": { "own": provider(&model) } });
    std::fs::write(home.project().join("lathe.json"), own.to_string()).unwrap();
    let mut options = Options::new(home.data());
    options.config = Some(home.folder.path().join("config.json"));
    options.config_home = Some(home.folder.path().join(".config"));
    let sessions = Sessions::open(options).await.unwrap();
    let project = sessions.open_project(&home.project()).await.unwrap();
    let listed = async || {
        let project = home.project();
        let args = ["models", "--directory", project.to_str().unwrap()];
        let mut command = home.command(&args);
        command.current_dir(home.folder.path());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        text(&output.await.unwrap().stdout)
    };
    assert!(!listed().await.contains("own/m2"));
    let shown = sessions.trust(&project).await.unwrap().hash;
    sessions.set_trust(&project, Some(&shown)).await.unwrap();
    let listed = listed().await;
    assert!(listed.lines().any(|line| line == "own/m2"), "{listed}");
}

#[tokio::test]
async fn a_refused_run_leaves_no_session_behind() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    std::fs::write(home.project().join("core"), b"\x7fELF\0\0\0\x01\0\0").unwrap();
    for args in [
        vec!["run", "--agent", "nobody", "hi"],
        vec!["run", " "],
        vec!["run", "--file", "core", "look"],
        vec!["run", "--continue", "hi"],
        vec!["run", "--model", "foo/bar", "hi"],
        vec!["run", "--variant", "gone", "hi"],
        vec!["run", "--model", "fake/m", "--variant", "gone", "hi"],
    ] {
        let output = home.run(&args).await;
        assert!(!output.status.success(), "{args:?}");
        assert_eq!(home.sessions().await, Vec::<String>::new(), "{args:?}");
    }
}

#[tokio::test]
async fn an_unknown_model_or_variant_is_refused_by_name() {
    let model = FakeModel::start().await;
    let config = json!({ "provider": { "fake": provider(&model) }, "model": "fake/m2" });
    let home = Home::with_config(config);
    let output = home.run(&["run", "--model", "foo/bar", "hi"]).await;
    let said = text(&output.stderr);
    assert!(said.contains("Unknown provider: foo"), "{said}");
    let output = home.run(&["run", "--variant", "hihg", "hi"]).await;
    let said = text(&output.stderr);
    assert!(said.contains("fake/m2 has no variant \"hihg\""), "{said}");
    assert!(said.contains("high"), "{said}");
    model.reply([say("hello")]);
    let output = home.run(&["run", "--variant", "high", "hi"]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_model_of_a_local_server_can_be_named() {
    let model = FakeModel::start().await;
    let url = model.base_url(WireKind::OpenaiChat);
    let home = Home::with_config(json!({
        "provider": { "ollama": { "options": { "baseURL": url } } },
    }));
    model.reply([say("from next door")]);
    let output = home.run(&["run", "--model", "ollama/fake-model", "hello"]);
    let output = output.await;
    assert_eq!(text(&output.stdout), "from next door\n");
}

#[tokio::test]
async fn listing_sessions_and_models_writes_nothing() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    model.reply([say("hello")]);
    home.run(&["run", "hi"]).await;
    let before = records(&home.data().join("storage"));
    for args in [["sessions", "--json"], ["models", "--json"]] {
        assert!(home.run(&args).await.status.success());
        assert_eq!(records(&home.data().join("storage")), before, "{args:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_a_turn_starts_the_tool_servers() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let started = home.folder.path().join("started");
    let config = json!({
        "provider": { "fake": provider(&model) }, "model": "fake/m", "small_model": "fake/m",
        "mcp": { "garden": { "type": "local", "command": ["touch", &started] } },
    });
    std::fs::write(home.folder.path().join("config.json"), config.to_string()).unwrap();
    model.reply([say("hello")]);
    assert!(home.run(&["run", "hi"]).await.status.success());
    assert!(started.exists());

    std::fs::remove_file(&started).unwrap();
    let id = &home.sessions().await[0];
    for args in [
        &["sessions"][..],
        &["sessions", "--search", "hi"],
        &["models"],
        &["show", id],
        &["export", id],
        &["check"],
        &["fork", id],
        &["rm", id],
    ] {
        let output = home.run(args).await;
        assert!(
            output.status.success(),
            "{args:?}: {}",
            text(&output.stderr)
        );
        assert!(!started.exists(), "{args:?}");
    }
}

#[tokio::test]
async fn a_clone_does_not_continue_a_session_of_its_origin() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    commit_all(&home.project()).unwrap();
    model.reply([say("hello")]);
    assert!(home.run(&["run", "hi"]).await.status.success());
    let clone = home.folder.path().join("clone");
    let cloned = std::process::Command::new("git")
        .args(["clone", "--quiet"])
        .args([&home.project(), &clone])
        .status();
    assert!(cloned.unwrap().success());

    let clone = clone.to_str().unwrap();
    let go_on = ["run", "--continue", "--directory", clone, "go on"];
    let output = home.run(&go_on).await;
    assert!(!output.status.success());
    let said = text(&output.stderr);
    let elsewhere = home.project().canonicalize().unwrap();
    assert!(said.contains(elsewhere.to_str().unwrap()), "{said}");

    for words in ["begin", "go on"] {
        model.reply([say(words)]);
        let flag = if words == "begin" {
            "--yes"
        } else {
            "--continue"
        };
        let output = home.run(&["run", flag, "--directory", clone, words]).await;
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(home.sessions().await.len(), 2);
}
