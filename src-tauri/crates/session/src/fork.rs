//! Copies a session up to some message.
//!
//! Messages are copied by position and get new ids. The fork names its source; it is not a child
//! session, because children are tasks.

use std::collections::HashMap;

use lathe_protocol::{
    AssistantMessage, Extra, ForkedFrom, Message, MessageError, MessageId, MessageWithParts,
    Millis, Part, Session, SessionId, SessionTime,
};

use crate::slug;
use lathe_conversation::convert::window::{REPLAYED, TAIL_START};
use lathe_records::Records;
use lathe_records::Result;

/// The record of the new session, not stored yet.
pub fn new_session(
    records: &Records,
    source: &Session,
    before: Option<&MessageId>,
    title: String,
) -> Session {
    let now = records.now();
    Session {
        id: records.ids().session(now),
        slug: Some(slug::make()),
        project_id: source.project_id.clone(),
        directory: source.directory.clone(),
        parent_id: None,
        forked_from: Some(ForkedFrom {
            session_id: source.id.clone(),
            message_id: before.cloned(),
            extra: Extra::default(),
        }),
        summary: None,
        share: None,
        title,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: SessionTime {
            created: now,
            updated: now,
            compacting: None,
            archived: None,
            extra: Extra::default(),
        },
        permission: source.permission.clone(),
        revert: None,
        extra: Extra::default(),
    }
}

/// Stores copies of the messages, each part before its message.
pub async fn copy_messages(
    records: &Records,
    to: &SessionId,
    messages: Vec<MessageWithParts>,
) -> Result<()> {
    let store = records.store();
    let now = records.now();
    let mut new_ids = HashMap::new();
    for message in messages {
        let copied = copy_message(records, to, message, now, &mut new_ids);
        for part in &copied.parts {
            store.write_part(part).await?;
        }
        store.write_message(&copied.info).await?;
    }
    Ok(store.barrier(to).await?)
}

fn copy_message(
    records: &Records,
    to: &SessionId,
    message: MessageWithParts,
    now: Millis,
    new_ids: &mut HashMap<String, MessageId>,
) -> MessageWithParts {
    let ids = records.ids();
    let MessageWithParts { mut info, parts } = message;
    let id = ids.message(now);
    new_ids.insert(info.id().to_string(), id.clone());
    match &mut info {
        Message::User(user) => {
            (user.id, user.session_id) = (id.clone(), to.clone());
        }
        Message::Assistant(answer) => {
            (answer.id, answer.session_id) = (id.clone(), to.clone());
            if let Some(parent) = new_ids.get(answer.parent_id.as_str()) {
                answer.parent_id = parent.clone();
            }
            settle(answer, now);
        }
    }
    let place = |mut part: Part| {
        part.relocate(ids.part(now), to.clone(), id.clone());
        if let Part::Tool(call) = &mut part {
            call.abort(now);
        }
        if let Part::Compaction(part) = &mut part {
            // The messages that it names have new ids.
            for key in [TAIL_START, REPLAYED] {
                if let Some(named) = part.extra.0.get_mut(key)
                    && let Some(copied) = named.as_str().and_then(|id| new_ids.get(id))
                {
                    *named = copied.as_str().into();
                }
            }
        }
        part
    };
    MessageWithParts {
        info,
        parts: parts.into_iter().map(place).collect(),
    }
}

/// Ends the copy of an answer that is still being written: no turn continues it.
fn settle(answer: &mut AssistantMessage, now: Millis) {
    if answer.time.completed.is_some() {
        return;
    }
    answer.time.completed = Some(now.max(answer.time.created));
    answer.error.get_or_insert_with(|| {
        MessageError::aborted("The fork was made before this answer was complete")
    });
}

/// The first free title of `Tea`, `Tea (fork)`, `Tea (fork 2)`.
pub fn free_title(source: &str, taken: &[String]) -> String {
    let base = match source.rsplit_once(" (fork") {
        Some((base, rest)) if rest.ends_with(')') => base,
        _ => source,
    };
    let numbered = |n: usize| match n {
        1 => format!("{base} (fork)"),
        n => format!("{base} (fork {n})"),
    };
    let free = (1..).map(numbered).find(|title| !taken.contains(title));
    free.unwrap_or_else(|| base.to_owned())
}

#[cfg(test)]
mod tests {
    use super::free_title;

    #[test]
    fn forks_are_numbered() {
        let taken = ["Tea".to_owned(), "Tea (fork)".to_owned()];
        assert_eq!(free_title("Tea", &taken[..1]), "Tea (fork)");
        assert_eq!(free_title("Tea", &taken), "Tea (fork 2)");
        assert_eq!(free_title("Tea (fork)", &taken), "Tea (fork 2)");
    }
}
