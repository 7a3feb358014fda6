//! Reads stored messages and renders them for the timeline.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use lathe_protocol::ipc::{Damaged, MessagePage, MessageView, PartView, SessionView};
use lathe_protocol::{MessageId, MessageWithParts, Part, Session, SessionId};
use lathe_render::details;
use lathe_render::markdown::{self, Options};
use lathe_session::{Page, Result, Sessions, WindowAnchor};
use parking_lot::Mutex;

use super::bound::Bound;

/// The folder of each open session. Paths are shown relative to it.
#[derive(Clone, Default)]
pub struct Roots(Arc<Mutex<HashMap<SessionId, String>>>);

impl Roots {
    pub fn insert(&self, session: &Session) {
        let root = session.directory.clone();
        self.0.lock().insert(session.id.clone(), root);
    }

    pub fn remove(&self, session: &SessionId) {
        self.0.lock().remove(session);
    }

    pub fn markdown(&self, session: &SessionId) -> Options {
        Options {
            root: self.0.lock().get(session).cloned(),
        }
    }
}

pub async fn session(
    sessions: &Sessions,
    roots: &Roots,
    id: &SessionId,
    limit: usize,
) -> Result<SessionView> {
    sessions.recover(id).await;
    let stored = sessions.messages(id, None, limit).await?;
    with_page(sessions, roots, id, stored, false).await
}

/// Like [`session`], around a message.
pub async fn session_at(
    sessions: &Sessions,
    roots: &Roots,
    id: &SessionId,
    at: &MessageId,
    limit: usize,
) -> Result<SessionView> {
    sessions.recover(id).await;
    let window = sessions
        .window(id, &WindowAnchor::Around(at.clone()), limit)
        .await?;
    with_page(sessions, roots, id, window.page, window.has_newer).await
}

async fn with_page(
    sessions: &Sessions,
    roots: &Roots,
    id: &SessionId,
    stored: Page,
    has_newer: bool,
) -> Result<SessionView> {
    let session = sessions.get(id).await?;
    roots.insert(&session);
    // The use of the context and the last agent depend on the newest messages.
    let end = if has_newer {
        Some(sessions.newest_messages(id).await?)
    } else {
        None
    };
    let newest = end.as_deref().unwrap_or(&stored.messages);
    let context = sessions.context_after(&session, newest).await?;
    let last_use = sessions.last_use(id, newest).await?;
    let page = render_page(stored, has_newer, &roots.markdown(id));
    Ok(SessionView {
        messages: page.messages,
        has_older: page.has_older,
        has_newer: page.has_newer,
        todos: sessions.todos(id).await?,
        queued: sessions.queued(id),
        undoable: sessions.count_undoable(&session).await?,
        context,
        last_use,
        damaged: page.damaged,
        session: session.shortened(),
    })
}

pub async fn page(
    sessions: &Sessions,
    roots: &Roots,
    id: &SessionId,
    before: Option<&MessageId>,
    limit: usize,
) -> Result<MessagePage> {
    let stored = sessions.messages(id, before, limit).await?;
    Ok(render_page(stored, false, &roots.markdown(id)))
}

pub async fn window(
    sessions: &Sessions,
    roots: &Roots,
    id: &SessionId,
    anchor: &WindowAnchor,
    limit: usize,
) -> Result<MessagePage> {
    let window = sessions.window(id, anchor, limit).await?;
    Ok(render_page(
        window.page,
        window.has_newer,
        &roots.markdown(id),
    ))
}

fn render_page(page: Page, has_newer: bool, options: &Options) -> MessagePage {
    let damaged = page.damaged.into_iter().map(|one| Damaged {
        key: one.key.to_string(),
        reason: one.reason,
        message_id: one
            .key
            .segments()
            .nth(1)
            .and_then(|id| MessageId::parse(id).ok()),
    });
    let message = |one| message(one, options);
    MessagePage {
        messages: page.messages.into_iter().map(message).collect(),
        has_older: page.has_older,
        has_newer,
        damaged: damaged.collect(),
    }
}

fn message(message: MessageWithParts, options: &Options) -> MessageView {
    let part = |one| part(one, options);
    MessageView {
        info: message.info.shortened(),
        parts: message.parts.into_iter().map(part).collect(),
    }
}

/// A part with the HTML that is shown at once. The window asks for details when a card is opened.
pub fn part(part: Part, options: &Options) -> PartView {
    let mut bound = Bound::default();
    let source = text(&part).map(|text| bound.push(text));
    let draw = || match (&part, &source) {
        (Part::Tool(call), _) => details::live_output(call).map(|html| vec![html]),
        (_, source) => source.as_ref().map(|text| {
            #[cfg(test)]
            super::tests::fail_if_undrawable(text);
            markdown::render(text, options)
        }),
    };
    // A fault of the renderer must not hide the text, nor end what feeds the window.
    let drawn = panic::catch_unwind(AssertUnwindSafe(draw));
    let blocks = drawn.unwrap_or_else(|_| source.as_deref().map(markdown::plain));
    of(part, blocks, bound.is_cut)
}

/// A part whose text is shown as it is, for one that cannot be rendered.
pub fn plain_part(part: Part) -> PartView {
    let mut bound = Bound::default();
    let source = text(&part).map(|text| bound.push(text));
    let blocks = source.as_deref().map(markdown::plain);
    of(part, blocks, bound.is_cut)
}

/// What is left out of the blocks is left out of the text as well: the page asks for the whole text.
pub fn of(part: Part, blocks: Option<Vec<String>>, cut: bool) -> PartView {
    let mut part = part.shortened();
    if cut {
        part.shorten_text();
    }
    PartView { part, blocks, cut }
}

/// The text that is rendered as Markdown.
pub fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(part) => Some(&part.text),
        Part::Reasoning(part) => Some(&part.text),
        _ => None,
    }
}
