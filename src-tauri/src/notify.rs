//! Desktop notifications for turns that end, fail or wait while the window is not focused. A click
//! on one opens its session.

mod news;

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use lathe_protocol::SessionId;
use lathe_render::escape::visible_line;
use lathe_session::Sessions;
use lathe_session::bus::{BusItem, Notification};
use tauri::{AppHandle, Emitter, Manager};
use tauri_plugin_notification::{ActionPerformed, NotificationExt};

use news::{News, Watch};

use crate::state::Shell;
use crate::texts;
use crate::window::{self, MAIN};

/// The event that carries the id of the session to open.
const OPEN_SESSION: &str = "open-session";
/// The key of the session id in a notification.
const SESSION: &str = "session";
/// The system's name for its usual sound.
const SOUND: &str = if cfg!(target_os = "linux") {
    "message-new-instant"
} else {
    "Default"
};

pub fn begin(app: &AppHandle) {
    let clicked = app.clone();
    if let Err(error) = app
        .notification()
        .on_action(move |what| open_session(&clicked, what))
    {
        tracing::warn!(%error, "clicks on notifications cannot be received");
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move { listen(app).await });
}

async fn listen(app: AppHandle) {
    let sessions = app.state::<Shell>().sessions.clone();
    let mut items = sessions.subscribe();
    let mut watch = Watch::default();
    while let Some(item) = items.next().await {
        let news = match item {
            BusItem::Missed => watch.catch_up(&sessions.activity().await),
            BusItem::Notification(notice) => match &notice.notification {
                Notification::Event(event) => watch.hear(event).into_iter().collect(),
                _ => Vec::new(),
            },
        };
        if news.is_empty() || !window::is_unfocused(&app) {
            continue;
        }
        let settings = app.state::<Shell>().settings.settings();
        if !settings.notify {
            continue;
        }
        for (session, news) in news {
            let shown = notify(&app, &sessions, &session, news, settings.notify_sound);
            contained(shown).await;
        }
    }
}

/// A fault of the program costs one notification, and not all that come after it.
async fn contained(work: impl Future<Output = ()>) {
    if AssertUnwindSafe(work).catch_unwind().await.is_err() {
        tracing::error!("a notification was not shown");
    }
}

/// Notifies for the session at the top, where the request of a task is answered.
async fn notify(
    app: &AppHandle,
    sessions: &Sessions,
    id: &SessionId,
    news: News,
    with_sound: bool,
) {
    let Ok(mut session) = sessions.get(id).await else {
        return;
    };
    // The end of a task is no news: the turn that it worked for goes on.
    if session.parent_id.is_some() && news.is_end() {
        return;
    }
    while let Some(parent) = &session.parent_id {
        match sessions.get(parent).await {
            Ok(above) => session = above,
            Err(_) => break,
        }
    }
    let mut notification = app
        .notification()
        .builder()
        .title(title(news))
        .body(body(&session.title))
        .extra(SESSION, session.id.as_str());
    if with_sound {
        notification = notification.sound(SOUND);
    }
    if let Err(error) = notification.show() {
        tracing::warn!(%error, "a notification was not shown");
    }
}

fn title(news: News) -> &'static str {
    match news {
        News::Permission => texts::PERMISSION_NEEDED,
        News::Limit => texts::LIMIT_REACHED,
        News::Question => texts::QUESTION,
        News::Finished => texts::FINISHED,
        News::Failed => texts::FAILED,
    }
}

/// A title comes from a model, so hidden and direction-changing characters are escaped. Notification
/// servers on Linux read the body as markup, so that is escaped as well.
fn body(title: &str) -> String {
    let shown = visible_line(title);
    match cfg!(target_os = "linux") {
        true => escape_markup(&shown),
        false => shown,
    }
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn open_session(app: &AppHandle, what: &ActionPerformed) {
    let carried = what.notification().and_then(|one| one.extra().get(SESSION));
    window::bring_forward(app);
    if let Some(session) = carried.and_then(|value| value.as_str())
        && let Err(error) = app.emit_to(MAIN, OPEN_SESSION, session)
    {
        tracing::warn!(%error, "a click on a notification was not delivered to the window");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_notification_that_fails_does_not_end_those_that_follow() {
        contained(async { panic!("a fault") }).await;
        let mut shown = false;
        contained(async { shown = true }).await;
        assert!(shown);
    }

    #[test]
    fn a_title_is_escaped_and_hides_nothing() {
        let shown = body("Fix \u{202e}gnp.exe\u{1b}[31m\nnow");
        assert!(!shown.contains(['\u{202e}', '\u{1b}', '\n']));
        assert_eq!(
            escape_markup("<a href=\"http://x\">R&D</a>"),
            "&lt;a href=\"http://x\"&gt;R&amp;D&lt;/a&gt;"
        );
        assert_eq!(body("Place the moons"), "Place the moons");
    }
}
