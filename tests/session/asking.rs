//! What a person is asked in a turn.

use lathe_protocol::{Event, PermissionRequest};
use lathe_session::bus::{Notification, Subscription};
use lathe_test_support::app::{TestApp, until};

/// The next request, or nothing if the turn ends before.
pub async fn next_request(app: &TestApp, events: &mut Subscription) -> Option<PermissionRequest> {
    let ends = |event: &Event| matches!(event, Event::SessionIdle { session_id } if *session_id == app.session.id);
    let wanted = |event: &Event| matches!(event, Event::PermissionAsked(_)) || ends(event);
    match until(events, wanted).await.pop()? {
        Notification::Event(event) => match &*event {
            Event::PermissionAsked(request) => Some(request.clone()),
            _ => None,
        },
        _ => None,
    }
}
