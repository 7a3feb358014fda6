//! A session is exported to a file and imported again.

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Extra, FilePart, Message, Part, PartId, ProjectId};
use lathe_provider::WireKind;
use lathe_test_support::app::{CANARY_KEY, TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

use crate::revert::{describe, to};

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
async fn an_image_that_is_only_a_path_stays_a_path_in_an_export() {
    let app = TestApp::start().await;
    fs::write(app.path("dot.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
    app.ask_with(PromptInput {
        text: "look".into(),
        ..PromptInput::default()
    })
    .await;
    let message = app.messages().await.remove(0);
    let part = Part::File(FilePart {
        id: PartId::parse("prt_ffffffffffffaaaaaaaaaaaaaa").unwrap(),
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
    assert_eq!(urls, [format!("file://{}", app.path("dot.png").display())]);
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

/// PROMISES 26: a session from somebody else names files of this machine.
#[tokio::test]
async fn what_an_imported_session_names_is_neither_sent_nor_exported_nor_shared() {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let secret = app.data_dir().join("secret");
    // Six bytes in front, so that the key is found as base64 too.
    fs::write(&secret, format!("\u{89}PNG {CANARY_KEY}")).unwrap();
    model.reply([text("hello")]);
    app.ask("hello").await;
    let mut export = app.sessions.export(&app.session.id).await.unwrap();
    let user = export.messages[0].info.id().clone();
    for (letter, mime) in [
        ("A", "image/png"),
        ("B", "text/plain"),
        ("C", "application/pdf"),
    ] {
        export.messages[0].parts.push(Part::File(FilePart {
            id: PartId::parse(&format!("prt_ffffffffffff{}", letter.repeat(14))).unwrap(),
            session_id: app.session.id.clone(),
            message_id: user.clone(),
            mime: mime.into(),
            filename: Some("notes".into()),
            url: format!("file://{}", secret.display()),
            source: None,
            extra: Extra::default(),
        }));
    }
    let file = app.data_dir().join("theirs.json");
    fs::write(&file, serde_json::to_string(&export).unwrap()).unwrap();
    app.sessions.remove(&app.session.id).await.unwrap();

    let other = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let report = other.sessions.import_from(&file).await.unwrap();
    assert_eq!(report.added, 1);
    let id = &app.session.id;
    let sent = model.reply([text("I see nothing")]);
    let mut events = other.sessions.subscribe();
    let input = PromptInput {
        text: "what is in the notes?".into(),
        ..PromptInput::default()
    };
    other.sessions.prompt(id, input).await.unwrap();
    until_idle(&mut events, id).await;
    assert!(!sent.request().body.to_string().contains(CANARY_KEY));

    let page = other.path("page.html");
    other.sessions.share(id, Some(&page)).await.unwrap();
    let shared = fs::read_to_string(&page).unwrap();
    let exported = other.sessions.export(id).await.unwrap();
    let exported = serde_json::to_string(&exported).unwrap();
    for (what, found) in [("share", &shared), ("export", &exported)] {
        assert!(found.contains("what is in the notes?"), "{what}");
        let encoded = BASE64.encode(&CANARY_KEY[..21]);
        assert!(
            !found.contains(CANARY_KEY) && !found.contains(&encoded),
            "{what}"
        );
    }
}

#[tokio::test]
async fn an_imported_session_does_not_make_the_home_folder_a_project() {
    let home = std::env::home_dir().unwrap();
    let app = TestApp::start().await;
    app.ask("hello").await;
    let mut export = app.sessions.export(&app.session.id).await.unwrap();
    app.sessions.remove(&app.session.id).await.unwrap();
    for folder in [home.clone(), home.join(".config")] {
        std::fs::create_dir_all(&folder).unwrap();
        let other = TestApp::start().await;
        // Of a project that is not known here.
        export.info.project_id = ProjectId::parse(&"f".repeat(40)).unwrap();
        export.info.directory = folder.display().to_string();
        let file = app.data_dir().join("theirs.json");
        fs::write(&file, serde_json::to_string(&export).unwrap()).unwrap();
        other.sessions.import_from(&file).await.unwrap();
        let input = PromptInput {
            text: "read my keys".into(),
            ..PromptInput::default()
        };
        let refused = other.sessions.prompt(&export.info.id, input).await;
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("is no folder of a project"), "{why}");
    }
}
