//! Creating, renaming, listing, archiving and removing sessions; projects.

use lathe_protocol::{Event, Session, SessionId};
use lathe_session::Failed;
use lathe_session::bus::{BusItem, Notification};
use lathe_test_support::app::TestApp;
use lathe_test_support::git::git;

fn titles(sessions: &[Session]) -> Vec<&str> {
    sessions
        .iter()
        .map(|session| session.title.as_str())
        .collect()
}

#[tokio::test]
async fn a_new_session_has_a_slug_a_default_title_and_a_descending_id() {
    let app = TestApp::start().await;
    let first = &app.session;
    assert_eq!(first.title, "New session - 2026-01-07T17:15:34.140Z");
    assert!(first.slug.as_ref().unwrap().contains('-'));
    assert_eq!(first.project_id, app.project.id);
    assert_eq!(first.directory, app.project.worktree);
    let second = app.sessions.create(&app.project, None).await.unwrap();
    assert!(second.id.as_str() < first.id.as_str());
    let child = app
        .sessions
        .create(&app.project, Some(&second.id))
        .await
        .unwrap();
    assert!(child.title.starts_with("Child session - "));
    assert_eq!(app.sessions.children(&second.id).await.unwrap(), [child]);
}

#[tokio::test]
async fn the_list_is_ordered_by_last_use() {
    let app = TestApp::start().await;
    app.sessions.rename(&app.session.id, "old").await.unwrap();
    app.clock.advance(std::time::Duration::from_secs(1));
    let newer = app.sessions.create(&app.project, None).await.unwrap();
    app.sessions.rename(&newer.id, "new").await.unwrap();
    assert_eq!(
        titles(&app.sessions.list(&app.project).await.unwrap()),
        ["new", "old"]
    );
    app.clock.advance(std::time::Duration::from_secs(1));
    app.sessions.touch(&app.session.id).await.unwrap();
    assert_eq!(
        titles(&app.sessions.list(&app.project).await.unwrap()),
        ["old", "new"]
    );
}

#[tokio::test]
async fn a_title_is_trimmed_and_never_empty() {
    let app = TestApp::start().await;
    assert_eq!(
        app.sessions
            .rename(&app.session.id, "  Tea  ")
            .await
            .unwrap()
            .title,
        "Tea"
    );
    assert!(matches!(
        app.sessions.rename(&app.session.id, " ").await,
        Err(Failed::Refused(_))
    ));
    assert_eq!(
        app.sessions.get(&app.session.id).await.unwrap().title,
        "Tea"
    );
}

#[tokio::test]
async fn a_session_can_be_archived_and_unarchived() {
    let app = TestApp::start().await;
    let archived = app.sessions.archive(&app.session.id, true).await.unwrap();
    assert!(archived.time.archived.is_some());
    let back = app.sessions.archive(&app.session.id, false).await.unwrap();
    assert_eq!(back.time.archived, None);
}

#[tokio::test]
async fn search_finds_sessions_by_the_words_of_their_title() {
    let app = TestApp::start().await;
    app.sessions
        .rename(&app.session.id, "Fix the Tea timer")
        .await
        .unwrap();
    let other = app.sessions.create(&app.project, None).await.unwrap();
    app.sessions.rename(&other.id, "Coffee").await.unwrap();
    let found = app
        .sessions
        .search(&app.project, "timer TEA")
        .await
        .unwrap();
    assert_eq!(titles(&found), ["Fix the Tea timer"]);
}

#[tokio::test]
async fn removing_a_session_includes_its_children_and_can_be_undone() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let child = app
        .sessions
        .create(&app.project, Some(&app.session.id))
        .await
        .unwrap();
    let grandchild = app
        .sessions
        .create(&app.project, Some(&child.id))
        .await
        .unwrap();
    let before = app.messages().await;
    let mut events = app.sessions.subscribe();

    app.sessions.remove(&app.session.id).await.unwrap();
    assert_eq!(app.sessions.list(&app.project).await.unwrap(), []);
    let storage = app.data_dir().join("storage");
    assert!(
        !storage
            .join("message")
            .join(app.session.id.as_str())
            .exists()
    );
    let mut deleted = Vec::new();
    while let Some(BusItem::Notification(notice)) = events.try_next() {
        if let Notification::Event(event) = notice.notification
            && let Event::SessionDeleted { info } = &*event
        {
            deleted.push(info.id.clone());
        }
    }
    assert_eq!(
        deleted,
        [
            grandchild.id.clone(),
            child.id.clone(),
            app.session.id.clone()
        ]
    );

    app.sessions.restore(&app.session.id).await.unwrap();
    assert_eq!(app.messages().await, before);
    assert_eq!(
        app.sessions.children(&child.id).await.unwrap(),
        [grandchild]
    );
}

#[tokio::test]
async fn a_removed_session_is_listed_and_can_be_restored_days_later() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let (sessions, id) = (&app.sessions, app.session.id.clone());
    let child = sessions.create(&app.project, Some(&id)).await.unwrap();
    sessions.rename(&id, "The lamp").await.unwrap();
    sessions.remove(&id).await.unwrap();

    let app = app.restart().await;
    let sessions = &app.sessions;
    let trashed = sessions.trashed().await.unwrap();
    let titles: Vec<_> = trashed.iter().map(|one| (&one.id, &*one.title)).collect();
    assert_eq!(
        titles,
        [(&id, "The lamp")],
        "a task comes back with its own"
    );
    assert_eq!(trashed[0].directory, app.project.worktree);

    sessions.restore(&id).await.unwrap();
    assert_eq!(sessions.children(&id).await.unwrap().len(), 1);
    assert_eq!(sessions.get(&child.id).await.unwrap().id, child.id);
    assert_eq!(sessions.trashed().await.unwrap(), []);
}

#[tokio::test]
async fn an_unknown_session_is_a_clear_error() {
    let app = TestApp::start().await;
    let ghost = SessionId::parse("ses_ghost").unwrap();
    let error = app.sessions.get(&ghost).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no session ses_ghost");
    assert!(app.sessions.rename(&ghost, "x").await.is_err());
    assert!(app.sessions.remove(&ghost).await.is_err());
}

#[tokio::test]
async fn a_folder_is_the_same_project_from_wherever_it_is_opened() {
    let app = TestApp::start().await;
    std::fs::create_dir_all(app.path("a/b")).unwrap();
    let again = app.sessions.open_project(&app.path("a/..")).await.unwrap();
    assert_eq!(again.id, app.project.id);
    assert_eq!(again.vcs, None);
    let missing = app.sessions.open_project(&app.path("nowhere")).await;
    assert!(matches!(missing, Err(Failed::Refused(_))));
}

#[tokio::test]
async fn a_git_project_is_identified_by_its_first_commit_and_found_from_subfolders() {
    let app = TestApp::start().await;
    let git = |args: &[&str]| git(&app.path(""), args).unwrap();
    std::fs::create_dir_all(app.path("repo/src")).unwrap();
    git(&["init", "-q", "repo"]);
    for message in ["one", "two", "three"] {
        git(&["-C", "repo", "commit", "-q", "--allow-empty", "-m", message]);
    }
    let root = git(&["-C", "repo", "rev-list", "--max-parents=0", "--all"]);
    git(&["-C", "repo", "gc", "-q"]);
    let project = app
        .sessions
        .open_project(&app.path("repo/src"))
        .await
        .unwrap();
    assert_eq!(project.id.as_str(), root);
    assert_eq!(project.vcs.as_deref(), Some("git"));
    assert!(project.worktree.ends_with("repo"));
}
