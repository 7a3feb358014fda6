#![allow(clippy::unwrap_used)]

use lathe_protocol::ipc::{Limits, Theme};
use lathe_protocol::{Extra, ModelRef};
use serde_json::json;

use super::*;

fn stored(content: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), content).unwrap();
    folder
}

fn on_disk(folder: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap_or_default()
}

#[test]
fn settings_are_read_back_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::open(folder.path());
    assert_eq!(file.settings(), Settings::default());
    assert!(!file.settings().welcomed, "a first start is one");
    let settings = Settings {
        zoom: 150,
        limits: Limits {
            session_cost: Some(5.0),
            ..Limits::default()
        },
        ..Settings::default()
    };
    file.set_settings(&settings).unwrap();

    let again = SettingsFile::open(folder.path());
    assert_eq!((again.settings(), again.take_damaged()), (settings, None));
}

#[test]
fn a_field_that_is_not_understood_costs_no_other_and_the_file_is_kept() {
    let content = json!({ "settings": {
        "theme": "sepia",
        "zoom": 150,
        "limits": { "sessionCost": 5.0, "turnSteps": "many" },
        "privateHosts": ["10.0.0.1", 7, "lab"],
        "variants": { "a/b": "high", "c/d": 1 },
        "recentModels": [{ "providerID": "lab", "modelID": "lamp" }, "lamp"],
    } });
    let folder = stored(&content.to_string());
    let file = SettingsFile::open(folder.path());
    let expected = Settings {
        theme: Theme::System,
        zoom: 150,
        limits: Limits {
            session_cost: Some(5.0),
            ..Limits::default()
        },
        private_hosts: vec!["10.0.0.1".to_owned(), "lab".to_owned()],
        variants: [("a/b".to_owned(), "high".to_owned())].into(),
        welcomed: true,
        recent_models: vec![ModelRef {
            provider_id: "lab".into(),
            model_id: "lamp".into(),
            extra: Extra::default(),
        }],
        ..Settings::default()
    };
    assert_eq!(file.settings(), expected);
    let kept = folder.path().join(DAMAGED);
    assert_eq!(file.take_damaged(), Some(kept));
    assert_eq!(file.take_damaged(), None, "it is said once");
    assert_eq!(on_disk(&folder, DAMAGED), content.to_string());

    let again = SettingsFile::open(folder.path());
    assert_eq!((again.settings(), again.take_damaged()), (expected, None));
}

#[test]
fn a_file_that_was_cut_off_is_kept_before_anything_is_written() {
    for content in ["", "{\"settings\": {\"zoom\": 1", "[]", "\0\0\0"] {
        let folder = stored(content);
        let file = SettingsFile::open(folder.path());
        assert_eq!(file.settings(), Settings::default());
        assert!(file.take_damaged().is_some(), "{content}");
        file.set_settings(&Settings::default()).unwrap();
        assert_eq!(on_disk(&folder, DAMAGED), content);
        assert_eq!(SettingsFile::open(folder.path()).take_damaged(), None);
    }
}

#[test]
fn a_setting_of_a_newer_version_outlives_a_change_of_another() {
    let folder = stored(r#"{ "settings": { "zoom": 150, "fontSize": 15 }, "later": true }"#);
    let file = SettingsFile::open(folder.path());
    assert_eq!(file.take_damaged(), None);
    assert!(file.settings().welcomed, "no welcome after an update");
    let settings = Settings {
        zoom: 90,
        ..file.settings()
    };
    file.set_settings(&settings).unwrap();
    let now: Value = serde_json::from_str(&on_disk(&folder, FILE)).unwrap();
    assert_eq!(
        (
            &now["settings"]["fontSize"],
            &now["settings"]["zoom"],
            &now["later"]
        ),
        (&json!(15), &json!(90), &json!(true))
    );
}

#[test]
fn settings_that_are_not_stored_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::open(&folder.path().join("gone"));
    assert!(file.set_settings(&Settings::default()).is_err());
}
