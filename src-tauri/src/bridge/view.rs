//! Stored messages, as the timeline shows them.

use lathe_protocol::ipc::{Damaged, MessagePage, MessageView, PartView, SessionView};
use lathe_protocol::{FileDiff, Message, MessageId, MessageWithParts, Part, SessionId};
use lathe_render::markdown::{self, Options};
use lathe_session::{Page, Result, Sessions, Stretch};

pub async fn session(sessions: &Sessions, id: &SessionId, limit: usize) -> Result<SessionView> {
    sessions.recover(id).await?;
    let page = page(sessions, id, None, limit).await?;
    with_page(sessions, id, page).await
}

/// As it stands around a message.
pub async fn session_at(
    sessions: &Sessions,
    id: &SessionId,
    at: &MessageId,
    limit: usize,
) -> Result<SessionView> {
    sessions.recover(id).await?;
    let page = window(sessions, id, &Stretch::Around(at.clone()), limit).await?;
    with_page(sessions, id, page).await
}

async fn with_page(sessions: &Sessions, id: &SessionId, page: MessagePage) -> Result<SessionView> {
    let session = sessions.get(id).await?;
    let mine = |other: &SessionId| other == id;
    Ok(SessionView {
        session,
        messages: page.messages,
        has_older: page.has_older,
        has_newer: page.has_newer,
        status: sessions.status(id),
        permissions: sessions
            .permissions()
            .into_iter()
            .filter(|one| mine(&one.session_id))
            .collect(),
        questions: sessions
            .questions()
            .into_iter()
            .filter(|one| mine(&one.session_id))
            .collect(),
        todos: sessions.todos(id).await?,
        damaged: page.damaged,
    })
}

pub async fn page(
    sessions: &Sessions,
    id: &SessionId,
    before: Option<&MessageId>,
    limit: usize,
) -> Result<MessagePage> {
    Ok(drawn(sessions.messages(id, before, limit).await?, false))
}

pub async fn window(
    sessions: &Sessions,
    id: &SessionId,
    stretch: &Stretch,
    limit: usize,
) -> Result<MessagePage> {
    let window = sessions.window(id, stretch, limit).await?;
    Ok(drawn(window.page, window.has_newer))
}

fn drawn(page: Page, has_newer: bool) -> MessagePage {
    let damaged = page.damaged.into_iter().map(|one| Damaged {
        key: one.key.to_string(),
        reason: one.reason,
        message_id: one
            .key
            .segments()
            .nth(1)
            .and_then(|id| MessageId::parse(id).ok()),
    });
    MessagePage {
        messages: page.messages.into_iter().map(message).collect(),
        has_older: page.has_older,
        has_newer,
        damaged: damaged.collect(),
    }
}

fn message(message: MessageWithParts) -> MessageView {
    MessageView {
        info: without_texts(message.info),
        parts: message.parts.into_iter().map(part).collect(),
    }
}

/// A turn's differences are fetched when they are shown; here their counts are enough.
pub fn without_texts(mut info: Message) -> Message {
    if let Message::User(user) = &mut info
        && let Some(summary) = &mut user.summary
    {
        bare(&mut summary.diffs);
    }
    info
}

pub fn bare(diffs: &mut [FileDiff]) {
    for diff in diffs {
        (diff.before, diff.after, diff.patch) = (None, None, None);
    }
}

pub fn part(part: Part) -> PartView {
    let blocks = text(&part).map(|text| markdown::render(text, &Options::default()));
    PartView { part, blocks }
}

/// What is drawn as Markdown.
pub fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(part) => Some(&part.text),
        Part::Reasoning(part) => Some(&part.text),
        _ => None,
    }
}
