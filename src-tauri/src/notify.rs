//! Desktop notifications for requests that arrive while the window is not focused. A click on one
//! opens its session.

use lathe_protocol::{Event, SessionId};
use lathe_render::escape::visible_line;
use lathe_session::Sessions;
use lathe_session::bus::{BusItem, Notification};
use tauri::{AppHandle, Emitter, Manager};
use tauri_plugin_notification::{ActionPerformed, NotificationExt};

use crate::state::Shell;
use crate::texts;
use crate::window::{self, MAIN};

/// The event that carries the id of the session to open.
const OPEN_SESSION: &str = "open-session";
/// The key of the session id in a notification.
const SESSION: &str = "session";

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
    while let Some(item) = items.next().await {
        let BusItem::Notification(notice) = item else {
            continue;
        };
        let Notification::Event(event) = &notice.notification else {
            continue;
        };
        let (session, title) = match &**event {
            Event::PermissionAsked(request) => (&request.session_id, texts::PERMISSION_NEEDED),
            Event::QuestionAsked(request) => (&request.session_id, texts::QUESTION),
            _ => continue,
        };
        if window::is_unfocused(&app) && app.state::<Shell>().settings.settings().notify {
            notify(&app, &sessions, session, title).await;
        }
    }
}

/// Notifies for the session at the top, where the request of a task is answered.
async fn notify(app: &AppHandle, sessions: &Sessions, id: &SessionId, title: &str) {
    let Ok(mut session) = sessions.get(id).await else {
        return;
    };
    while let Some(parent) = &session.parent_id {
        match sessions.get(parent).await {
            Ok(above) => session = above,
            Err(_) => break,
        }
    }
    let notification = app
        .notification()
        .builder()
        .title(title)
        .body(body(&session.title));
    if let Err(error) = notification.extra(SESSION, session.id.as_str()).show() {
        tracing::warn!(%error, "a notification was not shown");
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
