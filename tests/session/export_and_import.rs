//! A session is exported to a file and imported again.

use std::fs;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Extra, FilePart, Message, Part};
use lathe_test_support::app::TestApp;
use serde_json::json;

use crate::revert::{describe, to};
use crate::scripted_agent::Agent;

#[tokio::test]
async fn an_exported_session_is_imported_unchanged() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    let export = app.sessions.export(&app.session.id).await.unwrap();
    assert_eq!(export.diff.as_ref().unwrap()[0].file, "a.txt");
    let file = app.data_dir().join("export.json");
    fs::write(&file, serde_json::to_string_pretty(&export).unwrap()).unwrap();

    let other = TestApp::start().await;
    let report = other.sessions.import_from(&file).await.unwrap();
    assert_eq!((report.added, report.unreadable.len()), (1, 0));
    assert_eq!(
        other.sessions.export(&app.session.id).await.unwrap(),
        export
    );
    let again = other.sessions.import_from(&file).await.unwrap();
    assert_eq!((again.added, again.already), (0, 1));
    assert_eq!(
        other.sessions.export(&app.session.id).await.unwrap(),
        export
    );
}

#[tokio::test]
async fn the_counts_of_an_imported_session_survive_a_revert_and_an_unrevert() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\n' > a.txt").await;
    let id = &agent.app.session.id;
    let export = agent.app.sessions.export(id).await.unwrap();
    let counted = export.info.summary.clone().unwrap();
    assert_eq!((counted.additions.0, counted.deletions.0), (1, 1));
    let mut unlisted = export.clone();
    unlisted.diff = None;
    let mut only_figures = unlisted.clone();
    for message in &mut only_figures.messages {
        if let Message::User(user) = &mut message.info {
            user.summary = None;
        }
    }

    let diff = export.diff.clone().unwrap();
    let cases = [(export, &diff), (unlisted, &diff), (only_figures, &vec![])];
    for (export, listed) in cases {
        let other = TestApp::start().await;
        let file = other.data_dir().join("export.json");
        fs::write(&file, serde_json::to_string(&export).unwrap()).unwrap();
        other.sessions.import_from(&file).await.unwrap();
        let outcome = other.sessions.revert(id, &to(&turn)).await.unwrap();
        let why = ["a.txt: the snapshot of it is not here"];
        assert_eq!(describe(&outcome.files), why);
        assert_eq!(outcome.session.summary.as_ref(), Some(&counted));
        let outcome = other.sessions.unrevert(id).await.unwrap();
        assert_eq!(outcome.session.summary.as_ref(), Some(&counted));
        assert_eq!(other.sessions.diff(id, None).await.unwrap(), *listed);
    }
}

#[tokio::test]
async fn an_image_stored_as_a_path_is_exported_with_the_session() {
    let app = TestApp::start().await;
    fs::write(app.path("dot.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
    app.ask_with(PromptInput {
        text: "look".into(),
        ..PromptInput::default()
    })
    .await;
    let message = app.messages().await.remove(0);
    let part = Part::File(FilePart {
        id: lathe_protocol::PartId::parse("prt_ffffffffffffaaaaaaaaaaaaaa").unwrap(),
        session_id: app.session.id.clone(),
        message_id: message.info.id().clone(),
        mime: "image/png".into(),
        filename: Some("dot.png".into()),
        url: format!("file://{}", app.path("dot.png").display()),
        source: None,
        extra: Extra::default(),
    });
    let place = format!("storage/part/{}/{}.json", message.info.id(), part.id());
    fs::write(
        app.data_dir().join(place),
        serde_json::to_string(&part).unwrap(),
    )
    .unwrap();

    let export = app.sessions.export(&app.session.id).await.unwrap();
    let urls: Vec<_> = export.messages[0]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::File(file) => Some(file.url.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(urls, ["data:image/png;base64,iVBORw0KGgpyZXN0"]);
}

#[tokio::test]
async fn a_file_with_hostile_ids_is_not_imported() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let export = app.sessions.export(&app.session.id).await.unwrap();
    let mut value = serde_json::to_value(&export).unwrap();
    value["info"]["id"] = json!("ses_../../x");
    let file = app.data_dir().join("hostile.json");
    fs::write(&file, value.to_string()).unwrap();
    let report = app.sessions.import_from(&file).await.unwrap();
    assert_eq!((report.added, report.unreadable.len()), (0, 1));
    assert!(!app.data_dir().join("storage/x.json").exists());
}
