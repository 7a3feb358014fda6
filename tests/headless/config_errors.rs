//! A config with mistakes: if it was named it ends the program, otherwise the mistakes are
//! reported.

use lathe_test_support::fake_model::{FakeModel, text as say};
use lathe_test_support::git::{commit_all, git};

use crate::lathectl::{Home, text};

#[tokio::test]
async fn a_named_config_that_cannot_be_used_is_an_error_before_anything_is_stored() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    let place = |name: &str| home.folder.path().join(name);
    std::fs::write(place("broken.json"), "{ \"model\": ").unwrap();
    std::fs::write(place("list.json"), "[]").unwrap();
    std::fs::create_dir(place("folder.json")).unwrap();
    for name in ["missing.json", "broken.json", "list.json", "folder.json"] {
        let path = place(name);
        let path = path.to_str().unwrap();
        for command in [&["run", "hi"][..], &["models"]] {
            let args = [&["--config", path], command].concat();
            let output = home.run(&args).await;
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
            assert_eq!(text(&output.stdout), "", "{args:?}");
            assert!(said.starts_with("lathectl: "), "{args:?}: {said}");
            assert!(said.contains(name), "{args:?}: {said}");
            assert!(!home.data().exists(), "{args:?}");
        }
    }
}

#[tokio::test]
async fn a_request_is_not_shown_under_a_named_config_that_cannot_be_used() {
    let model = FakeModel::start().await;
    model.reply([say("hello")]);
    let home = Home::new(&model);
    home.run(&["run", "hi"]).await;
    let [id] = home.sessions().await.try_into().unwrap();
    std::fs::write(home.folder.path().join("config.json"), "{").unwrap();
    for form in ["model", "request", "html"] {
        let output = home.run(&["show", &id, "--as", form]).await;
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{form}: {said}");
        assert!(said.contains("config.json"), "{form}: {said}");
    }
    // Commands that need no config still work.
    for args in [&["show", &id][..], &["sessions"], &["export", &id]] {
        assert!(home.run(args).await.status.success(), "{args:?}");
    }
}

#[tokio::test]
async fn mistakes_in_any_other_config_are_reported_and_the_run_continues() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    std::fs::write(home.project().join("lathe.json"), "{ oh").unwrap();
    let own = home.folder.path().join(".config/lathe");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("lathe.json"), "{ \"snapshot\": \"maybe\" }").unwrap();
    model.reply([say("hello")]);
    for args in [&["run", "hi"][..], &["models"]] {
        let output = home.run(args).await;
        let said = text(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        assert!(
            said.contains("! config: lathe.json:1: column 3: "),
            "{args:?}: {said}"
        );
        if cfg!(target_os = "linux") {
            assert!(said.contains("lathe/lathe.json:1: snapshot: "), "{said}");
        }
    }
}

#[tokio::test]
async fn a_run_says_what_git_does_not_run_before_the_project_is_trusted() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    std::fs::write(home.project().join("a.txt"), "a\n").unwrap();
    commit_all(&home.project()).unwrap();
    let run = ["config", "filter.x.clean", "cat"];
    git(&home.project(), &run).unwrap();
    model.reply([say("hello")]);
    let said = text(&home.run(&["run", "hi"]).await.stderr);
    let wanted = "! git: off until you trust the project: Let git use filter.x.clean = cat";
    assert!(said.contains(wanted), "{said}");
}
