//! What is newest is known by the core, and a prompt never deletes more than the last turn unasked.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{PendingRevert, PromptInput};
use lathe_session::Failed;
use lathe_test_support::app::{TestApp, until_idle};

use crate::revert::{revert, to};

fn prompt(discard_reverted: bool) -> PromptInput {
    PromptInput {
        text: "another way".to_owned(),
        discard_reverted,
        ..PromptInput::default()
    }
}

async fn with_turns(count: usize) -> (TestApp, Vec<MessageId>) {
    let app = TestApp::start().await;
    let mut prompts = Vec::new();
    for number in 0..count {
        prompts.push(app.ask(&format!("prompt {number}")).await);
    }
    (app, prompts)
}

#[tokio::test]
async fn undo_reverts_the_newest_turn_and_then_the_one_before_it() {
    let (app, prompts) = with_turns(3).await;
    let id = &app.session.id;
    for newest in prompts.iter().rev() {
        assert_eq!(
            app.sessions.last_turn(id).await.unwrap().as_ref(),
            Some(newest)
        );
        let outcome = app.sessions.undo_last_turn(id, false).await.unwrap();
        let revert = outcome.session.revert.unwrap();
        assert_eq!(revert.message_id, *newest);
    }
    assert_eq!(app.sessions.last_turn(id).await.unwrap(), None);
    let nothing = app.sessions.undo_last_turn(id, false).await;
    assert!(matches!(nothing, Err(Failed::Refused(_))), "{nothing:?}");
}

#[tokio::test]
async fn a_prompt_after_the_last_turn_was_undone_needs_no_consent() {
    let (app, _) = with_turns(2).await;
    app.sessions
        .undo_last_turn(&app.session.id, false)
        .await
        .unwrap();
    app.ask_with(prompt(false)).await;
    assert_eq!(app.messages().await.len(), 4);
}

#[tokio::test]
async fn a_prompt_that_would_delete_more_than_the_last_turn_is_refused_without_consent() {
    let (app, prompts) = with_turns(3).await;
    revert(&app, &to(&prompts[1])).await;
    let id = &app.session.id;

    let refused = app.sessions.prompt(id, prompt(false)).await;
    let Err(Failed::NeedsConsent(why)) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("2 reverted turns"), "{why}");
    assert_eq!(app.messages().await.len(), 6, "nothing was deleted");
    let compacted = app.sessions.compact(id).await;
    assert!(
        matches!(compacted, Err(Failed::NeedsConsent(_))),
        "{compacted:?}"
    );

    app.ask_with(prompt(true)).await;
    assert_eq!(app.messages().await.len(), 4);
}

#[tokio::test]
async fn what_was_undone_can_be_deleted_before_something_else_is_sent() {
    let (app, prompts) = with_turns(3).await;
    revert(&app, &to(&prompts[0])).await;
    let session = app
        .sessions
        .discard_reverted(&app.session.id)
        .await
        .unwrap();
    assert_eq!((session.revert, app.messages().await), (None, Vec::new()));
    let mut events = app.sessions.subscribe();
    app.sessions
        .prompt(&app.session.id, prompt(false))
        .await
        .unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.messages().await.len(), 2);
}

#[tokio::test]
async fn where_a_revert_begins_is_known_until_it_is_final() {
    let (app, prompts) = with_turns(3).await;
    let id = &app.session.id;
    assert_eq!(app.sessions.pending_revert(id).await.unwrap(), None);
    revert(&app, &to(&prompts[1])).await;
    let messages = app.messages().await;
    let first = messages.iter().find(|one| *one.info.id() == prompts[1]);
    let pending = PendingRevert {
        message_id: prompts[1].clone(),
        created: first.unwrap().info.created(),
        left: Vec::new(),
    };
    assert_eq!(
        app.sessions.pending_revert(id).await.unwrap(),
        Some(pending)
    );
    app.sessions.discard_reverted(id).await.unwrap();
    assert_eq!(app.sessions.pending_revert(id).await.unwrap(), None);
}
